"""Accounts' pages, as they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page

from printreach.backends.sql.engine import prepare_file
from printreach.backends.sql.migrate import migrate
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.world import BASE_URL, WebWorld, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FOR_STRANGERS = {
    "front": "/",
    "sign-in": "/signin",
    "sign-up": "/signup",
    "reset": "/reset",
}
FOR_ONE = {
    "account": "/account",
    "link": "/link",
    "link-code": "/link?code=K7QF4MXY",
    "no-printers": "/printers",
}

NOT_SET_UP = {
    "not-set-up": "/",
    "not-set-up-sign-in": "/signin",
    "not-set-up-sign-up": "/signup",
}


@pytest.fixture
def world(tmp_path: Path) -> WebWorld:
    """An installation in which nobody has an account."""
    path = tmp_path / "data" / "printreach.sqlite3"
    prepare_file(path)
    migrate(path)
    return WebWorld(path, FakeClock())


@pytest.fixture
def client(world: WebWorld) -> Iterator[TestClient[Litestar]]:
    with TestClient(world.app, base_url=BASE_URL) as opened:
        world.add_account(opened)
        world.add_account(opened, "operator@example.org", is_admin=True)
        yield opened


@pytest.fixture
def own_page(page: Page, client: TestClient[Litestar]) -> Page:
    """A page of the installation, in this process."""
    page.route(f"{BASE_URL}/**", lambda route: forward(route, client))
    return page


@pytest.mark.parametrize("name", FOR_STRANGERS)
def test_a_strangers_page_is_accessible_and_fits(own_page: Page, name: str) -> None:
    seen = watch(own_page)
    own_page.goto(BASE_URL + FOR_STRANGERS[name])

    look_at(own_page, name)

    assert seen.errors == []


@pytest.mark.parametrize("name", NOT_SET_UP)
def test_a_page_of_a_service_without_an_operator_is_accessible_and_fits(
    page: Page, world: WebWorld, name: str
) -> None:
    with TestClient(world.app, base_url=BASE_URL) as opened:
        page.route(f"{BASE_URL}/**", lambda route: forward(route, opened))
        page.goto(BASE_URL + NOT_SET_UP[name])

        look_at(page, name)


@pytest.mark.parametrize("name", FOR_ONE)
def test_a_page_of_ones_own_is_accessible_and_fits(
    own_page: Page, client: TestClient[Litestar], name: str
) -> None:
    sign_in(client)
    own_page.goto(BASE_URL + FOR_ONE[name])

    look_at(own_page, name)
