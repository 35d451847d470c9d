"""A developer at work, in a real browser, with a real service and the agent of a printer."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.rigs.chromium import chromium, watch
from tests.rigs.portal import NOWHERE, sign_in
from tests.rigs.service import OWNER, PASSWORD, LinkedPrinter, Service
from tests.rigs.sites import heading, phone, press, site

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("developer")


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[Service]:
    with site(folder) as running:
        yield running


@pytest.fixture(scope="module")
def workbench(home: Service) -> Iterator[LinkedPrinter]:
    with home.printer("Workbench", NOWHERE, platform="simulated") as linked:
        yield linked


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        yield context


@pytest.fixture
def page(home: Service, browser: BrowserContext) -> Iterator[Page]:
    """A phone; its person is signed in and looks at the page for developers."""
    with phone(browser) as page:
        page.goto(f"{home.base_url}/developer")
        sign_in(page, OWNER)
        heading(page, "For developers")
        yield page


@pytest.mark.usefixtures("workbench")
def test_a_developer_registers_an_app_and_walks_through_the_portal_with_it(
    page: Page, home: Service
) -> None:
    seen = watch(page)
    press(page, "Register an app")
    page.get_by_label("Name", exact=True).fill("Layerlark")
    page.get_by_label("App id").fill("layerlark")
    page.get_by_label("Return addresses").fill("com.layerlark://done")
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Register")
    heading(page, "Layerlark")
    press(page, "Try the portal")
    press(page, "Open the portal")

    heading(page, "Layerlark wants to reach your printer")
    press(page, "Continue")
    heading(page, "Let Layerlark use Workbench?")
    press(page, "Allow Layerlark")
    heading(page, "Your app would be connected")
    assert page.url.startswith(f"{home.base_url}/appportal/v1/test?success=true&")
    expect(page.get_by_text("Missing")).to_have_count(0)
    press(page, "End this connection")
    heading(page, "End the connection of Layerlark?")
    press(page, "End connection")
    expect(page.get_by_text("No apps yet.")).to_be_visible()
    assert seen.errors == []


def test_a_developer_makes_a_key_that_the_operator_can_disable(page: Page, home: Service) -> None:
    press(page, "Create a key")
    page.get_by_label("Name", exact=True).fill("Night watch")
    page.get_by_label("Your password").fill(PASSWORD)
    press(page, "Create the key")
    heading(page, "Night watch")
    shown = page.locator(".once dd").first
    expect(shown).to_have_text(re.compile(r"^prk_[a-z2-7]{32}$"))
    key_id = page.url.rpartition("/")[2]
    page.reload()
    expect(page.get_by_text("A key is shown only once.")).to_be_visible()

    home.admin("detector-key", "disable", key_id)
    page.goto(f"{home.base_url}/developer")
    page.get_by_text("Disabled keys (1)").click()
    expect(page.get_by_role("heading", name="Night watch")).to_be_visible()
    use = home.admin("detector-usage", OWNER)
    assert use.keys() == {"Calls", "PrintHours", "FreeCalls", "CostUsd"}
