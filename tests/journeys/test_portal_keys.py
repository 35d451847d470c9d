"""An app gets a key of OctoPrint by way of the portal, after a second question."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.rigs.calls import call
from tests.rigs.chromium import chromium, screenshot
from tests.rigs.octoprint import OctoPrint
from tests.rigs.portal import LOGO_URL, Shop, answer_as_app, answer_with_logo, come_as, heard
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.sites import heading, press
from tests.rigs.ways import Way

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.browser]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path / "profile") as browser:
        browser.route("https://app.example.com/**", answer_as_app)
        browser.route(LOGO_URL, answer_with_logo)
        page = browser.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        yield page


def allow(page: Page, relay: Service, printer: LinkedPrinter) -> None:
    """Answer everything but the question about the key."""
    come_as(page, Shop(relay), printerId=printer.id, hostApiKeyAppName="Journeys app")
    # The address of the page on which one signs in ends as the flow's does.
    question = re.compile("Which printer|Let Journeys use")
    expect(page.get_by_role("heading", level=1)).to_have_text(question)
    page.wait_for_load_state()
    if page.get_by_role("radio").count():
        press(page, "Continue")
    press(page, "Allow Journeys")
    heading(page, "Create a key for OctoPrint, too?")


def test_the_key_opens_octoprint_itself(
    relay: Service, octoprint_linked: LinkedPrinter, octoprint: OctoPrint, page: Page
) -> None:
    allow(page, relay, octoprint_linked)
    screenshot(page, "portal-key")
    press(page, "Create the key")

    key = heard(page)["hostApiKey"]
    way = Way.straight(octoprint.url)
    assert call(way, "/api/version", headers=[("X-Api-Key", key)]).status == 200
    assert call(way, "/api/version", headers=[("X-Api-Key", key[::-1])]).status == 403


def test_the_connection_works_without_the_key(
    relay: Service, octoprint_linked: LinkedPrinter, page: Page
) -> None:
    allow(page, relay, octoprint_linked)
    press(page, "Continue without")

    told = heard(page)
    assert told["success"] == "true"
    assert "hostApiKey" not in told
