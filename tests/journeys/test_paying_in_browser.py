"""Paying in the portal: a real service, and a fake payment provider."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.fakes.stripe.server import KEY, MONTHLY, SECRET, YEARLY, FakeStripe, fake_stripe
from tests.rigs.calls import call
from tests.rigs.chromium import chromium, watch
from tests.rigs.portal import (
    LOGO_URL,
    NOWHERE,
    Shop,
    answer_as_app,
    answer_with_logo,
    come_as,
    heard,
    sign_in,
)
from tests.rigs.service import Connection
from tests.rigs.sites import heading, phone, press, site
from tests.rigs.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def stripe() -> Iterator[FakeStripe]:
    with fake_stripe(lambda: int(time.time())) as fake:
        yield fake


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("paying")


@pytest.fixture(scope="module")
def shop(folder: Path, stripe: FakeStripe) -> Iterator[Shop]:
    settings = {
        "SUPPORTERS": "granted",
        "STRIPE_SECRET_KEY": KEY,
        "STRIPE_WEBHOOK_SECRET": SECRET,
        "STRIPE_PRICE": f"{YEARLY} {MONTHLY}",
        "STRIPE_API_URL": stripe.url,
    }
    with site(folder, **settings) as running:
        stripe.calls_go_to = f"{running.base_url}/payments/stripe"
        yield Shop(running)


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[BrowserContext]:
    with chromium(folder / "profile") as context:
        context.route("https://app.example.com/**", answer_as_app)
        context.route(LOGO_URL, answer_with_logo)
        yield context


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    with phone(browser) as opened:
        yield opened


@contextmanager
def buyer(shop: Shop, name: str) -> Iterator[str]:
    """The address of somebody with a printer."""
    email, running = f"{name}@example.com", shop.running
    shop.add_account(email)
    with running.agent(name, NOWHERE, platform="simulated") as agent:
        code = agent.event("link-code")["LinkCode"]
        running.admin("printer", "link", code, "--account", email, "--name", "Workbench")
        agent.event("connected")
        yield email


def test_paying_on_the_way_ends_with_an_authorised_app(
    shop: Shop, page: Page, stripe: FakeStripe
) -> None:
    with buyer(shop, "ines") as email:
        _pay_on_the_way(shop, page, stripe, email)


def _pay_on_the_way(shop: Shop, page: Page, stripe: FakeStripe, email: str) -> None:
    seen = watch(page)
    come_as(page, shop, email)
    heading(page, "Apps need supporter status")
    page.get_by_label("Monthly").check()
    press(page, "Continue to payment")
    heading(page, "Pay")
    page.go_back()
    heading(page, "Apps need supporter status")
    page.get_by_label("Monthly").check()
    press(page, "Continue to payment")
    heading(page, "Pay")
    press(page, "Pay")

    heading(page, "Let Journeys use Workbench?")
    press(page, "Allow Journeys")
    told = heard(page)
    assert told["success"] == "true"
    sessions = [one for one in stripe.books.sessions.values() if one["customer_email"] == email]
    assert [one["status"] for one in sessions] == ["expired", "complete"]
    assert seen.errors == []

    way = shop.running.way(Connection.of(told))
    subscription = stripe.books.subscriptions[sessions[-1]["subscription"]]
    assert call(way, "/").status != 605
    stripe.books.end(subscription)
    assert stripe.send("customer.subscription.deleted", subscription, "evt_end") == 200
    wait_for("605 for the app", lambda: call(way, "/").status == 605 or None, TIMEOUT_S)
    assert KEY not in shop.running.program.log_since((0, 0))
    assert SECRET not in shop.running.program.log_since((0, 0))


def test_leaving_the_payment_returns_to_the_app_without_a_connection(
    shop: Shop, page: Page
) -> None:
    with buyer(shop, "mika") as email:
        come_as(page, shop, email)
        press(page, "Continue to payment")
        heading(page, "Pay")
        press(page, "Leave")
        heading(page, "Apps need supporter status")
        press(page, "Not now, go back to Journeys")
        told = heard(page)

    assert told == {
        "success": "false",
        "error": "not_a_supporter",
        "errorDescription": "The account lacks the supporter status that apps need.",
    }


def test_an_account_becomes_a_supporter_by_its_own_page(shop: Shop, page: Page) -> None:
    shop.add_account("noor@example.com")
    page.goto(f"{shop.running.base_url}/account/supporter")
    sign_in(page, "noor@example.com")
    press(page, "Continue to payment")
    press(page, "Pay")

    expect(page.get_by_text("Thank you.", exact=True)).to_be_visible()
    press(page, "Manage cards and receipts, or cancel")
    heading(page, "Your subscription")
