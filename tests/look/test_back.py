"""What the browser's Back leads to after forms and questions."""

import pytest
from playwright.sync_api import Page, expect

from printreach.contract.status import State
from tests.look.test_narrow_pages import opened
from tests.look.test_webhook_pages import home
from tests.web.printers.conftest import Home, printing

__all__ = ["home"]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_back_to_a_refused_form_leads_to_the_page_with_the_form(page: Page, home: Home) -> None:
    home.says(printing())
    opened(page, home.browser, f"{home.path}/control")
    page.locator("summary", has_text="Bed").click()
    page.get_by_label("Bed, in °C").fill("999")
    page.get_by_label("Bed, in °C").press("Enter")
    expect(page.get_by_text("Enter a temperature in °C").first).to_be_visible()

    assert page.evaluate("location.pathname") == f"{home.path}/control"
    page.get_by_role("link", name="Connections").locator("visible=true").first.click()
    expect(page.get_by_role("heading", name="Connections")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Temperatures")).to_be_visible()


def test_a_question_that_the_browser_kept_is_asked_anew(page: Page, home: Home) -> None:
    home.says(printing())
    opened(page, home.browser, f"{home.path}/stop")
    expect(page.get_by_role("heading", name="Stop vase.gcode?")).to_be_visible()
    home.says(printing(state=State.IDLE))

    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")

    expect(page.get_by_role("heading", name="Nothing is printing")).to_be_visible()
