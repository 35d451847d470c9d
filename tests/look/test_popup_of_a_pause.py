"""The popup of a smart pause: compact, over nothing, and closed for good."""

from datetime import timedelta

import pytest
from msgspec import structs
from playwright.sync_api import Locator, Page, expect

from printreach.contract.status import ServiceStatus, StatusResult
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer_http import OFFLINE
from tests.look.camera_pages import ON_ITS_SIDE, SMALL_PHONE, Stream, home, show
from tests.look.gallery import show_tab
from tests.rigs.looks import DESKTOP, PHONE, TABLET, Size, look_at
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_smart_pause import paused
from tests.web.world import BASE_URL

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LOW = Size("low-desktop", 1440, 560)
SIZES = (PHONE, SMALL_PHONE, ON_ITS_SIDE, TABLET, DESKTOP, LOW)
IS_UNCOVERED = """selector => [...document.querySelectorAll(selector)].every((each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [0.1, 0.5, 0.9].every((part) =>
        !document.elementFromPoint(left + width / 2, top + height * part)?.closest("dialog"));
})"""

LIES_OVER = """() => {
    const popup = document.querySelector(".popup").getBoundingClientRect();
    return [...document.querySelectorAll(".card, .picture")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width && box.left < popup.right && box.right > popup.left
            && box.top < popup.bottom && box.bottom > popup.top;
    }).map((each) => each.outerHTML.slice(0, 100));
}"""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_the_popup_covers_nothing(page: Page, home: Home, size: Size) -> None:
    home.says(paused(popup=True))
    show(page, home, size=size)
    popup = page.get_by_role("dialog", name="Smart pause")

    expect(popup).to_be_visible()
    for selector in (".picture > .webcam", "#now-buttons .button", ".emergency .button", ".card"):
        assert page.evaluate(IS_UNCOVERED, selector), selector
    assert page.evaluate(LIES_OVER) == []
    expect(page.get_by_role("button", name="Resume")).to_have_count(1)
    box = popup.bounding_box()
    assert box is not None
    assert box["height"] < size.height * 0.45
    look_at(page, f"popup-{size.name}", sizes=[size])


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE, DESKTOP], ids=lambda size: size.name)
def test_the_text_of_the_popup_ends_where_its_button_ends(
    page: Page, home: Home, size: Size
) -> None:
    home.says(paused(popup=True))
    show(page, home, size=size)
    sides = page.evaluate(
        """() => {
            const popup = document.querySelector(".popup").getBoundingClientRect();
            const text = document.querySelector(".popup p").getBoundingClientRect();
            const close = document.querySelector(".popup [data-close]").getBoundingClientRect();
            return [text.left - popup.left, popup.right - close.right, popup.right - text.right];
        }"""
    )

    assert sides == [sides[0]] * 3


def test_a_popup_that_was_closed_stays_closed_for_this_pause(page: Page, home: Home) -> None:
    popup = close_popup(page, home)
    page.reload()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(popup).to_be_hidden()

    status = paused(popup=True)
    job = status.job_status
    later = structs.replace(job.current_print, progress=80.0)
    look_after(home, structs.replace(status, job_status=structs.replace(job, current_print=later)))
    page.goto(f"{BASE_URL}{home.path}")
    expect(popup).to_be_visible()


def test_a_popup_that_was_closed_opens_in_the_next_print_of_the_file(
    page: Page, home: Home
) -> None:
    popup = close_popup(page, home)
    next_print = ServiceStatus(most_recent_print_id_str="next", show_smart_pause_popup=True)
    look_after(home, structs.replace(paused(popup=True), service_status=next_print))
    page.reload()

    expect(popup).to_be_visible()


def test_a_popup_that_was_closed_opens_in_the_next_pause_at_the_same_progress(
    page: Page, home: Home
) -> None:
    popup = close_popup(page, home)
    look_after(home, printing())
    page.reload()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    look_after(home, paused(popup=True))
    page.reload()

    expect(popup).to_be_visible()


def test_a_popup_that_was_closed_stays_closed_while_the_printer_is_away(
    page: Page, home: Home
) -> None:
    popup = close_popup(page, home)
    look_after(home, OFFLINE)
    page.reload()
    expect(page.locator("#part-head")).to_contain_text("Offline")
    look_after(home, paused(popup=True))
    page.reload()

    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(popup).to_be_hidden()


def test_a_page_that_is_over_goes_although_its_popup_is_open(page: Page, home: Home) -> None:
    home.says(paused(popup=True))
    stream = Stream()
    show(page, home, events=stream.answer)
    page.evaluate("document.documentElement.dataset.old = ''")
    stream.says("reload")
    show_tab(page, "hidden")
    show_tab(page, "visible")

    expect(page.locator("html[data-old]")).to_have_count(0)


def close_popup(page: Page, home: Home) -> Locator:
    home.says(paused(popup=True))
    show(page, home)
    popup = page.get_by_role("dialog", name="Smart pause")
    popup.get_by_role("button", name="Close").click()
    expect(popup).to_be_hidden()
    return popup


def look_after(home: Home, says: StatusResult | PrinterRefusal) -> None:
    """Let the next page ask the printer."""
    home.world.printers.statuses[home.printer_id] = says
    home.world.clock.advance(timedelta(seconds=5))
