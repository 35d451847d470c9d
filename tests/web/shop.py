"""A service that sells supporter status, by Stripe's own library and a fake of its API."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import stripe
from litestar.testing import TestClient

from printreach.backends.pay_stripe import StripePayments
from printreach.rules.accounts import Account
from printreach.rules.payments import StripeAccount
from tests.fakes.clock import FakeClock
from tests.fakes.stripe.books import Object
from tests.fakes.stripe.server import (
    KEY,
    MONTHLY,
    SECRET,
    TIMEOUT_S,
    YEARLY,
    FakeStripe,
    fake_stripe,
    sign,
)
from tests.rigs.databases import copy_database
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run

CALLS = "/payments/stripe"


@dataclass
class Shop:
    """One browser before it, and the books of who takes the money."""

    world: WebWorld
    browser: Browser
    fake: FakeStripe

    def pay(self, session_url: str) -> Object:
        """Somebody pays on that page; nobody has heard of it yet."""
        return self.fake.books.pay(session_url.rsplit("/", 1)[-1])

    def call(
        self, kind: str, about: Object, event_id: str = "evt_1", secret: str = SECRET
    ) -> httpx.Response:
        """The provider calls."""
        body = self.fake.event(kind, about, event_id)
        return self.post(body.encode(), sign(body, secret=secret))

    def post(self, body: bytes, signature: str) -> httpx.Response:
        """Whatever somebody sends to where the provider calls, without a cookie."""
        program = TestClient(self.world.app, base_url=BASE_URL)
        program.blocking_portal = self.browser.blocking_portal
        return program.post(CALLS, content=body, headers={"stripe-signature": signature})

    def account(self, email: str = ADA) -> Account:
        found = run(
            self.browser,
            lambda: self.world.store.read(lambda records: records.accounts.with_email(email)),
        )
        assert found is not None
        return found


@contextmanager
def open_shop(migrated: Path, folder: Path, **settings: str) -> Iterator[Shop]:
    """settings: further ones of the installation, by their names."""
    path = folder / "data" / "printreach.sqlite3"
    copy_database(migrated, path)
    clock = FakeClock()
    with fake_stripe(lambda: int(clock.now().timestamp())) as fake:
        account = StripeAccount(
            secret_key=KEY, webhook_secret=SECRET, prices=(YEARLY, MONTHLY), api_url=fake.url
        )
        client = stripe.StripeClient(
            KEY,
            http_client=stripe.HTTPXClient(timeout=TIMEOUT_S),
            base_addresses={"api": fake.url},
        )
        payments = StripePayments(account, client, clock)
        with (
            closing(WebWorld(path, clock, payments, SUPPORTERS="granted", **settings)) as world,
            TestClient(world.app, base_url=BASE_URL) as browser,
        ):
            browser.headers["accept"] = "text/html"
            yield Shop(world, browser, fake)
