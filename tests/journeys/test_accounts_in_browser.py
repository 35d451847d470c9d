"""A person's account from sign-up to its end, in a real browser, with a real service."""

import base64
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page, expect

from printreach.rules.accounts.second_factors import STEP_SECONDS, code_of
from tests.rigs.chromium import chromium, watch
from tests.rigs.looks import look_at
from tests.rigs.programs import Program
from tests.rigs.service import PASSWORD, Service
from tests.rigs.sites import fresh_site, heading, phone, press

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ADA = "ada@example.org"
NEXT = "of another kind"
LINK = re.compile(r"https?://localhost\S+(?=\s)")  # none that is half written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("accounts")


@pytest.fixture(scope="module")
def fresh(folder: Path) -> Iterator[Service]:
    with fresh_site(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        yield context


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    with phone(browser) as opened:
        yield opened


def log_link(program: Program, after: str) -> str:
    """The last link that the log holds behind these words."""

    def find() -> str | None:
        parts = program.log_since((0, 0)).rsplit(after, 1)
        found = LINK.search(parts[1]) if len(parts) == 2 else None
        return found[0] if found else None

    return program.wait_until(f"a link behind {after!r}", find)


def mail_link(service: Service, subject: str) -> str:
    return log_link(service.program, subject)


def sign_up(page: Page, service: Service, email: str) -> None:
    """Up to the page after the link of the mail."""
    page.goto(service.base_url)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create account")
    heading(page, "Ask the operator for your link")
    page.goto(mail_link(service, f"mail for {email}"))
    press_on(page, "Confirm")


def press_on(page: Page, name: str) -> None:
    """Press what leads to another page, and be there."""
    with page.expect_navigation():
        press(page, name)


def sign_in(page: Page, service: Service, email: str, password: str = PASSWORD) -> None:
    page.goto(f"{service.base_url}/signin?next=/account")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    press(page, "Sign in")


def open_account(page: Page, service: Service) -> None:
    page.goto(f"{service.base_url}/account")
    heading(page, "Your account")


def open_security(page: Page, service: Service) -> None:
    page.goto(f"{service.base_url}/account/security")
    heading(page, "Sign-in")


def test_the_first_start_makes_an_operator_by_a_link_in_the_log(fresh: Service, page: Page) -> None:
    page.goto(fresh.base_url)
    expect(page.get_by_role("heading", name="Not set up yet")).to_be_visible()
    page.goto(log_link(fresh.program, "There is no operator yet"))
    heading(page, "Set up Printreach")
    look_at(page, "setup")

    page.get_by_label("E-mail").fill("operator@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    press_on(page, "Create account")
    open_account(page, fresh)

    assert "'Email': 'operator@example.org', 'IsAdmin': True" in str(fresh.admin("account", "list"))


def test_from_sign_up_over_an_authenticator_app_to_a_recovery_code(
    fresh: Service, page: Page
) -> None:
    seen = watch(page)
    sign_up(page, fresh, ADA)
    open_security(page, fresh)
    look_at(page, "account-security")

    page.locator("#totp-password").fill(PASSWORD)
    press(page, "Set up an app")
    heading(page, "Set up an authenticator app")
    look_at(page, "account-totp")
    words = page.locator("#secret").inner_text().replace(" ", "")
    secret = base64.b32decode(words)
    used = int(time.time()) // STEP_SECONDS
    page.get_by_label("Code").fill(code_of(secret, used))
    press(page, "Turn on")
    heading(page, "Your recovery codes")
    look_at(page, "account-recovery-codes")
    recovery = page.locator("#once-1").inner_text()
    page.get_by_label("I have saved these codes").check()
    press(page, "Done")
    heading(page, "Sign-in")
    press_on(page, "Sign out")

    sign_in(page, fresh, ADA)
    heading(page, "Enter your code")
    look_at(page, "signin-code")
    page.get_by_label("Code").fill("000000")
    press(page, "Continue")
    expect(page.get_by_role("alert")).to_contain_text("That code is wrong")
    now = int(time.time()) // STEP_SECONDS
    page.get_by_label("Code").fill(code_of(secret, max(now, used + 1)))  # each is good once
    press(page, "Continue")
    heading(page, "Your account")
    press_on(page, "Sign out")

    sign_in(page, fresh, ADA)
    page.get_by_label("Code").fill(recovery)
    press(page, "Continue")
    heading(page, "Your account")
    open_security(page, fresh)
    expect(page.get_by_text("9 recovery codes are left")).to_be_visible()
    assert [error for error in seen.errors if "400" not in error and "404" not in error] == []


def test_a_passkey_signs_in_without_a_password(fresh: Service, page: Page) -> None:
    virtual_authenticator(page)
    sign_up(page, fresh, "passkey@example.org")
    open_security(page, fresh)

    page.get_by_label("Name").fill("My phone")
    page.locator("#passkey-password").fill("a guess")
    press(page, "Add a passkey")
    expect(page.locator("[data-passkey-fault]")).to_have_text("That is not your password.")
    page.locator("#passkey-password").fill(PASSWORD)
    press(page, "Add a passkey")
    expect(page.get_by_role("heading", name="My phone")).to_be_visible()
    press_on(page, "Sign out")

    page.goto(f"{fresh.base_url}/signin?next=/account")
    look_at(page, "signin")
    press(page, "Sign in with a passkey")
    heading(page, "Your account")
    expect(page.get_by_text("passkey@example.org")).to_be_visible()

    open_security(page, fresh)
    page.locator("#passkey-password").fill(PASSWORD)
    press(page, "Remove My phone")
    expect(page.get_by_role("heading", name="My phone")).not_to_be_visible()
    press_on(page, "Sign out")
    page.goto(f"{fresh.base_url}/signin")
    press(page, "Sign in with a passkey")
    expect(page.get_by_role("alert").first).to_contain_text("be used here.")


def test_a_forgotten_password_then_the_end_of_the_account(fresh: Service, page: Page) -> None:
    sign_up(page, fresh, "leaving@example.org")
    open_account(page, fresh)
    press_on(page, "Sign out")
    page.goto(f"{fresh.base_url}/reset")
    look_at(page, "reset")
    page.get_by_label("E-mail").fill("leaving@example.org")
    press(page, "Create the link")
    expect(page.get_by_text("Ask its operator for the link")).to_be_visible()
    page.goto(mail_link(fresh, "Reset your password"))
    page.get_by_label("New password").fill(NEXT)
    press_on(page, "Save")
    open_account(page, fresh)

    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download").click()
    data = json.loads(downloading.value.path().read_text())
    assert data["Account"]["Email"] == "leaving@example.org"

    page.get_by_role("link", name="Delete my account").click()
    heading(page, "Delete your account?")
    page.locator("#delete-password").fill(NEXT)
    press(page, "Delete my account")
    heading(page, "Your account is deleted")
    sign_in(page, fresh, "leaving@example.org", NEXT)
    expect(page.get_by_role("alert")).to_contain_text("That e-mail address and password")


def test_pages_for_strangers_are_accessible_and_fit(fresh: Service, page: Page) -> None:
    for name in ("signup", "signin", "reset"):
        page.goto(f"{fresh.base_url}/{name}")
        look_at(page, name)
    page.goto(f"{fresh.base_url}/confirm?token=unknown")
    heading(page, "This link no longer works")
    look_at(page, "link-over")


def virtual_authenticator(page: Page) -> CDPSession:
    """A phone's, which has checked its owner's finger."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    return session
