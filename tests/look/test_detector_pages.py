"""The look of the pages of failure detection."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient
from playwright.sync_api import Page

from printreach.contract.events import EventType
from printreach.contract.status import State, WebcamEntry
from printreach.printers.simulated.scenery import room
from printreach.rules.watch.choices import Region, WatchPause, WatchSettings
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import wait_until
from tests.rigs.looks import look_at
from tests.web.connections.conftest import SNAPSHOT
from tests.web.printers.conftest import Home
from tests.web.prints.test_history import hear, told
from tests.web.watch.watching import answers, choose, chosen, failing, saw, under_watch
from tests.web.world import BASE_URL, WebWorld, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

BEAT = "event: beat\ndata: {}\n\n"
TURNED = WebcamEntry(name="Bed camera", flip_h=True, rotation=90)


def jpeg() -> bytes:
    out = io.BytesIO()
    room().convert("RGB").save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as opened:
        account = world.add_account(opened)
        here = Home(world, opened, account.account_id, "")
        here.printer_id = here.add_printer("Workbench")
        here.says(under_watch(5, 6, 4))
        world.printers.raw[SNAPSHOT] = ("image/jpeg", jpeg())
        sign_in(opened)
        yield here


@pytest.fixture
def own_page(page: Page, home: Home) -> Page:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.route(
        f"{BASE_URL}/**/events*",
        lambda route: route.fulfill(body=BEAT, content_type="text/event-stream"),
    )
    page.route(
        f"{BASE_URL}/**/stream*",
        lambda route: route.fulfill(body=jpeg(), content_type="image/jpeg"),
    )
    return page


def test_a_print_that_was_paused_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    saw(home, *failing(home, paused=True), jpeg=jpeg())
    home.says(under_watch(*[5] * 20, 40, 60, 80, 93, state=State.PAUSED, paused_s=60))
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_text("Was this right?").wait_for()

    look_at(own_page, "detector-paused")


def test_a_print_that_goes_well_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    saw(home, *failing(home)[:60], jpeg=jpeg())
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_text("About failure detection").click()
    own_page.get_by_text("Stop watching this print").wait_for()

    look_at(own_page, "detector-calm")


def test_the_settings_are_accessible_and_fit(own_page: Page, home: Home) -> None:
    saw(home, *failing(home), jpeg=jpeg())
    mask = Region(left=0.1, top=0.05, right=0.35, bottom=0.3)
    choose(home, WatchSettings(pauses=WatchPause(), masked=(mask,), keeps_frames=True))
    home.send("/detector/judgement", print_id="print-1", was_failure="no")
    own_page.goto(f"{BASE_URL}{home.path}/detector")
    own_page.get_by_text("Enter numbers").click()

    look_at(own_page, "detector-settings")


def test_the_page_of_a_print_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    hear(home, told(home, EventType.FAILED, 1, "vase.gcode", error="cancelled", progress=61))
    saw(home, *failing(home, paused=True), jpeg=jpeg())
    own_page.goto(f"{BASE_URL}{home.path}/history/print?id=print-1")
    own_page.get_by_text("Was this right?").wait_for()

    look_at(own_page, "print-page")


def test_a_box_that_is_drawn_on_a_turned_picture_lies_there_in_the_picture_as_it_is_taken(
    own_page: Page, home: Home
) -> None:
    home.says(under_watch(5, camera=TURNED))
    own_page.set_viewport_size({"width": 820, "height": 1180})
    own_page.goto(f"{BASE_URL}{home.path}/detector")
    shown = own_page.locator(".masks .shot")
    wait_until(own_page, "document.querySelector('.masks img').naturalWidth > 0")
    shown.scroll_into_view_if_needed()
    at = shown.bounding_box()
    assert at is not None
    assert at["height"] > at["width"], "it stands upright"

    own_page.mouse.move(at["x"] + 1, at["y"] + 1)
    own_page.mouse.down()
    own_page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 4, steps=4)
    own_page.mouse.up()
    own_page.get_by_text("Remove box 1").wait_for()
    drawn = own_page.locator(".masked rect").bounding_box()
    assert drawn is not None
    assert drawn["width"] == pytest.approx(at["width"] / 2, abs=6)
    assert drawn["height"] == pytest.approx(at["height"] / 4, abs=6)
    own_page.get_by_role("button", name="Save").click()
    own_page.wait_for_url("**/detector")

    region = chosen(home).masked[0]
    # Upright pictures are turned by a quarter, and flipped before: the upper left as it is shown is
    # the lower right of what the camera takes.
    assert (region.left, region.right) == pytest.approx((0.75, 1.0), abs=0.02)
    assert (region.top, region.bottom) == pytest.approx((0.5, 1.0), abs=0.02)


def test_a_finger_draws_where_it_was_asked_to_and_scrolls_otherwise(
    own_page: Page, home: Home
) -> None:
    devtools = own_page.context.new_cdp_session(own_page)
    devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def draw() -> None:
        own_page.locator(".masked").scroll_into_view_if_needed()
        at = own_page.locator(".masked").bounding_box()
        assert at is not None
        places = [(at["x"] + step, at["y"] + step / 2) for step in range(20, 100, 10)]
        for kind, points in [("touchStart", places[:1]), ("touchMove", places), ("touchEnd", [])]:
            for x, y in points or [(0, 0)]:
                touched = [] if kind == "touchEnd" else [{"x": x, "y": y}]
                devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    own_page.goto(f"{BASE_URL}{home.path}/detector")
    draw()
    assert own_page.locator(".masked rect").count() == 0

    own_page.get_by_role("button", name="Draw a box").click()
    draw()
    own_page.get_by_text("Remove box 1").wait_for()
    draw()
    assert own_page.locator(".masked rect").count() == 1


def test_a_person_says_that_a_warning_was_wrong_and_takes_the_picture_back(
    own_page: Page, home: Home
) -> None:
    saw(home, *failing(home), jpeg=jpeg())
    choose(home, WatchSettings(keeps_frames=True))
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_role("button", name="No, it was fine").click()
    own_page.get_by_text("You said: no, the print was fine").wait_for()
    assert answers(home)[0].picture is not None

    own_page.goto(f"{BASE_URL}{home.path}/detector")
    own_page.get_by_role("button", name="Delete").click()
    own_page.get_by_text("No pictures are kept with your answers.").wait_for()

    assert answers(home)[0].picture is None


def test_what_an_answer_changes_is_written_like_the_answer(own_page: Page, home: Home) -> None:
    saw(home, *failing(home), jpeg=jpeg())
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_role("button", name="No, it was fine").click()
    silence = own_page.get_by_text("be warned about this print").first
    silence.wait_for()

    said = own_page.get_by_text("You said: no, the print was fine").first
    font_size = "element => getComputedStyle(element).fontSize"
    assert silence.evaluate(font_size) == said.evaluate(font_size)
