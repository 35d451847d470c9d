"""Real printers with their agents, and a browser for each file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.journeys.by_keyboard.people import CASES, GUEST, Case, person, sign_in
from tests.rigs.chromium import chromium_for_many, fresh_profile
from tests.rigs.keyboard import Keyboard
from tests.rigs.klippy import klippy
from tests.rigs.moonraker import CONFIG as MOONRAKER
from tests.rigs.moonraker import moonraker
from tests.rigs.octoprint import CONFIG as OCTOPRINT
from tests.rigs.octoprint import octoprint
from tests.rigs.print_camera import print_camera
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service
from tests.rigs.sites import heading, site


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with site(tmp_path_factory.mktemp("by-keyboard")) as running:
        running.admin("account", "add", GUEST, "--supporter", stdin=PASSWORD + "\n")
        yield running


@pytest.fixture(scope="module")
def printers(home: Service) -> Iterator[Callable[[str], LinkedPrinter]]:
    """Started when one is first asked for, by its software."""
    with ExitStack() as running:
        known = dict[str, LinkedPrinter]()

        def give(software: str) -> LinkedPrinter:
            if software not in known:
                begin = {"moonraker": with_moonraker, "octoprint": with_octoprint}[software]
                known[software] = running.enter_context(begin(home))
            return known[software]

        yield give


@contextmanager
def with_moonraker(home: Service) -> Iterator[LinkedPrinter]:
    folder = home.folder / "moonraker"
    folder.mkdir()
    with print_camera() as camera:
        config = f"{MOONRAKER}\n[webcam front]\nstream_url:\nsnapshot_url: {camera.url}/snapshot\n"
        with (
            klippy(folder),
            moonraker(folder, config) as url,
            home.printer("moonraker", url) as linked,
        ):
            yield linked


@contextmanager
def with_octoprint(home: Service) -> Iterator[LinkedPrinter]:
    with print_camera() as camera:
        config = (
            OCTOPRINT.replace("webcamEnabled: false", "webcamEnabled: true")
            .replace("http://127.0.0.1:{port}/none", f"{camera.url}/snapshot")
            .replace('stream: "/webcam/?action=stream"', 'stream: ""')
        )
        with octoprint(home.folder / "octoprint", config) as peer:
            key = {"PRINTREACH_PRINTER_API_KEY": peer.api_key}
            with home.printer("octoprint", peer.url, platform="octoprint", env=key) as linked:
                yield linked


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with chromium_for_many() as running:
        yield running


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    chosen: Case = request.param
    return chosen


@pytest.fixture
def printer(case: Case, printers: Callable[[str], LinkedPrinter]) -> LinkedPrinter:
    return printers(case.software)


@pytest.fixture(scope="module")
def session(chromium: Browser, home: Service) -> Iterator[BrowserContext]:
    """The owner's, who signed in by keyboard; each test goes on with it in a window of its own."""
    with fresh_profile(chromium) as profile:
        with person(profile, CASES[0]) as keyboard:
            keyboard.page.goto(f"{home.base_url}/signin")
            sign_in(keyboard, OWNER)
            heading(keyboard.page, "Printers")
        yield profile


@pytest.fixture
def owner(
    session: BrowserContext, home: Service, printer: LinkedPrinter, case: Case
) -> Iterator[Keyboard]:
    """In front of their printers."""
    assert printer.id
    with person(session, case) as keyboard:
        keyboard.page.goto(f"{home.base_url}/printers")
        yield keyboard
