"""Signing in with an account of another service, in a real browser, at a provider of others.

The provider is at 127.0.0.1 and the service at localhost, so a browser takes them for two sites:
what it keeps back from requests between sites, it keeps back here.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.rigs.chromium import chromium, watch
from tests.rigs.looks import look_at
from tests.rigs.oidc_provider import oidc_provider
from tests.rigs.service import PASSWORD, Service
from tests.rigs.sites import fresh_site, heading, phone, press

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.peer]

NAME = "Hallow ID"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("other-accounts")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with oidc_provider(folder) as issuer:
        settings = {
            "OIDC_ISSUER": issuer,
            "OIDC_CLIENT_ID": "printreach",
            "OIDC_CLIENT_SECRET": "hush",
            "OIDC_NAME": NAME,
        }
        with fresh_site(folder, **settings) as running:
            # Until there is an operator nobody signs up, by whatever way.
            words = ("account", "add", "operator@example.com", "--admin")
            running.admin(*words, stdin=f"{PASSWORD}\n")
            yield running


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        yield context


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    with phone(browser) as opened:
        yield opened


def test_from_the_button_to_an_account_and_in_again(service: Service, page: Page) -> None:
    seen = watch(page)
    page.goto(f"{service.base_url}/signin?next=/account")
    look_at(page, "sign-in-other")

    press(page, f"Sign in with {NAME}")
    page.get_by_role("button", name="ines", exact=True).click()

    heading(page, "Your account")
    expect(page.locator("main")).to_contain_text("ines@hallow.example")
    look_at(page, "account-other")
    with page.expect_navigation():
        press(page, "Sign out")
    page.goto(f"{service.base_url}/signin?next=/account")
    press(page, f"Sign in with {NAME}")
    page.get_by_role("button", name="ines", exact=True).first.click()
    heading(page, "Your account")
    ours = [error for error in seen.errors if service.base_url in error]
    assert ours == []


def test_a_refusal_there_leads_back_to_sign_in(service: Service, page: Page) -> None:
    page.goto(f"{service.base_url}/signin?next=/account")
    press(page, f"Sign in with {NAME}")
    press(page, "Deny")

    heading(page, "Sign in")
    expect(page.get_by_role("alert").first).to_contain_text(f"{NAME} did not sign you in.")
    look_at(page, "sign-in-other-refused")


def test_an_address_that_the_provider_does_not_vouch_for_makes_no_account(
    service: Service, page: Page
) -> None:
    page.goto(f"{service.base_url}/signin")
    press(page, f"Sign in with {NAME}")
    page.get_by_placeholder("sub").fill("eve@example.org")
    press(page, "Authorize")

    heading(page, "Sign in")
    expect(page.get_by_role("alert").first).to_contain_text("gives no confirmed e-mail address")
    assert "eve@example.org" not in str(service.admin("account", "list"))
