"""People open a printer in a browser: its owner, and guests whom it is shared with.

Once at hosts of their own, and once at ports, as the README has it for a Raspberry Pi at home.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.rigs.calls import call
from tests.rigs.chromium import chromium_for_many, fresh_profile
from tests.rigs.looks import DESKTOP, PHONE, look_at
from tests.rigs.peers import LOOPBACK_NAMES
from tests.rigs.proxies import DOMAIN
from tests.rigs.service import (
    OWNER,
    PASSWORD,
    LinkedPrinter,
    Service,
    service_at_home,
    service_on_localhost,
)
from tests.rigs.sites import phone, press
from tests.rigs.straight import goes_straight
from tests.rigs.waiting import TIMEOUT_S, free_ports, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module", params=["hosts", "ports"])
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A service at home."""
    if goes_straight():
        pytest.skip("ways through the relay")
    folder = tmp_path_factory.mktemp("opening")
    at_ports = request.param == "ports"
    with (
        service_at_home(folder, DOMAIN, free_ports(8)) if at_ports else service_on_localhost(folder)
    ) as running:
        yield running


@pytest.fixture(scope="module")
def workbench(home: Service) -> Iterator[LinkedPrinter]:
    names = LOOPBACK_NAMES
    with home.printer("Workbench", "", platform="simulated", env=names) as linked:
        yield linked


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with chromium_for_many(resolve=f"*{DOMAIN}") as running:
        yield running


@pytest.fixture
def browser(chromium: Browser) -> Iterator[BrowserContext]:
    """The owner's."""
    with fresh_profile(chromium) as context:
        yield context


@pytest.fixture
def page(home: Service, workbench: LinkedPrinter, browser: BrowserContext) -> Iterator[Page]:
    """The owner's phone, signed in."""
    with phone(browser) as page:
        sign_in(page, f"{home.base_url}/printers/{workbench.id}")
        yield page


@pytest.fixture
def guest(chromium: Browser) -> Iterator[Page]:
    """Somebody's phone."""
    with fresh_profile(chromium) as context, phone(context) as page:
        yield page


def sign_in(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(url)


def shows_printer(page: Page) -> None:
    """Its own page, which has asked the printer for what it does."""
    expect(page.get_by_role("heading", name="Simulated printer")).to_be_visible()
    expect(page.get_by_text(re.compile("idle", re.IGNORECASE)).first).to_be_visible()
    assert urlsplit(page.url).path == "/"
    assert urlsplit(page.url).query == ""


def open_from_dashboard(page: Page) -> Page:
    with page.expect_popup() as opened:
        page.get_by_role("button", name=re.compile("^Open ")).first.click()
    shows_printer(opened.value)
    return opened.value


def share(page: Page, home: Service) -> dict[str, str]:
    """Share the printer by the page's form; what is shown once, by its label."""
    page.goto(f"{home.base_url}/connections/share")
    page.get_by_label("own web page").check()
    press(page, "Share")
    expect(page.get_by_role("heading", name="Your printer is shared")).to_be_visible()
    shown = page.locator("dd[data-label]")
    return {str(one.get_attribute("data-label")): one.inner_text() for one in shown.all()}


def end_shown_share(page: Page) -> None:
    """The one whose secrets the page shows."""
    press(page, "End this connection")
    press(page, "End connection")
    expect(page.get_by_text("The connection has ended.")).to_be_visible()


def test_the_owner_opens_the_printers_own_page_on_a_phone(page: Page) -> None:
    opened = open_from_dashboard(page)

    opened.reload()
    shows_printer(opened)


def test_a_bookmark_whose_cookie_is_over_leads_through_the_dashboard_back_to_the_printer(
    page: Page, browser: BrowserContext
) -> None:
    opened = open_from_dashboard(page)
    bookmark = opened.url
    browser.clear_cookies(name=re.compile("printreach_own"))

    opened.goto(bookmark)
    expect(opened.get_by_role("heading", name="Sign in to open this printer")).to_be_visible()
    assert " app" not in opened.inner_text("body").lower()
    press(opened, "Sign in and open it")
    expect(opened.get_by_role("heading", name="Open Workbench")).to_be_visible()
    look_at(opened, "ask-to-open", sizes=[PHONE, DESKTOP])
    opened.get_by_role("button", name=re.compile("^Open ")).click()

    shows_printer(opened)


def test_a_signed_out_person_gets_from_the_bookmark_to_the_printer_too(
    home: Service, page: Page, guest: Page
) -> None:
    opened = open_from_dashboard(page)

    guest.goto(opened.url)
    press(guest, "Sign in and open it")
    expect(guest).to_have_url(re.compile(re.escape(f"{home.base_url}/signin?next=/printers/")))
    guest.get_by_label("E-mail").fill(OWNER)
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Sign in", exact=True).click()
    guest.get_by_role("button", name=re.compile("^Open ")).click()

    shows_printer(guest)


def test_a_link_that_was_used_leads_to_the_dashboard(
    home: Service, workbench: LinkedPrinter, guest: Page
) -> None:
    link = home.own_link(workbench)
    guest.goto(link)
    shows_printer(guest)

    guest.goto(link)

    expect(guest.get_by_text("This link was for one use")).to_be_visible()
    expect(guest.get_by_role("link", name="Sign in and open it")).to_be_visible()


def test_a_guest_opens_a_shared_printer_by_its_password(
    home: Service, page: Page, guest: Page
) -> None:
    told = share(page, home)
    look_at(page, "shared-once", sizes=[PHONE, DESKTOP])

    guest.goto(told["Address"])
    guest.get_by_label("User name").fill(told["User name"])
    guest.get_by_label("Password").fill("wrong")
    press(guest, "Open the printer")
    expect(guest.get_by_text("The user name or password is wrong.")).to_be_visible()
    guest.get_by_label("User name").fill(told["User name"])
    guest.get_by_label("Password").fill(told["Password"])
    press(guest, "Open the printer")

    shows_printer(guest)
    guest.reload()
    shows_printer(guest)


def test_a_guest_opens_a_shared_printer_by_its_link_until_the_share_ends(
    home: Service, page: Page, guest: Page
) -> None:
    told = share(page, home)

    guest.goto(told["Link"])
    shows_printer(guest)
    assert told["Bearer token"] not in guest.url
    end_shown_share(page)

    def is_over() -> bool:
        guest.reload()
        return guest.get_by_role("heading", name="This printer is no longer shared").is_visible()

    wait_for("the end of the share", is_over, TIMEOUT_S)


def test_a_program_uses_a_shared_printer_as_before(home: Service, page: Page) -> None:
    told = share(page, home)
    way = home.way_at(urlsplit(told["Address"]).netloc)

    assert call(way, "/").status == 606
    bearer = ("Authorization", f"Bearer {told['Bearer token']}")
    assert call(way.proving(bearer), "/").status == 200


def test_a_person_at_the_address_of_an_app_is_told_what_it_is_for(
    home: Service, workbench: LinkedPrinter, guest: Page
) -> None:
    connection = home.connect(workbench)

    guest.goto(connection.url)

    expect(guest.get_by_role("heading", name="This address is for an app")).to_be_visible()
    press(guest, "Go to my printers")
    expect(guest).to_have_url(re.compile(re.escape(home.base_url)))
