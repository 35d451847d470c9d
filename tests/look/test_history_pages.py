"""The look of the history pages."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Page

from printreach.backends.video_ffmpeg import FfmpegVideos
from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.rules.printers.cameras import UNTURNED
from tests.backends.test_video_ffmpeg import each
from tests.fakes.clock import FakeClock
from tests.fakes.printer_http import OFFLINE
from tests.look.gallery import forward, stay
from tests.look.test_live_pages import photograph
from tests.rigs.chromium import wait_until
from tests.rigs.looks import DESKTOP, PHONE, Size, look_at
from tests.rigs.peers import system_program
from tests.web.connections.conftest import SNAPSHOT, at_print
from tests.web.printers.conftest import Home, printing
from tests.web.prints.test_history import hear, told
from tests.web.prints.test_timelapse import keep_video
from tests.web.world import BASE_URL, WebWorld, sign_in

SMALL = Size("small-phone", 320, 568)

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    """A printer with a past."""
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        here = Home(world, opened, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        here.says(at_print("print-1"))
        world.printers.raw[SNAPSHOT] = ("image/jpeg", photograph())
        sign_in(opened)
        past = (
            told(here, EventType.COMPLETE, -40 * 86_400, "spring_gear.gcode", duration_sec=5000),
            told(here, EventType.FAILED, -90_000, "lid_v2.gcode", error="Thermal runaway"),
            told(here, EventType.FAILED, -80_000, "lid_v3.gcode", error="cancelled", progress=40),
            told(here, EventType.STARTED, -70_000, "lost.gcode"),
            told(here, EventType.COMPLETE, -9_000, "a_very_long_name_of_a_part.gcode"),
            told(here, EventType.STARTED, -60, "vase.gcode"),
        )
        hear(here, *past)
        yield here


@pytest.fixture
def own_page(page: Page, home: Home) -> Page:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.route(f"{BASE_URL}/**/events*", lambda _: None)  # it says nothing
    return page


def test_a_printers_history_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    own_page.goto(f"{BASE_URL}{home.path}/history")
    own_page.get_by_text("lid_v2.gcode").wait_for()

    look_at(own_page, "history")


def test_the_activity_of_an_account_is_accessible_and_fits(own_page: Page) -> None:
    own_page.goto(f"{BASE_URL}/activity")
    own_page.get_by_text("By month").click()

    look_at(own_page, "activity")
    own_page.set_viewport_size({"width": 320, "height": 568})
    assert own_page.evaluate("document.documentElement.scrollWidth") <= 320
    columns = own_page.locator(".figures").evaluate("e => getComputedStyle(e).gridTemplateColumns")
    assert len(columns.split()) == 2


@pytest.mark.parametrize("width", [320, 390, 700])
def test_the_months_of_an_account_fit_without_scrolling_sideways(
    own_page: Page, width: int
) -> None:
    own_page.set_viewport_size({"width": width, "height": 568})
    own_page.goto(f"{BASE_URL}/activity")
    own_page.get_by_text("By month").click()
    table = own_page.locator(".months")
    table.locator("tbody .number").last.evaluate("cell => cell.textContent = '12.4 kg'")

    widths = table.evaluate("e => [e.parentElement.scrollWidth, e.parentElement.clientWidth]")
    assert widths[0] <= widths[1]


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("is_of_account", [True, False])
def test_a_print_in_a_list_has_the_whole_width_of_a_phone(
    own_page: Page, home: Home, is_of_account: bool, width: int
) -> None:
    own_page.set_viewport_size({"width": width, "height": 568})
    own_page.goto(BASE_URL + ("/activity" if is_of_account else f"{home.path}/history"))

    rows = own_page.locator(".prints tbody tr").all()
    assert len(rows) >= 6
    for row in rows:
        name, whole, result = (
            each.bounding_box() for each in (row.locator("td").first, row, row.locator("td").nth(1))
        )
        assert name
        assert whole
        assert result
        assert name["width"] > whole["width"] - 1
        assert result["y"] >= name["y"] + name["height"]


def test_a_printer_that_is_away_with_its_past_is_accessible_and_fits(
    own_page: Page, home: Home
) -> None:
    home.get()
    home.world.clock.advance(timedelta(minutes=1))
    home.world.printers.statuses[home.printer_id] = OFFLINE
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_text("Last picture").wait_for()

    look_at(own_page, "quick-view-away")


def test_an_idle_printer_with_a_picture_of_its_last_print_is_accessible_and_fits(
    own_page: Page, home: Home
) -> None:
    hear(home, told(home, EventType.COMPLETE, -60, "vase.gcode"))
    home.says(printing(state=State.IDLE))
    own_page.route("**/webcam/**", stay)
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_alt_text("vase.gcode, at its end").wait_for()

    look_at(own_page, "quick-view-idle", sizes=(SMALL, PHONE, DESKTOP))


@pytest.fixture(scope="module")
def video() -> bytes:
    """Four seconds."""
    maker = FfmpegVideos(str(system_program("ffmpeg", "ffmpeg")))
    making = maker.make(each([photograph()] * 8), 2, UNTURNED)
    with ThreadPoolExecutor(1) as beside:  # playwright's own loop may run on this thread
        return beside.submit(asyncio.run, making).result()


def test_a_timelapse_plays_on_the_page_of_its_print(
    own_page: Page, home: Home, video: bytes
) -> None:
    hear(home, told(home, EventType.COMPLETE, 1, "vase.gcode", duration_sec=5000))
    keep_video(home, video, "print-1")
    own_page.goto(f"{BASE_URL}{home.path}/history/print?id=print-1")
    own_page.locator("video").evaluate("video => video.play()")
    wait_until(own_page, "document.querySelector('video').currentTime > 0.2")
    own_page.locator("video").evaluate("video => video.pause()")

    look_at(own_page, "timelapse")
    own_page.set_viewport_size({"width": 1440, "height": 900})
    facts, video_, picture = (
        own_page.locator(each).bounding_box()
        for each in (".one-print > .card >> nth=0", "video", ".webcam.last-sight")
    )
    assert facts
    assert video_
    assert picture
    assert min(video_["x"], picture["x"]) > facts["x"] + facts["width"]
    assert min(video_["width"], picture["width"]) > facts["width"]
    own_page.get_by_role("link", name="Delete").click()
    own_page.get_by_role("dialog", name="Delete this timelapse?").wait_for()
    own_page.goto(f"{BASE_URL}{home.path}/history/timelapse/delete?id=print-1")
    own_page.get_by_role("heading", name="Delete this timelapse?").wait_for()

    look_at(own_page, "timelapse-delete")
