"""Words of other languages are longer than English ones, and stay whole on a phone."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from printreach.contract.status import State
from printreach.languages.catalogues import COMPLETE
from tests.look.test_narrow_pages import broken_words, opened
from tests.look.test_webhook_pages import home
from tests.web.printers.conftest import Home
from tests.web.printers.test_machine_orders import says_everything
from tests.web.world import send

__all__ = ["home"]

VALUES_END_BEFORE_THE_BUTTON = """() => [...document.querySelectorAll(".heater")].every(row => {
    const end = element => element.getBoundingClientRect();
    return end(row.querySelector(".values")).right <= end(row.querySelector("summary")).left;
})"""


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
