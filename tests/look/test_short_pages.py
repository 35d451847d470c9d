"""The look of short pages, such as those that ask for confirmation."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Response
from litestar.testing import TestClient
from playwright.sync_api import Page, expect

from printreach.hub.connections.live_links import LiveWish
from printreach.hub.detection.keys import MadeKey
from printreach.hub.print_mails import stop_token
from printreach.rules.accounts import Account
from printreach.rules.connections.live_links import LiveLink
from printreach.rules.portal.parameters import Completion
from tests.fakes.clock import FakeClock
from tests.look.gallery import forward
from tests.look.test_portal_pages import show
from tests.rigs.chromium import watch
from tests.rigs.looks import DESKTOP, PHONE, look_at
from tests.web.portal.people import APP, add_app, link_printer
from tests.web.world import (
    ADA,
    BASE_URL,
    PASSWORD,
    Browser,
    WebWorld,
    run,
    send,
    send_and_follow,
    sign_in,
)

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NEW = "somebody.new@example.org"
BOTH = (PHONE, DESKTOP)


class Home:
    """A service that Ada operates, with a printer, an app, and one of each that can be ended."""

    def __init__(self, world: WebWorld, browser: Browser) -> None:
        self.world, self.browser = world, browser
        self.ada: Account = world.add_account(browser, is_admin=True)
        add_app(world, browser)
        self.printer_id = link_printer(world, browser, "Workbench")
        connection = run(
            browser, lambda: world.services.connections.add_for_app(APP, self.printer_id)
        )
        live = run(
            browser,
            lambda: world.services.live_links.make(
                self.ada.account_id, self.printer_id, LiveWish()
            ),
        )
        key = run(
            browser, lambda: world.services.operating.keys.make(self.ada.account_id, "Camera")
        )
        assert isinstance(connection, Completion)
        assert isinstance(live, LiveLink)
        assert isinstance(key, MadeKey)
        self.connection_id, self.live_id = connection.connection_id, live.live_id
        self.key_id = key.key.key_id

    def link_in_mail(self) -> str:
        return self.world.mailer.link().removeprefix(BASE_URL)


ASKING = {
    "operator-register": "/operator/register",
    "operator-remove-app": f"/operator/apps/{APP}/remove",
    "operator-remove-printer": "/operator/printers/{printer}/remove",
    "operator-end-connection": "/operator/connections/{connection}/end",
    "end-connection": "/connections/{connection}/end",
    "end-live-link": "/connections/live/{live}/end",
    "remove-printer": "/printers/{printer}/remove",
    "disable-key": "/developer/keys/{key}/disable",
}


@pytest.fixture
def home(database: Path) -> Iterator[Home]:
    world = WebWorld(database, FakeClock(), SMTP_URL="smtp://mail.example")
    with TestClient(world.app, base_url=BASE_URL) as browser:
        browser.headers["accept"] = "text/html"
        yield Home(world, browser)


@pytest.fixture
def own_page(page: Page, home: Home) -> Page:
    # The client holds the cookies; those of a test before would stand in for them.
    page.context.clear_cookies()
    page.route(f"{BASE_URL}/**", lambda route: forward(route, home.browser))
    return page


def test_pages_that_ask_are_accessible_and_fit(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    seen = watch(own_page)
    for name, path in ASKING.items():
        own_page.goto(
            BASE_URL
            + path.format(
                printer=home.printer_id,
                connection=home.connection_id,
                live=home.live_id,
                key=home.key_id,
            )
        )
        look_at(own_page, name, sizes=BOTH)

    assert seen.errors == []


def test_an_access_token_is_shown_and_ended_accessibly(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    fields = {"scope-events:read": "yes", "password": PASSWORD, "name": "mine"}
    shown = send(home.browser, "/account/tokens", **fields).headers["location"]
    own_page.goto(BASE_URL + shown)
    look_at(own_page, "token-once", sizes=BOTH)
    own_page.goto(BASE_URL + shown.removesuffix("/secret") + "/end")
    look_at(own_page, "end-token", sizes=BOTH)


def test_the_pages_around_a_mail_are_accessible_and_fit(own_page: Page, home: Home) -> None:
    fields = {"email": NEW, "password": PASSWORD}
    look(own_page, "mail-sent", send_and_follow(home.browser, "/signup", **fields))
    unconfirmed = sign_in(home.browser, NEW).headers["location"]
    look(own_page, "unconfirmed", home.browser.get(unconfirmed))
    open_mail(own_page, home, "Confirm your address")
    look_at(own_page, "confirm", sizes=BOTH)
    send(home.browser, "/reset", email=ADA)
    open_mail(own_page, home, "Set a new password")
    look_at(own_page, "new-password", sizes=BOTH)


def test_the_link_to_a_new_address_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    fields = {"new-mail": "other@example.org", "mail-password": PASSWORD}
    send(home.browser, "/account/mail", **fields)
    open_mail(own_page, home, "Confirm your new address")
    look_at(own_page, "confirm-mail", sizes=BOTH)


def test_the_end_of_mails_about_prints_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    token = stop_token(home.world.services.stops_mails.sealer, "a place")
    own_page.goto(f"{BASE_URL}/notifications/stop?token={token}")
    look_at(own_page, "notifications-stop", sizes=BOTH)
    own_page.get_by_role("button", name="Stop these e-mails").click()
    expect(own_page.get_by_role("heading", level=1)).to_have_text(
        "You\N{RIGHT SINGLE QUOTATION MARK}re unsubscribed"
    )
    look_at(own_page, "notifications-stopped", sizes=BOTH)


def test_the_end_of_an_account_is_accessible_and_fits(own_page: Page, home: Home) -> None:
    sign_in(home.browser)
    gone = send_and_follow(home.browser, "/account/delete", **{"delete-password": PASSWORD})

    look(own_page, "deleted", gone)


def open_mail(page: Page, home: Home, title: str) -> None:
    """Follow the link of the last mail."""
    page.goto(BASE_URL + home.link_in_mail())
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def look(page: Page, name: str, answer: Response) -> None:
    """At the answer to a form."""
    page.unroute(f"{BASE_URL}/once")
    show(page, answer)
    look_at(page, name, sizes=BOTH)
