"""A service with an operator, and somebody with a printer and an app."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from printreach.rules.accounts import Account
from printreach.rules.portal.parameters import Completion
from printreach.store.listings import Search
from tests.web.portal.people import APP, add_app, link_printer
from tests.web.world import ADA, BASE_URL, Browser, WebWorld, run, sign_in

GRACE = "grace@example.org"


@dataclass
class Office:
    """browser: Grace's, who operates. ada: has a printer that an app reaches."""

    world: WebWorld
    browser: Browser
    ada: Account
    printer_id: str
    connection: Completion

    def account(self, email: str = ADA) -> Account | None:
        return run(
            self.browser,
            lambda: self.world.store.read(lambda records: records.accounts.with_email(email)),
        )

    def last_act(self) -> tuple[str, str, str, str]:
        """Who did what, on what and how."""
        return run(self.browser, self._last_act)

    async def _last_act(self) -> tuple[str, str, str, str]:
        found = await self.world.services.operating.acts(Search())
        one = found.rows[0]
        return one.operator, one.act.value, one.subject, one.detail


@pytest.fixture(scope="session")
def migrated(empty: Path) -> Path:
    """Grace is the only operator here."""
    return empty


@pytest.fixture
def office(world: WebWorld, browser: Browser) -> Office:
    ada = world.add_account(browser)
    world.add_account(browser, GRACE, is_admin=True)
    add_app(world, browser)
    printer_id = link_printer(world, browser, "Workbench")
    made = run(browser, lambda: world.services.connections.add_for_app(APP, printer_id))
    assert isinstance(made, Completion)
    sign_in(browser, GRACE)
    return Office(world, browser, ada, printer_id, made)


@pytest.fixture
def other(app: Litestar, office: Office) -> Browser:
    """A second browser, in which nobody is signed in."""
    client: Browser = TestClient(app, base_url=BASE_URL)
    client.headers["accept"] = "text/html"
    client.blocking_portal = office.browser.blocking_portal
    return client
