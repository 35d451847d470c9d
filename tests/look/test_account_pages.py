"""The look of the account pages."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from playwright.sync_api import Page

from printreach.hub.print_mails import mail_destination
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import look_at
from tests.web.world import ADA, BASE_URL, PASSWORD, WebWorld, run, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FOR_STRANGERS = {
    "front": "/",
    "sign-in": "/signin",
    "sign-up": "/signup",
    "reset": "/reset",
}
FOR_ONE = {
    "account": "/account",
    "account-security": "/account/security",
    "account-delete": "/account/delete",
    "account-presets": "/account/presets",
    "account-preset": "/account/presets/change?name=PETG",
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
def world(database: Path) -> WebWorld:
    """An installation in which nobody has an account."""
    return WebWorld(database, FakeClock())


@pytest.fixture
def client(world: WebWorld) -> Iterator[TestClient[Litestar]]:
    with TestClient(world.app, base_url=BASE_URL) as opened:
        world.add_account(opened)
        world.add_account(opened, "operator@example.org", is_admin=True)
        yield opened


@pytest.fixture
def own_page(page: Page, client: TestClient[Litestar]) -> Page:
    """A page of the installation, in this process."""
    # The client holds the cookies; those of a test before would stand in for them.
    page.context.clear_cookies()
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
    page.context.clear_cookies()
    with TestClient(world.app, base_url=BASE_URL) as opened:
        page.route(f"{BASE_URL}/**", lambda route: forward(route, opened))
        page.goto(BASE_URL + NOT_SET_UP[name])

        look_at(page, name)


def test_a_page_that_sends_somebody_to_the_operator_for_a_link_is_accessible_and_fits(
    own_page: Page,
) -> None:
    own_page.goto(f"{BASE_URL}/signup")
    own_page.get_by_label("E-mail").fill("new@example.org")
    own_page.get_by_label("Password").fill(PASSWORD)
    own_page.get_by_role("button", name="Create account").click()
    own_page.wait_for_url("**/signup/sent*")
    look_at(own_page, "link-in-log-sign-up")
    own_page.goto(f"{BASE_URL}/reset")
    look_at(own_page, "link-in-log-before")
    own_page.get_by_label("E-mail").fill("new@example.org")
    own_page.get_by_role("button", name="Create the link").click()
    own_page.wait_for_url("**/reset/sent*")
    look_at(own_page, "link-in-log-reset")


def test_notifications_without_a_mail_server_are_accessible_and_fit(
    own_page: Page, world: WebWorld, client: TestClient[Litestar]
) -> None:
    sign_in(client)
    [ada] = [one for one in run(client, world.services.accounts.all) if one.email == ADA]
    place = mail_destination(secrets.token_bytes, ada.account_id, world.clock.now())
    run(client, lambda: world.store.write(lambda it: it.notifications.add_destination(place)))
    own_page.goto(f"{BASE_URL}/notifications")
    look_at(own_page, "notifications-no-mail-server")
    own_page.goto(f"{BASE_URL}/notifications/add")
    look_at(own_page, "notifications-ways-no-mail-server")


@pytest.mark.parametrize("name", FOR_ONE)
def test_a_page_of_ones_own_is_accessible_and_fits(
    own_page: Page, client: TestClient[Litestar], name: str
) -> None:
    sign_in(client)
    own_page.goto(BASE_URL + FOR_ONE[name])

    look_at(own_page, name)


@pytest.mark.parametrize("path", ["/account", "/account/security", "/notifications", "/operator"])
def test_the_cards_of_a_page_fill_a_wide_window(
    own_page: Page, client: TestClient[Litestar], path: str
) -> None:
    assert sign_in(client, "operator@example.org").status_code == 303
    own_page.set_viewport_size({"width": 1440, "height": 900})
    own_page.goto(BASE_URL + path)
    boxes = [each.bounding_box() for each in own_page.locator("main .card, main .note").all()]
    found = [box for box in boxes if box is not None]

    assert min(box["x"] for box in found) < 50
    assert max(box["x"] + box["width"] for box in found) > 1000
    assert all(box["width"] < 700 for box in found), "lines are short enough to read"
