"""An owner stops everything in two taps and unlocks with the password, in a real browser."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.journeys.test_dashboard_in_browser import SLOW
from tests.rigs.calls import call, opened
from tests.rigs.chromium import chromium_for_many, fresh_profile, watch
from tests.rigs.looks import look_at
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service
from tests.rigs.sites import site
from tests.rigs.standstills import standstills
from tests.rigs.waiting import wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.browser]

API = "/service-command-api"
SETTLED_S = 8.0
"""After which a print that was started unseen would show."""
AT_ONCE_S = 15.0
"""A second or so, and what a busy machine adds; without a notice it is half a minute."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with site(tmp_path_factory.mktemp("stop-everything")) as running:
        yield running


@pytest.fixture(scope="module")
def workbench(home: Service) -> Iterator[LinkedPrinter]:
    with home.printer("Workbench", "", platform="simulated") as linked:
        yield linked


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[Browser]:
    with chromium_for_many() as running:
        yield running


@pytest.fixture
def browser(shared_browser: Browser) -> Iterator[BrowserContext]:
    with fresh_profile(shared_browser) as context:
        yield context


@pytest.fixture
def page(home: Service, browser: BrowserContext) -> Page:
    page = browser.new_page()
    page.goto(f"{home.base_url}/printers")
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(f"{home.base_url}/printers")
    return page


def state(way: Way) -> str:
    told = cast("dict[str, Any]", call(way, f"{API}/status").json())
    return str(told["Result"]["JobStatus"]["State"])


def start_print(way: Way) -> int:
    return call(way, f"{API}/start", method="POST", body=b'{"Path": "gcode/slow.gcode"}').status


def test_two_taps_stop_the_print_and_lock_until_the_password(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    way = home.way(home.connect(workbench))
    call(way, f"{API}/files/upload?path=gcode/slow.gcode", method="PUT", body=SLOW)
    assert start_print(way) == 200
    wait_for("the print runs", lambda: state(way) == "printing", 60)
    seen = watch(page)
    page.reload()
    look_at(page, "printers-with-stop")

    page.goto(f"{home.base_url}/printers/{workbench.id}")
    look_at(page, "printer-with-stop")
    page.get_by_role("link", name="Stop everything").click()
    expect(page.get_by_role("heading", name="Stop everything?")).to_be_visible()
    look_at(page, "stop-everything")
    page.get_by_role("button", name="Stop and lock").click()

    expect(page.get_by_role("heading", name="Everything is stopped")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("listitem").filter(has_text="Workbench")).to_contain_text("Stopped.")
    look_at(page, "stopped-everything")
    wait_for("the print is cancelled", lambda: state(way) in ("cancelled", "idle"), 60)
    assert start_print(way) == 606

    page.goto(f"{home.base_url}/printers/{workbench.id}/control")
    look_at(page, "control-locked")
    page.get_by_role("link", name="Remote control is locked").click()
    expect(page.get_by_role("heading", name="Remote control is locked")).to_be_visible()
    look_at(page, "remote-lock")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Unlock remote control").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert start_print(way) == 606
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Unlock remote control").click()

    expect(page.get_by_text("Remote control is unlocked.")).to_be_visible()
    assert page.get_by_text("Remote control is locked").count() == 0
    wait_for("an app may start again", lambda: start_print(way) == 200, 30)
    assert [error for error in seen.errors if "400" not in error] == []


def test_nothing_prints_after_everything_was_stopped_though_an_app_starts_and_starts(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    way = home.way(home.connect(workbench))
    call(way, f"{API}/files/upload?path=gcode/slow.gcode", method="PUT", body=SLOW)
    is_over = threading.Event()
    answers: list[int] = []

    def start_again_and_again() -> None:
        while not is_over.is_set():
            with suppress(OSError, http.client.HTTPException):
                answers.append(start_print(way))

    page.goto(f"{home.base_url}/stop-everything")
    apps = [threading.Thread(target=start_again_and_again) for _ in range(2)]
    for app in apps:
        app.start()
    try:
        page.get_by_role("button", name="Stop and lock").click()
        expect(page.get_by_role("heading", name="Everything is stopped")).to_be_visible(
            timeout=60_000
        )
        time.sleep(SETTLED_S)
        assert state(way) in ("cancelled", "idle")
    finally:
        is_over.set()
        for app in apps:
            app.join()
    assert answers[-1] == 606
    page.goto(f"{home.base_url}/remote-lock")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Unlock remote control").click()
    expect(page.get_by_text("Remote control is unlocked.")).to_be_visible()


def test_the_owner_stops_a_print_while_remote_control_is_locked(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    way = home.way(home.connect(workbench))
    call(way, f"{API}/files/upload?path=gcode/slow.gcode", method="PUT", body=SLOW)
    wait_for("the lock of the test before is over", lambda: start_print(way) == 200, 60)
    wait_for("the print runs", lambda: state(way) == "printing", 60)
    page.goto("about:blank")  # at a lock an open page reloads, even on its way to another
    home.admin("account", "lock", OWNER)
    wait_for("the lock holds", lambda: start_print(way) == 606, 60)

    page.goto(f"{home.base_url}/printers/{workbench.id}/stop")
    page.get_by_role("button", name="Stop print").click()

    expect(page).to_have_url(f"{home.base_url}/printers/{workbench.id}")
    wait_for("the print is cancelled", lambda: state(way) in ("cancelled", "idle"), 60)
    home.admin("account", "unlock", OWNER)


def test_a_camera_that_the_owner_takes_away_ends_at_once(
    home: Service, workbench: LinkedPrinter, page: Page
) -> None:
    connection = home.connect(workbench)
    way = home.way(connection)
    page.goto(f"{home.base_url}/connections/{connection.id}")
    with opened(way, f"{API}/webcam/stream") as stream, standstills() as still:
        assert stream.status == 200
        assert stream.read(10_000)
        page.get_by_label("See the camera").uncheck()
        page.get_by_role("button", name="Save").click()
        began = time.monotonic()
        with suppress(http.client.IncompleteRead, ConnectionError):
            while stream.read(10_000):
                pass
        assert still.running_s(began) < AT_ONCE_S

    assert call(way, f"{API}/webcam/snapshot").status == 606
    assert call(way, f"{API}/status").status == 200
