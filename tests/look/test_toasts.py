"""What is said in passing covers nothing that somebody presses or fills in."""

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State
from printreach.ports.printer_http import PrinterRefusal
from tests.fakes.printer import EVERY_FEATURE
from tests.look.camera_pages import ON_ITS_SIDE, SMALL_PHONE, home, show, window
from tests.rigs.looks import DESKTOP, PHONE, Size
from tests.web.printers.conftest import Home, printing

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

COVERED = """() => {
    const toast = document.querySelector(".toast").getBoundingClientRect();
    return [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
        .filter((each) => each.checkVisibility() && !each.closest(".toasts"))
        .filter((each) => {
            const box = each.getBoundingClientRect();
            return box.width && box.left < toast.right && box.right > toast.left
                && box.top < toast.bottom && box.bottom > toast.top;
        })
        .map((each) => each.outerHTML.slice(0, 100));
}"""
COVERED_TEXT = """() => {
    const toast = document.querySelector(".toast").getBoundingClientRect(), covered = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!text.data.trim() || text.parentElement.closest(".toasts, .unseen")) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        if ([...range.getClientRects()].some(box => box.width && box.left < toast.right
            && box.right > toast.left && box.top < toast.bottom && box.bottom > toast.top))
            covered.push(text.data);
    }
    return covered;
}"""
COVERED_NOTES = COVERED.replace("a[href], button, input, select, textarea, summary", ".note")
ASKS = "<div data-question-body><h1>Print vase.gcode?</h1></div>"
SAYS = """words => {
    const line = document.createElement("p");
    line.className = "toast";
    line.textContent = words;
    document.querySelector(".toasts").append(line);
}"""
STAYS = "document.querySelector('.toast').dispatchEvent(new Event('pointerenter'))"
COVERS_FOCUSED = """() => {
    const has = document.activeElement;
    const toast = document.querySelector(".toast").getBoundingClientRect();
    const box = has.getBoundingClientRect();
    const isApart = box.bottom <= toast.top || box.top >= toast.bottom
        || box.right <= toast.left || box.left >= toast.right;
    if (isApart || has === document.body || has.closest(".toasts")) return [];
    return [has.outerHTML.slice(0, 100)];
}"""
IN_VIEW = """() => {
    const { top, bottom } = document.querySelector(".toast").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE, DESKTOP], ids=lambda size: size.name)
@pytest.mark.parametrize("down", [0, 150, 400])
def test_a_toast_covers_no_control(page: Page, home: Home, size: Size, down: int) -> None:
    home.says(printing(state=State.IDLE))
    show(page, home, "/settings", size)
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator(".toast")).to_be_visible()
    page.locator(".toast").hover()  # it stays
    page.mouse.wheel(0, down)
    page.wait_for_timeout(300)

    assert page.evaluate(COVERED) == []
    assert page.evaluate(IN_VIEW)


def test_a_toast_of_an_order_given_in_place_covers_no_control(page: Page, home: Home) -> None:
    """On the phone's page with the most controls, where a bar of buttons sticks, too."""
    show(page, home)
    page.set_viewport_size(window(PHONE))
    home.says(printing(state=State.PAUSED))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".toast")).to_be_visible()

    assert page.evaluate(COVERED) == []


@pytest.mark.parametrize(
    "size", [PHONE, SMALL_PHONE, ON_ITS_SIDE, DESKTOP], ids=lambda size: size.name
)
@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_toast_covers_nothing_that_is_read_in_a_print(
    page: Page, home: Home, size: Size, language: str
) -> None:
    page.set_extra_http_headers({"Accept-Language": language})
    home.says(printing(features=EVERY_FEATURE))
    paused = printing(state=State.PAUSED, features=EVERY_FEATURE)
    home.world.printers.effects = {"/pause": paused}
    show(page, home, size=size)
    page.locator("#now-buttons form button").first.click()
    expect(page.locator(".toast")).to_be_visible()
    page.evaluate(STAYS)
    page.wait_for_timeout(300)

    assert page.evaluate(COVERED_TEXT) == []
    assert page.evaluate(COVERED) == []
    assert page.evaluate(IN_VIEW)


def test_a_toast_makes_way_for_what_gets_the_focus(page: Page, home: Home) -> None:
    """Where the whole page is controls, it covers some of them, but never the one in use."""
    home.says(printing(state=State.IDLE))
    show(page, home, "/control", SMALL_PHONE)
    page.get_by_role("button", name="Cool down").click()
    expect(page.locator(".toast")).to_be_visible()
    page.evaluate(STAYS)
    hidden: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        page.wait_for_timeout(50)
        hidden += page.evaluate(COVERS_FOCUSED)

    assert hidden == []


def test_the_words_about_an_order_end_with_the_next_order(page: Page, home: Home) -> None:
    home.says(printing(state=State.IDLE))
    home.world.printers.answers["/extrude"] = PrinterRefusal(786, "The hotend is too cold.")
    show(page, home, "/control")
    page.evaluate(SAYS, "The move was sent to the printer.")
    page.get_by_role("button", name="Extrude").click()

    expect(page.get_by_role("dialog")).to_contain_text("The hotend is too cold.")
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.parametrize(
    ("state", "question"), [(State.PRINTING, "Stop print"), (State.COMPLETE, "Print again")]
)
def test_the_words_about_an_order_end_where_something_is_asked(
    page: Page, home: Home, state: State, question: str
) -> None:
    home.says(printing(state=state))
    show(page, home)
    page.route("**/files/again*", lambda route: route.fulfill(body=ASKS, content_type="text/html"))
    page.evaluate(SAYS, "Paused.")
    page.get_by_role("link", name=question).click()

    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE, ON_ITS_SIDE], ids=lambda size: size.name)
def test_after_an_emergency_stop_the_toast_covers_no_note(
    page: Page, home: Home, size: Size, language: str
) -> None:
    """The note is what it is about."""
    page.set_extra_http_headers({"Accept-Language": language})
    stopped = printing(state=State.ERROR, features=EVERY_FEATURE)
    home.says(printing(features=EVERY_FEATURE))
    home.world.printers.effects = {"/emergency-stop": stopped}
    show(page, home, size=size)
    page.locator(".emergency .button").click()
    page.locator("#emergency form[method=post] button").click()
    expect(page.locator(".toast")).to_be_visible()

    assert page.evaluate(COVERED) == []
    assert page.evaluate(COVERED_NOTES) == []
    assert page.evaluate(IN_VIEW)
