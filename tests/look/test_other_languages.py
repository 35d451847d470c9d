"""Words of other languages are longer than English ones, and stay whole on a phone."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from printreach.contract.status import State
from printreach.languages.catalogues import COMPLETE
from tests.fakes.printer import EVERY_FEATURE
from tests.look.test_narrow_pages import broken_words, opened
from tests.look.test_webhook_pages import home
from tests.web.printers.conftest import Home, printing
from tests.web.printers.test_machine_orders import says_everything
from tests.web.world import send

__all__ = ["home"]

VALUES_END_BEFORE_THE_BUTTON = """() => [...document.querySelectorAll(".heater")].every(row => {
    const end = element => element.getBoundingClientRect();
    return end(row.querySelector(".values")).right <= end(row.querySelector("summary")).left;
})"""

CUT_OFF = """() => [...document.querySelectorAll(".subsections a, .chips a")]
    .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map(each => each.textContent)"""
ROWS_OF_BAR = """() => new Set([...document.querySelectorAll(".thumb .button, .emergency .button")]
    .filter(each => each.checkVisibility()).map(each => each.getBoundingClientRect().top)).size"""
END_AND_BAR = """() => {
    scrollTo(0, document.body.scrollHeight);
    const end = document.querySelector(".last-prints").getBoundingClientRect().bottom;
    return [end, document.querySelector(".thumb").getBoundingClientRect().top];
}"""


@pytest.mark.parametrize("language", COMPLETE)
@pytest.mark.parametrize("width", [320, 390])
def test_words_and_values_stay_whole(page: Page, home: Home, language: str, width: int) -> None:
    says_everything(home, State.IDLE)
    send(home.browser, "/account/language", language=language)
    size = ViewportSize(width=width, height=720)

    opened(page, home.browser, f"{home.path}/control").set_viewport_size(size)

    assert page.evaluate(VALUES_END_BEFORE_THE_BUTTON)
    expect(page.locator(".home-axes")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened(page, home.browser, "/account").set_viewport_size(size)
    assert page.locator("html").get_attribute("lang") == language
    assert broken_words(page, ".tabs a") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", COMPLETE)
@pytest.mark.parametrize("width", [320, 390])
def test_all_sections_and_filters_are_in_view(
    page: Page, home: Home, language: str, width: int
) -> None:
    send(home.browser, "/account/language", language=language)
    for path in (home.path, "/printers"):
        opened(page, home.browser, path).set_viewport_size({"width": width, "height": 720})

        assert page.locator(".subsections a, .chips a").count() > 3
        assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("language", COMPLETE)
@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("state", [State.PRINTING, State.PAUSED])
def test_the_bar_of_a_print_has_two_rows_and_hides_nothing(
    page: Page, home: Home, language: str, width: int, state: State
) -> None:
    """The printer's name above stays whole, too, however long the word for its state is."""
    home.says(printing(state=state, features=EVERY_FEATURE))
    send(home.browser, "/account/language", language=language)
    opened(page, home.browser, home.path).set_viewport_size({"width": width, "height": 720})
    expect(page.locator(".emergency .button")).to_be_visible()

    assert page.evaluate(ROWS_OF_BAR) == 2
    assert broken_words(page, ".thumb, .printer-head h1") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    end, bar = page.evaluate(END_AND_BAR)
    assert end <= bar
