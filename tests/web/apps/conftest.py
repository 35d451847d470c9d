"""Ada, who develops, and Bob, who has an app and a key of his own."""

from dataclasses import dataclass

import pytest

from printreach.hub.detection.keys import MadeKey
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.store.store import Records
from tests.web.world import PASSWORD, Browser, WebWorld, run, send, sign_in

BOB = "bob@example.org"


@dataclass(frozen=True)
class DeveloperSite:
    """A developer's browser, and what another developer has."""

    world: WebWorld
    browser: Browser
    ada: Account
    bob: Account

    def register(self, app_id: str = "layerlark", **fields: str) -> str:
        """Register an app; where the browser is sent to, or the page with what is wrong."""
        given = {"name": "Layerlark", "app-id": app_id, "other-logos": "yes", **fields}
        given.setdefault("password", PASSWORD)
        answer = send(self.browser, "/developer/register", **given)
        return str(answer.headers["location"]) if answer.status_code == 303 else answer.text

    def make_key(self, name: str = "Farm") -> str:
        """Make a key; the page that shows it once."""
        answer = send(self.browser, "/developer/new-key", name=name, password=PASSWORD)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    def app(self, app_id: str) -> App | None:
        return run(
            self.browser, lambda: self.world.store.read(lambda records: records.apps.get(app_id))
        )


@pytest.fixture
def site(world: WebWorld, browser: Browser) -> DeveloperSite:
    ada, bob = world.add_account(browser), world.add_account(browser, BOB)
    sign_in(browser)
    return DeveloperSite(world, browser, ada, bob)


@pytest.fixture
def bobs_app(site: DeveloperSite) -> str:
    app = App(
        app_id="bobs",
        name="Bob's",
        return_prefixes=("https://bob.example/",),
        created_at=site.world.clock.now(),
        owner_id=site.bob.account_id,
    )

    async def add(records: Records) -> None:
        await records.apps.add(app)

    run(site.browser, lambda: site.world.store.write(add))
    return app.app_id


@pytest.fixture
def bobs_key(site: DeveloperSite) -> MadeKey:
    keys = site.world.services.detection_keys
    made = run(site.browser, lambda: keys.make(site.bob.account_id, "Bob's"))
    assert isinstance(made, MadeKey)
    return made
