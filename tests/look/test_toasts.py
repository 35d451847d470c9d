"""What is said in passing covers nothing that somebody presses or fills in."""

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State
from tests.look.camera_pages import SMALL_PHONE, home, show, window
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
