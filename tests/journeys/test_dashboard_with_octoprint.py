"""The dashboard beside a real OctoPrint: changes on one show on the other."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.rigs.chromium import chromium, watch
from tests.rigs.looks import DESKTOP, look_at
from tests.rigs.octoprint import LONG_MOVES, OctoPrint, gcode
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.peer]

BENCHY = "benchy.gcode"


@pytest.fixture
def page(relay: Service, tmp_path: Path) -> Iterator[Page]:
    """The owner, signed in."""
    with chromium(tmp_path / "profile") as context:
        page = context.new_page()
        page.goto(f"{relay.base_url}/signin")
        page.get_by_label("E-mail").fill(OWNER)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page).to_have_url(f"{relay.base_url}/printers")
        yield page


@pytest.fixture
def idle(octoprint: OctoPrint) -> Iterator[OctoPrint]:
    """OctoPrint without a job or files, before and after."""
    octoprint.reset()
    yield octoprint
    octoprint.reset()


def test_a_print_on_octoprint_is_started_paused_and_stopped_from_the_dashboard(
    relay: Service, octoprint_linked: LinkedPrinter, idle: OctoPrint, page: Page
) -> None:
    assert idle.url
    seen = watch(page)
    at = f"{relay.base_url}/printers/{octoprint_linked.id}"
    page.goto(f"{at}/files")
    body = gcode(LONG_MOVES)
    file = {"name": BENCHY, "mimeType": "text/x.gcode", "buffer": body}
    page.locator("#upload").set_input_files(file)  # type: ignore[arg-type]  # as told
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("The file is on the printer.")).to_be_visible()
    expect(page.get_by_role("link", name=BENCHY, exact=True)).to_be_visible()

    page.get_by_role("row", name=BENCHY).get_by_role("link", name="Print").click()
    page.get_by_role("button", name="Start printing").click()
    expect(page.get_by_role("heading", name="octoprint")).to_be_visible()
    expect(page.get_by_text("Printing", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True).first).to_be_visible()
    look_at(page, "dashboard-octoprint", sizes=[DESKTOP])
    page.get_by_role("link", name="Stop print").click()
    page.get_by_role("button", name="Stop print").click()
    expect(page.get_by_text(re.compile("Cancelled|Idle")).first).to_be_visible()
    expect(page.get_by_role("button", name="Open OctoPrint").first).to_be_visible()
    assert [error for error in seen.errors if "webcam" not in error] == []
