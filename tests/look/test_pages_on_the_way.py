"""Pages that lead on to another site, in one installation."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Response
from msgspec import structs
from playwright.sync_api import Page, expect

from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.portal.parameters import Completion
from tests.fakes.clock import FakeClock
from tests.fakes.oidc_provider import CLIENT_ID, CLIENT_SECRET, fake_provider
from tests.fakes.stripe.server import MONTHLY
from tests.look.gallery import forward, stay
from tests.look.test_portal_pages import show
from tests.rigs.looks import DESKTOP, PHONE, look_at
from tests.web.portal.people import Person, add_app, link_printer
from tests.web.printers.conftest import printing
from tests.web.printers.test_file_pages import DETAILS
from tests.web.shop import Shop, open_shop
from tests.web.webhooks.webhook_days import a_mixed_day
from tests.web.world import BASE_URL, PASSWORD, run, send, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

GRACE = "grace@example.org"
BOB = "bob@example.org"
MADE_BY_GRACE = "spoolwatch"
LONG_FILE = "benchy_0.2mm_PETG_without_supports_the_second_try.gcode"
_GOES_ON_TO = re.compile(r'http-equiv="refresh" content="0;url=([^"]*)"')


@pytest.fixture(scope="module")
def shop(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """It sells supporter status, has a provider to sign in with, and lets nobody new in.

    Ada has a printer, Grace develops, and Bob is a supporter.
    """
    folder = tmp_path_factory.mktemp("shop")
    with (
        fake_provider(FakeClock()) as provider,
        open_shop(
            migrated,
            folder,
            SIGN_UP="closed",
            OIDC_ISSUER=provider.issuer,
            OIDC_CLIENT_ID=CLIENT_ID,
            OIDC_CLIENT_SECRET=CLIENT_SECRET,
            OIDC_NAME="Example",
        ) as opened,
    ):
        opened.world.add_account(opened.browser)
        opened.world.add_account(opened.browser, GRACE, is_admin=True)
        opened.world.add_account(opened.browser, BOB)
        accounts = opened.world.services.accounts
        run(opened.browser, lambda: accounts.set_supporter(BOB, granted=True))
        add_app(opened.world, opened.browser)
        yield opened


@pytest.fixture(scope="module")
def printer_id(shop: Shop) -> str:
    """Of Ada's printer, which prints."""
    found = link_printer(shop.world, shop.browser, "Workbench")
    shop.world.printers.statuses[found] = printing()
    return found


@pytest.fixture
def own_page(page: Page, shop: Shop) -> Page:
    """A page of the installation, in this process, before nobody; no other site is reached."""
    shop.browser.cookies.clear()
    page.context.clear_cookies()
    page.route("**/*", stay)
    page.route(f"{BASE_URL}/**", lambda route: forward(route, shop.browser))
    return page


def look_at_leaving(page: Page, name: str, answer: Response, button: str) -> None:
    """At a page that goes on by itself, which axe holds against it, to where its button leads."""
    [url] = _GOES_ON_TO.findall(answer.text)
    page.unroute(f"{BASE_URL}/once")
    show(page, answer)

    expect(page.get_by_role("link", name=button)).to_have_attribute("href", html.unescape(url))
    look_at(page, name, sizes=(PHONE, DESKTOP), besides={"meta-refresh"})


def look_under(page: Page, name: str, heading: str) -> None:
    """At the page that has come, which must be the one with that heading."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    look_at(page, name, sizes=(PHONE, DESKTOP))


def test_the_ways_in_that_lead_elsewhere_are_accessible_and_fit(own_page: Page, shop: Shop) -> None:
    own_page.goto(f"{BASE_URL}/signup")
    look_under(own_page, "signup-closed", "Create an account")
    way = send(shop.browser, "/signin/other", next="/")
    look_at_leaving(own_page, "to-provider", way, "Continue")


def test_the_way_to_pay_is_accessible_and_fits(own_page: Page, shop: Shop) -> None:
    sign_in(shop.browser, GRACE)
    way = send(shop.browser, "/account/supporter/pay", plan=MONTHLY)
    look_at_leaving(own_page, "leaving", way, "Continue to payment")


def test_what_a_printers_pages_ask_and_open_is_accessible_and_fits(
    own_page: Page, shop: Shop, printer_id: str
) -> None:
    sign_in(shop.browser)
    printer = f"/printers/{printer_id}"
    own_page.goto(f"{BASE_URL}{printer}/files/delete?path=gcode/{LONG_FILE}")
    look_under(own_page, "delete-file", f"Delete {LONG_FILE}?")
    earlier = shop.world.printers.statuses[printer_id]
    shop.world.printers.statuses[printer_id] = printing(file_name=LONG_FILE)
    own_page.reload()
    look_under(own_page, "file-in-use", f"{LONG_FILE} is being printed")
    shop.world.printers.statuses[printer_id] = earlier
    path = f"gcode/{LONG_FILE}"
    shop.world.printers.answers["/files/details"] = structs.replace(DETAILS, virtual_path=path)
    sent, origin = {"file": (LONG_FILE, b"G28")}, {"origin": BASE_URL}
    show(own_page, shop.browser.post(f"{printer}/files", files=sent, headers=origin))
    look_under(own_page, "replace-file", f"Replace {LONG_FILE}?")
    show(own_page, send(shop.browser, f"{printer}/heat", bed="65"))
    look_under(own_page, "heat", "Heat the bed from 60° to 65°?")
    shop.world.printers.answers["/pause"] = PrinterRefusal(786, "No print runs.")
    show(own_page, send(shop.browser, f"{printer}/pause"))
    look_under(own_page, "printer-refused", "The printer didn\u2019t do it")
    way = send(shop.browser, f"{printer}/open")
    look_at_leaving(own_page, "open-printer", way, "Open OctoPrint")


@pytest.mark.usefixtures("printer_id")
def test_the_portals_way_to_pay_is_accessible_and_fits(own_page: Page, shop: Shop) -> None:
    person = Person(shop.world, shop.browser)
    person.sign_in()
    person.begin()
    way = person.send("pay", plan=MONTHLY)
    look_at_leaving(own_page, "appportal-paying", way, "Continue to payment")


def test_the_end_of_a_place_for_notifications_is_asked_about_accessibly(
    own_page: Page, shop: Shop
) -> None:
    sign_in(shop.browser)
    send(shop.browser, "/notifications/add", way="ntfy", topic="t", server="", token="")
    own_page.goto(f"{BASE_URL}/notifications")
    own_page.get_by_role("link", name="Remove").click()

    look_under(own_page, "notifications-remove", "Remove ntfy?")


def test_an_apps_calls_are_accessible_and_fit(own_page: Page, shop: Shop) -> None:
    sign_in(shop.browser, GRACE)
    fields = {"name": "Spool watch", "app-id": MADE_BY_GRACE, "other-logos": "yes"}
    fields["password"] = PASSWORD
    assert send(shop.browser, "/developer/register", **fields).status_code == 303
    path = f"{BASE_URL}/developer/apps/{MADE_BY_GRACE}/deliveries"
    own_page.goto(path)
    own_page.get_by_text("No calls yet.").wait_for()
    look_at(own_page, "developer-no-deliveries", sizes=(PHONE,))

    printer_id = link_printer(shop.world, shop.browser, "Bobs", email=BOB)
    connections = shop.world.services.connections
    made = run(shop.browser, lambda: connections.add_for_app(MADE_BY_GRACE, printer_id))
    assert isinstance(made, Completion)
    a_mixed_day(shop.world, shop.browser, made.connection_id, printer_id)
    own_page.goto(path)
    own_page.get_by_text("Failed, trying again").wait_for()
    look_at(own_page, "developer-deliveries")
