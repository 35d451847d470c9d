"""The settings page in a real Chromium, on a real OctoPrint."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.rigs.chromium import PageLog, chromium, close_page, screenshot, watch
from tests.rigs.octoprint import PASSWORD, USER
from tests.rigs.octoprint_plugin import PluginRig
from tests.rigs.service import OWNER, Service

pytestmark = [pytest.mark.slow, pytest.mark.peer, pytest.mark.browser, pytest.mark.timeout(180)]

WELL_FORMED = re.compile(r"[A-Z0-9]{4}-[A-Z0-9]{4}")
HOSTILE_NAME = "<img src=x onerror=document.title='stolen'>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One for all tests here: it keeps OctoPrint's megabytes of scripts."""
    with chromium(tmp_path_factory.mktemp("browser") / "profile") as running:
        yield running


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """Nobody is signed in yet."""
    browser.clear_cookies()
    opened = browser.new_page()
    yield opened
    close_page(opened)


@pytest.fixture
def watched(page: Page) -> PageLog:
    return watch(page)


@pytest.fixture
def pane(page: Page, plugin: PluginRig, watched: PageLog) -> Locator:
    """The plugin's settings, open before an administrator."""
    page.goto(plugin.octoprint.url)
    page.fill("#login-user", USER)
    page.fill("#login-password", PASSWORD)
    page.click("#login-button")
    expect(page.locator("#state")).to_contain_text("Operational")
    return open_settings(page)


def open_settings(page: Page) -> Locator:
    page.click("#navbar_show_settings")
    page.click("#settings_plugin_service_link a")
    pane = page.locator("#printreach_settings")
    expect(pane.locator(".printreach_says")).not_to_have_text("")
    return pane


def give_address(pane: Locator, address: str) -> None:
    pane.get_by_label("Service address").fill(address)
    pane.get_by_role("button", name="Connect").click()


def test_a_person_links_the_printer_and_unlinks_it(
    page: Page, pane: Locator, watched: PageLog, service: Service
) -> None:
    expect(pane.locator(".printreach_says")).to_contain_text("Give the address")
    give_address(pane, service.base_url)
    code = pane.locator(".printreach_code")
    expect(code).to_have_text(WELL_FORMED)
    link = pane.get_by_role("link", name="Link it with your account")
    first_code = code.inner_text()
    assert link.get_attribute("href") == (
        f"{service.base_url}/link?code={first_code.replace('-', '')}"
    )
    screenshot(page, "octoprint-plugin-unlinked")

    words = ("printer", "link", first_code.replace("-", ""), "--account", OWNER)
    service.admin(*words, "--name", HOSTILE_NAME)
    expect(pane.locator(".printreach_facts")).to_contain_text(HOSTILE_NAME)
    expect(code).to_be_hidden()
    screenshot(page, "octoprint-plugin-linked")

    pane.get_by_role("button", name="Unlink this printer").click()
    page.locator(".modal.in").get_by_text("Unlink", exact=True).click()
    expect(code).to_have_text(WELL_FORMED)
    assert code.inner_text() != first_code
    assert page.title() != "stolen"
    assert watched.errors == []
    assert watched.hosts == {page.url.split("/")[2]}


def test_a_bad_address_is_named_beside_its_field(
    page: Page, pane: Locator, plugin: PluginRig
) -> None:
    give_address(pane, "printreach.example.com")

    expect(pane.get_by_role("alert")).to_have_text(
        "The address must start with http:// or https://."
    )
    screenshot(page, "octoprint-plugin-bad-address")
    assert plugin.state()["SavedAddress"] == ""
    pane.get_by_label("Service address").fill("https://printreach.example.com")
    expect(pane.get_by_role("alert")).to_be_hidden()


def test_the_dialogs_own_save_takes_the_address_too(
    page: Page, pane: Locator, plugin: PluginRig, service: Service
) -> None:
    pane.get_by_label("Service address").fill(service.base_url + "/")
    page.locator("#settings_dialog").get_by_text("Save", exact=True).click()

    plugin.link_code(service)
    expect(page.locator("#settings_dialog")).to_be_hidden()
    pane = open_settings(page)
    expect(pane.get_by_label("Service address")).to_have_value(service.base_url)


def test_the_dialogs_own_save_names_a_bad_address(page: Page, pane: Locator) -> None:
    pane.get_by_label("Service address").fill("ftp://<b>x</b>")
    page.locator("#settings_dialog").get_by_text("Save", exact=True).click()

    notice = page.locator(".ui-pnotify", has_text="Printreach")
    expect(notice).to_contain_text("The address must start with http:// or https://.")
