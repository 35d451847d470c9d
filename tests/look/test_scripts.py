"""The additions of scripts to pages that work without them."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.languages.conftest import brackets
from tests.look.gallery import (
    HOST,
    let_requests_arrive,
    run_until,
    show_tab,
    stop_clock,
    until,
)
from tests.rigs.chromium import wait_until

__all__ = ["brackets"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGE = f"{HOST}/live"
PART = (
    '<div id="part"><p class="state">paused</p><label>Name <input id="typed" value="theirs">'
    '</label><button id="pause">Pausing…</button>'
    '<time datetime="2026-11-21T14:03:00+00:00" data-time="clock">14:03 UTC</time></div>'
)


class Stream:
    """Answers the page's event stream; each connection gets everything once, and ends."""

    def __init__(self, page: Page) -> None:
        self.body = ""
        self.asked = self.refused = 0
        self.is_broken = False
        page.route(f"{HOST}/events", self._answer)

    def sends(self, event: str, **data: str) -> None:
        self.body += f"event: {event}\ndata: {json.dumps(data)}\n\n"

    def _answer(self, route: Route) -> None:
        self.asked += 1
        if self.is_broken:
            self.refused += 1
            route.fulfill(status=503)
        else:
            # A short wait before the browser connects anew, as our own streams ask for.
            body = "retry: 200\n\n" + self.body
            route.fulfill(status=200, content_type="text/event-stream", body=body)


@pytest.fixture
def stream(page: Page) -> Stream:
    return Stream(page)


def test_a_part_is_brought_up_to_date_in_place(page: Page, stream: Stream) -> None:
    stream.sends("part", id="part", html=PART)
    page.goto(PAGE)

    expect(page.locator(".state")).to_have_text("paused")
    expect(page.locator("#part time")).to_have_text(
        page.evaluate(
            "new Date('2026-11-21T14:03Z').toLocaleTimeString('en-GB', {timeStyle: 'short'})"
        )
    )


def test_the_title_of_the_tab_is_a_part_like_others(page: Page, stream: Stream) -> None:
    stream.sends("part", id="part-title", html='<title id="part-title">62% Workbench</title>')
    page.goto(PAGE)

    expect(page).to_have_title("62% Workbench")


def test_no_picture_is_called_live_while_the_stream_is_lost(page: Page) -> None:
    page.goto(f"{HOST}/printer")
    expect(page.locator(".webcam .age").first).to_be_visible()
    page.evaluate("document.body.classList.add('is-lost')")

    expect(page.locator(".webcam .age").first).to_be_hidden()


@pytest.mark.parametrize(
    ("at", "said"),
    [("2026-12-20T18:30", "18:30"), ("2026-12-21T07:05", "21 December, 07:05")],
)
def test_a_time_around_now_has_its_date_on_another_day_alone(
    page: Page, stream: Stream, at: str, said: str
) -> None:
    """Times without a zone are of the browser's."""
    html = f'<div id="part"><time datetime="{at}" data-time="near">soon</time></div>'
    page.clock.set_fixed_time("2026-12-20T12:00")
    stream.sends("part", id="part", html=html)
    page.goto(PAGE)

    expect(page.locator("#part time")).to_have_text(said)


def test_the_age_of_a_look_goes_on_while_nothing_comes(page: Page, stream: Stream) -> None:
    age = '<span id="age" data-age="15" data-ago="seen {} ago">seen 15 s ago</span>'
    stop_clock(page)
    stream.sends("part", id="part", html=f'<div id="part">{age}</div>')
    page.goto(PAGE)
    expect(page.locator("#age")).to_have_text("seen 15 s ago")

    stream.is_broken = True
    for seconds, said in [(32, "45 s"), (60, "1 min"), (3600, "1 h 1 min"), (900, "1 h 16 min")]:
        page.clock.run_for(1000 * seconds)
        expect(page.locator("#age")).to_have_text(f"seen {said} ago")


def test_a_sent_form_that_the_page_has_no_more_is_not_busy_for_ever(
    page: Page, stream: Stream
) -> None:
    """Its button has the focus, and what has the focus is otherwise left alone."""
    page.goto(PAGE)
    page.evaluate(
        """document.getElementById("part").innerHTML = `<section id="head" tabindex="-1"><p>
        <form data-busy-now><button id="again">Restarting…</button></form></p></section>`"""
    )
    page.locator("#again").focus()
    ready = '<div id="part"><section id="head" tabindex="-1">Ready</section></div>'
    stream.sends("part", id="part", html=ready)

    expect(page.locator("#part")).to_have_text("Ready")
    expect(page.locator("#again")).to_have_count(0)
    expect(page.locator("#head")).to_be_focused()


def test_what_is_being_typed_and_the_focus_stay(page: Page, stream: Stream) -> None:
    page.goto(PAGE)
    page.locator("#typed").press_sequentially("mine")
    stream.sends("part", id="part", html=PART)

    expect(page.locator(".state")).to_have_text("paused")
    expect(page.locator("#typed")).to_have_value("mine")
    expect(page.locator("#typed")).to_be_focused()


def test_a_button_keeps_the_focus_when_its_words_change(page: Page, stream: Stream) -> None:
    page.goto(PAGE)
    page.locator("#pause").focus()
    stream.sends("part", id="part", html=PART)

    expect(page.locator("#pause")).to_have_text("Pausing…")
    expect(page.locator("#pause")).to_be_focused()


def test_a_printer_that_comes_back_shows_its_stream_again(page: Page, stream: Stream) -> None:
    def shows(picture: str) -> None:
        stream.body = ""
        stream.sends("part", id="part", html=f'<div id="part">{picture}</div>')

    live = '<img alt="" src="/picture.jpg?index=0" data-stream>'
    shows(live)
    page.goto(PAGE)
    expect(page.locator("#part img[data-stream]")).to_have_attribute("src", "/picture.jpg?index=0")

    shows('<img alt="" src="/picture.jpg?at=1">')
    expect(page.locator("#part img")).to_have_attribute("src", "/picture.jpg?at=1")
    shows(live)
    expect(page.locator("#part img[data-stream]")).to_have_attribute("src", "/picture.jpg?index=0")


def test_script_in_a_part_never_runs(page: Page, stream: Stream) -> None:
    hostile = "<img src=x onerror=document.title='run'><script>document.title='run'</script>"
    stream.sends("part", id="part", html=f'<div id="part">{hostile}<p class="state">new</p></div>')
    page.goto(PAGE)

    expect(page.locator("#part .state")).to_have_text("new")
    assert "run" not in page.title()


def test_a_value_is_text_wherever_it_stands(page: Page, stream: Stream) -> None:
    stream.sends("values", layer="<b>148</b>")
    page.goto(PAGE)

    expect(page.locator("[data-value=layer]")).to_have_text("<b>148</b>")


def test_a_lost_stream_says_how_old_the_values_are(page: Page, stream: Stream) -> None:
    lost = page.locator(".lost")
    stop_clock(page)
    stream.sends("beat")
    page.goto(PAGE)
    wait_until(page, "document.querySelector('.lost')")
    stream.is_broken = True
    until(page, lambda: stream.refused > 0)  # the browser asks again on its own clock
    run_until(page, lost.is_visible)

    expect(lost).to_contain_text("Reconnecting… values from ")
    stream.is_broken = False
    run_until(page, lost.is_hidden)


def test_a_hidden_tab_asks_for_nothing(page: Page, stream: Stream) -> None:
    page.goto(PAGE)
    until(page, lambda: stream.asked > 1)
    show_tab(page, "hidden")
    let_requests_arrive(page)
    before = stream.asked
    page.wait_for_timeout(700)  # on the browser's own clock; more than three times what it waits
    let_requests_arrive(page)

    assert stream.asked == before
    show_tab(page, "visible")
    until(page, lambda: stream.asked > before)


def test_a_toast_goes_by_itself_and_waits_for_a_pointer(page: Page, stream: Stream) -> None:
    stop_clock(page)
    page.goto(PAGE)
    page.locator(".toast").hover()
    page.clock.run_for(7_000)
    expect(page.locator(".toast")).to_be_visible()

    page.mouse.move(0, 0)
    run_until(page, lambda: page.locator(".toast").count() == 0)


def test_a_question_opens_on_the_spot_with_the_focus_on_the_way_out(
    page: Page, stream: Stream
) -> None:
    page.goto(PAGE)
    page.get_by_role("link", name="Stop print").click()

    expect(page.get_by_role("dialog", name="Stop drawer_handle?")).to_be_visible()
    expect(page.get_by_role("button", name="Don\u2019t stop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="Stop print")).to_be_focused()


def test_a_value_that_is_shown_once_is_copied(page: Page, stream: Stream) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stop_clock(page)  # it says so for two seconds
    page.goto(PAGE)
    page.get_by_role("button", name="Copy password").click()

    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "n7Qm-4tVx-9KcR-2pWz-8sHd-3yLb"


def test_what_scripts_say_is_in_the_language_of_the_page(page: Page, brackets: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_extra_http_headers({"accept-language": brackets})
    stop_clock(page)
    page.goto(PAGE)
    page.get_by_role("button", name="⟦Copy⟧ password").click()

    expect(page.get_by_text("⟦Copied⟧")).to_be_visible()


def test_all_values_are_saved_as_a_text_file(page: Page, stream: Stream) -> None:
    page.goto(PAGE)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as text file").click()

    assert download.value.suggested_filename == "workbench.txt"
    text = Path(download.value.path()).read_text()
    assert "User name: u-9tk4x2vm\n" in text
    assert len(text.splitlines()) == 4
