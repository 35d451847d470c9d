"""The portal's pages, with an app, and keys that can be made."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from tests.fakes.clock import FakeClock
from tests.hub.portal.portal_world import FakeHostKeys
from tests.rigs.databases import copy_database
from tests.web.portal.people import Person, add_app
from tests.web.world import BASE_URL, WebWorld


@pytest.fixture
def supporters() -> str:
    """Whom the operator counts as supporters; a test may say otherwise."""
    return "everyone"


@pytest.fixture
def world(
    migrated: Path, tmp_path: Path, supporters: str, host_keys: FakeHostKeys
) -> Iterator[WebWorld]:
    path = tmp_path / "data" / "printreach.sqlite3"
    copy_database(migrated, path)
    with closing(WebWorld(path, FakeClock(), None, host_keys, SUPPORTERS=supporters)) as world:
        yield world


@pytest.fixture
def host_keys() -> FakeHostKeys:
    return FakeHostKeys()


@pytest.fixture
def person(world: WebWorld, browser: TestClient[Litestar]) -> Person:
    """Somebody without an account, and an app that is registered."""
    add_app(world, browser)
    return Person(world, browser)


@pytest.fixture
def ada(world: WebWorld, person: Person) -> Person:
    """Somebody with an account, who is signed in."""
    world.add_account(person.browser)
    person.sign_in()
    return person


@pytest.fixture
def other_browser(app: Litestar, browser: TestClient[Litestar]) -> TestClient[Litestar]:
    """A second one, at the same service."""
    client = TestClient(app, base_url=BASE_URL)
    client.headers["accept"] = "text/html,*/*;q=0.8"
    client.blocking_portal = browser.blocking_portal
    return client
