"""The list of printers in its three looks: wide cards, upright cards, and rows from 25 on."""

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State, StatusResult
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer_http import OFFLINE
from tests.look.camera_pages import SMALL_PHONE, home, send_picture, window
from tests.look.gallery import forward, stay
from tests.rigs.looks import DESKTOP, PHONE, Size, look_at
from tests.web.printers.conftest import Home, printing
from tests.web.watch.watching import under_watch
from tests.web.world import BASE_URL

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FILE = "bracket_left_0.2mm_PLA.gcode"
CUT_NAMES = """() => [...document.querySelectorAll(".farm .name, article.printer h2")]
    .filter(name => name.scrollWidth > name.clientWidth + 1).map(name => name.textContent)"""
BUTTONS_OUTSIDE = """() => [...document.querySelectorAll(".farm .button, article .button")]
    .filter(button => button.getBoundingClientRect().right
        > button.closest("li, article").getBoundingClientRect().right - 4)
    .map(button => button.textContent)"""
EMPTY_PICTURES = """() => [...document.querySelectorAll(".farm .webcam, article .webcam")]
    .filter(picture => !picture.innerText.trim() && !picture.querySelector("img, svg"))
    .length"""


def opened(page: Page, home: Home, count: int) -> Page:
    """The list of so many printers, each in another state."""
    says: list[StatusResult | PrinterRefusal] = [
        under_watch(5, 6, 4, file_name=FILE),
        under_watch(5, 95, state=State.PAUSED, paused_s=20.0, file_name=FILE),
        printing(state=State.COMPLETE, file_name=FILE),
        OFFLINE,
        printing(state=State.IDLE, webcams=0),
    ]
    printer_ids = [home.add_printer(f"Printer {number:02}") for number in range(1, count)]
    for number, printer_id in enumerate([home.printer_id, *printer_ids]):
        home.world.printers.statuses[printer_id] = says[number % len(says)]
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    page.route("**/events*", stay)
    page.route("**/webcam/**", send_picture)
    page.goto(f"{BASE_URL}/printers")
    page.get_by_role("link", name="Workbench").wait_for()
    return page


@pytest.mark.parametrize(("count", "look"), [(4, "wide-cards"), (9, "upright"), (25, "farm")])
def test_the_list_is_accessible_and_fits_however_many_printers_there_are(
    page: Page, home: Home, count: int, look: str
) -> None:
    shown = opened(page, home, count)

    assert shown.locator(f".{look}").count() == 1
    look_at(shown, f"printers-{look}", sizes=(SMALL_PHONE, PHONE, DESKTOP))


@pytest.mark.parametrize("size", [SMALL_PHONE, PHONE, DESKTOP], ids=lambda size: size.name)
@pytest.mark.parametrize("count", [4, 9, 25])
def test_no_look_of_the_list_cuts_names_or_leaves_pictures_empty(
    page: Page, home: Home, count: int, size: Size
) -> None:
    page.set_viewport_size(window(size))
    shown = opened(page, home, count)

    assert shown.evaluate(CUT_NAMES) == []
    assert shown.evaluate(EMPTY_PICTURES) == 0
    assert shown.evaluate(BUTTONS_OUTSIDE) == []
    badges = shown.locator(".badge").all()
    assert badges
    assert all(box["width"] < 140 for badge in badges if (box := badge.bounding_box()))


@pytest.mark.parametrize("count", [4, 9, 25])
def test_every_look_says_on_a_phone_what_is_printed_how_far_it_is_and_what_is_wrong(
    page: Page, home: Home, count: int
) -> None:
    page.set_viewport_size(window(PHONE))
    shown = opened(page, home, count)
    working = shown.locator(f"#printer-{home.printer_id}")

    if count > 24:
        expect(working.get_by_text(FILE)).to_be_visible()
    expect(working.get_by_text("62%").filter(visible=True).first).to_be_visible()
    expect(working.get_by_text("1 h 12 min left").filter(visible=True).first).to_be_visible()
    expect(working.get_by_role("button", name="Pause")).to_be_visible()
    expect(shown.get_by_text("Paused by failure detection").first).to_be_visible()
    expect(shown.get_by_role("searchbox")).to_have_count(0 if count <= 4 else 1)
