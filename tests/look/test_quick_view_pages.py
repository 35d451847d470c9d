"""The look of the Quick View: in a print, while it warms up, and offline."""

import json
import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from printreach.contract.status import State
from tests.fakes.printer_http import OFFLINE
from tests.look.test_detector_pages import home as home
from tests.look.test_detector_pages import jpeg
from tests.look.test_detector_pages import own_page as own_page
from tests.rigs.looks import look_at
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_quick_view import connect, heating
from tests.web.watch.watching import failing, saw, under_watch
from tests.web.world import BASE_URL

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_temperatures_come_before_what_failure_detection_saw_on_a_phone(
    own_page: Page, home: Home
) -> None:
    saw(home, *failing(home)[:60], jpeg=jpeg())
    own_page.goto(f"{BASE_URL}{home.path}")
    summary = own_page.get_by_text("About failure detection")

    def top(css: str) -> float:
        box = own_page.locator(css).bounding_box()
        assert box is not None
        return box["y"]

    assert top("#part-picture") < top("#part-now") < top("#part-print") < top("#part-temperatures")
    expect(own_page.get_by_alt_text("What failure detection saw")).to_be_hidden()
    summary.click()
    expect(own_page.get_by_alt_text("What failure detection saw")).to_be_visible()


def test_two_keys_lead_to_the_controls(own_page: Page, home: Home) -> None:
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.keyboard.press("Tab")
    own_page.keyboard.press("Enter")
    own_page.keyboard.press("Tab")

    expect(own_page.get_by_role("button", name="Pause")).to_be_focused()


def test_a_button_says_pausing_until_the_printer_has_answered(own_page: Page, home: Home) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    own_page.route("**/pause", hold)
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_role("button", name="Pause").click()

    button = own_page.get_by_role("button", name="Pausing…")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_be_focused()
    button.press("Enter")
    expect(own_page.locator(".toast")).to_have_count(0)
    expect(own_page.locator("#part-head")).to_contain_text("Printing")

    assert len(held) == 1
    held[0].abort()
    expect(own_page.get_by_role("button", name="Pause", exact=True)).to_be_focused()
    expect(own_page.locator(".toast")).to_contain_text("The connection broke off.")


def test_a_print_can_be_stopped_while_it_resumes_where_somebody_pressed_resume(
    own_page: Page, home: Home
) -> None:
    """The pressed button has the focus, so it stays; what stands beside it does, too."""
    said: list[str] = []

    def send_events(route: Route) -> None:
        route.fulfill(body="retry: 200\n\n" + "".join(said), content_type="text/event-stream")

    home.says(printing(state=State.PAUSED))
    own_page.route("**/resume", lambda _: None)  # no answer yet
    own_page.route("**/events*", send_events)
    own_page.goto(f"{BASE_URL}{home.path}")
    own_page.get_by_role("button", name="Resume").click()
    home.world.clock.advance(timedelta(seconds=10))
    home.says(printing(state=State.RESUMING))
    part = '<section class="card now" id="part-now"'
    now = part + home.get().text.partition(part)[2].partition("</section>")[0] + "</section>"
    assert "Stop print" in now
    said.append(f"event: part\ndata: {json.dumps({'id': 'part-now', 'html': now})}\n\n")
    expect(own_page.get_by_text("Resume it when you are ready.")).to_have_count(0)

    expect(own_page.get_by_role("link", name="Stop print")).to_be_visible()
    expect(own_page.get_by_role("button", name="Resuming…")).to_be_focused()
    own_page.get_by_role("link", name="Stop print").click()
    expect(own_page.get_by_role("button", name="Don\u2019t stop")).to_be_focused()


def test_a_printer_that_warms_up_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    home.says(heating(148))
    own_page.goto(f"{BASE_URL}{home.path}")
    expect(own_page.get_by_role("progressbar", name="Hotend")).to_have_attribute(
        "aria-valuenow", "61"
    )

    look_at(own_page, "quick-view-warming-up")


def test_a_printer_that_is_offline_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    connect(home, lan_ip="192.168.1.20")
    home.says(printing(state=State.PRINTING))
    home.get()
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.world.clock.advance(timedelta(seconds=20))
    own_page.goto(f"{BASE_URL}{home.path}")
    expect(own_page.get_by_role("heading", name=re.compile("What to check"))).to_be_visible()

    look_at(own_page, "quick-view-offline")


def test_what_stops_a_print_stays_where_it_is_while_the_print_resumes(
    own_page: Page, home: Home
) -> None:
    """A phone gives a pressed button no focus, so it goes at once."""
    own_page.set_viewport_size({"width": 390, "height": 844})
    stop = own_page.get_by_role("link", name="Stop print")
    places = []
    for state in (State.PAUSED, State.RESUMING):
        home.says(printing(state=state))
        home.world.clock.advance(timedelta(seconds=10))
        own_page.goto(f"{BASE_URL}{home.path}")
        places.append(stop.bounding_box())

    assert places[0] is not None
    assert places[1] == places[0]


def test_a_second_press_at_one_place_stops_nothing_that_has_come_there(
    own_page: Page, home: Home
) -> None:
    home.says(printing(state=State.PAUSED))
    own_page.route("**/resume", lambda _: None)  # no answer yet
    own_page.goto(f"{BASE_URL}{home.path}")
    box = own_page.get_by_role("button", name="Resume").bounding_box()
    assert box is not None
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    question = own_page.get_by_role("dialog", name="Stop vase.gcode?")

    own_page.mouse.click(*place)
    own_page.evaluate("document.querySelector('#now-buttons > form').remove()")
    own_page.evaluate("document.querySelector('#now-buttons > .bad').style.margin = 0")
    own_page.mouse.click(*place)
    expect(question).to_have_count(0)

    own_page.wait_for_timeout(1_000)
    own_page.mouse.click(*place)
    expect(question).to_be_visible()


def test_the_first_quality_of_a_print_is_a_word_of_its_own(own_page: Page, home: Home) -> None:
    said: list[str] = []

    def send_events(route: Route) -> None:
        route.fulfill(body="retry: 200\n\n" + "".join(said), content_type="text/event-stream")

    home.says(under_watch())
    own_page.route("**/events*", send_events)
    own_page.goto(f"{BASE_URL}{home.path}")
    words = own_page.locator("#part-print .detection.words")
    expect(words).to_contain_text("Not checked yet")
    home.says(under_watch(5))
    home.world.clock.advance(timedelta(seconds=10))
    start = '<section class="card this-print watch" id="part-print"'
    part = start + home.get().text.partition(start)[2].partition("</section>")[0] + "</section>"
    said.append(f"event: part\ndata: {json.dumps({'id': 'part-print', 'html': part})}\n\n")

    expect(words).to_contain_text("of 10 seen")
