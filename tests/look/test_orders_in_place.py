"""Orders that are given without leaving the page, beside the page's event stream."""

from datetime import timedelta
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State
from tests.look.camera_pages import Stream, home, show
from tests.web.printers.conftest import Home, printing

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# Playwright lets nobody answer where a redirect leads to.
ANSWERS_ORDERS: Final = """page => {
    window.fetch = async () => ({ redirected: true, url: location.href, text: async () => page });
}"""


def test_a_printer_that_pauses_again_right_after_a_resume_is_shown_as_paused(
    page: Page, home: Home
) -> None:
    """The stream sends what differs from what it has sent itself: of the resume it knew nothing."""
    home.says(printing(state=State.PAUSED))
    stream = Stream()
    show(page, home, events=stream.answer)
    part = page.locator("#part-now")
    stream.says("part", id="part-now", html=part.evaluate("part => part.outerHTML"))
    home.says(printing())
    home.world.clock.advance(timedelta(seconds=5))
    page.evaluate(ANSWERS_ORDERS, home.get().text)
    part.get_by_role("button", name="Resume").click()

    expect(page.locator("#part-head")).to_contain_text("Printing")
    expect(part.get_by_role("button", name="Resume")).to_be_visible()
