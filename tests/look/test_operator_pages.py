"""The look of the pages of operators and of supporter status."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar.testing import TestClient
from PIL import Image
from playwright.sync_api import Page, expect

from printreach.hub.detection.keys import MadeKey
from printreach.rules.accounts import Account
from printreach.rules.portal.parameters import Completion
from tests.fakes.clock import FakeClock
from tests.fakes.stripe.server import MONTHLY
from tests.look.gallery import forward
from tests.rigs.chromium import watch
from tests.rigs.looks import DESKTOP, PHONE, look_at
from tests.web.portal.people import APP, Person, add_app, link_printer
from tests.web.shop import Shop, open_shop
from tests.web.world import ADA, BASE_URL, PASSWORD, Browser, WebWorld, run, send, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

GRACE = "grace@example.org"
GROUND = (242, 245, 245)  # --bg of web/styles/tokens.css, in light
SETTINGS_IN_TWO_LINES = """() => [...document.querySelectorAll(".terms dd")].flatMap(value => {
    const tops = new Map(), walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT);
    let name = "";
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        for (const part of text.data.matchAll(/[A-Z]+_|(?<![A-Z])[A-Z]{2,}/g)) {
            if (part[0] === "PRINTREACH_") name = `${part[0]}${tops.size}`;
            const range = document.createRange();
            range.setStart(text, part.index);
            range.setEnd(text, part.index + part[0].length);
            const top = Math.round(range.getBoundingClientRect().top);
            tops.set(name, (tops.get(name) ?? new Set()).add(top));
        }
    }
    return [...tops].filter(([, places]) => places.size > 1).map(([name]) => name);
})"""
OPERATORS = {
    "operator": "",
    "operator-accounts": "/accounts",
    "operator-account": "/accounts/{ada}",
    "operator-block": "/accounts/{ada}/block",
    "operator-delete-account": "/accounts/{ada}/delete",
    "operator-invite": "/invite",
    "operator-apps": "/apps",
    "operator-app": f"/apps/{APP}",
    "operator-printers": "/printers",
    "operator-connections": "/connections",
    "operator-keys": "/keys",
    "operator-limits": "/limits",
    "operator-acts": "/acts",
}


@pytest.fixture
def office(database: Path) -> Iterator[Browser]:
    """A service in which something was done already, before its operator."""
    world = WebWorld(database, FakeClock(), SUPPORTERS="granted")
    with TestClient(world.app, base_url=BASE_URL) as browser:
        world.add_account(browser)
        world.add_account(browser, GRACE, is_admin=True)
        world.add_account(browser, "somebody.with.a.rather.long.address@printers.example.com")
        add_app(world, browser)
        for name in ("Workbench", "The big one behind the shelf in the cellar"):
            printer = link_printer(world, browser, name)
            _connect(world, browser, printer)
        sign_in(browser, GRACE)
        ada = _ada(world, browser)
        grant = {"state": "on", "until": "2027-12-31", "supporter-password": PASSWORD}
        send(browser, f"/operator/accounts/{ada}/supporter", **grant)
        limits = {"upload_bytes": "2048", "limits-password": PASSWORD}
        send(browser, f"/operator/accounts/{ada}/limits", **limits)
        for name in ("Farm camera", "The one of before"):
            _make_key(world, browser, ada, name)
        yield browser


def _connect(world: WebWorld, browser: Browser, printer_id: str) -> None:
    made = run(browser, lambda: world.services.connections.add_for_app(APP, printer_id))
    assert isinstance(made, Completion)


def _make_key(world: WebWorld, browser: Browser, account_id: str, name: str) -> None:
    keys = world.services.operating.keys
    made = run(browser, lambda: keys.make(account_id, name))
    assert isinstance(made, MadeKey)
    if name != "Farm camera":
        run(browser, lambda: keys.disable(account_id, made.key.key_id))


def _ada(world: WebWorld, browser: Browser) -> str:
    found = run(browser, lambda: world.store.read(lambda records: records.accounts.with_email(ADA)))
    assert isinstance(found, Account)
    return found.account_id


def test_the_operators_pages_are_accessible_and_fit(page: Page, office: Browser) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, office))
    seen = watch(page)
    page.goto(f"{BASE_URL}/operator/accounts?q=ada")
    ada = str(page.get_by_role("link", name=ADA).get_attribute("href")).rsplit("/", 1)[-1]
    for name, path in OPERATORS.items():
        page.goto(f"{BASE_URL}/operator" + path.format(ada=ada))
        look_at(page, name, sizes=(PHONE, DESKTOP))
    page.goto(f"{BASE_URL}/operator/keys")
    page.get_by_role("link", name="Disable").click()
    page.wait_for_url("**/disable")
    look_at(page, "operator-disable-key", sizes=(PHONE, DESKTOP))

    assert seen.errors == []


def test_names_of_settings_stay_whole_where_there_is_room(page: Page, office: Browser) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, office))
    page.set_viewport_size({"width": DESKTOP.width, "height": DESKTOP.height})
    page.goto(f"{BASE_URL}/operator")

    assert page.locator(".terms", has_text="PRINTREACH_SIGN_UP").count() == 1
    assert page.evaluate(SETTINGS_IN_TWO_LINES) == []


def test_a_bar_of_sections_shows_that_it_goes_on_beyond_its_edge(
    page: Page, office: Browser
) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, office))
    page.set_viewport_size({"width": 320, "height": 568})
    page.goto(f"{BASE_URL}/operator")
    bar = page.locator(".subsections")

    def shaded() -> tuple[bool, bool]:
        """Whether the left and the right edge differ from the ground, above the words."""
        with Image.open(io.BytesIO(bar.screenshot(scale="css"))) as shot:
            left, right = shot.getpixel((3, 2)), shot.getpixel((shot.width - 4, 2))
        return left != GROUND, right != GROUND

    assert shaded() == (False, True)
    bar.evaluate("bar => bar.scrollLeft = 40")
    assert shaded() == (True, True)
    bar.evaluate("bar => bar.scrollLeft = 10_000")
    assert shaded() == (True, False)


def test_no_key_is_shown_on_a_search_field_where_there_is_no_keyboard(
    page: Page, office: Browser
) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, office))
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto(f"{BASE_URL}/operator/accounts")
    expect(page.locator(".search kbd")).to_be_visible()

    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    expect(page.locator(".search kbd")).to_be_hidden()


@pytest.fixture
def shop(migrated: Path, tmp_path: Path) -> Iterator[Shop]:
    with open_shop(migrated, tmp_path) as opened:
        opened.world.add_account(opened.browser)
        sign_in(opened.browser)
        yield opened


def test_the_way_to_supporter_status_is_accessible_and_fits(page: Page, shop: Shop) -> None:
    page.route(f"{BASE_URL}/**", lambda route: forward(route, shop.browser))
    seen = watch(page)
    page.goto(f"{BASE_URL}/account/supporter")
    look_at(page, "supporter-offers")

    add_app(shop.world, shop.browser)
    link_printer(shop.world, shop.browser, "Workbench")
    person = Person(shop.world, shop.browser)
    person.begin()
    page.goto(BASE_URL + person.path)
    look_at(page, "portal-supporter-sold")

    ada = shop.account()
    url = run(
        shop.browser,
        lambda: shop.world.services.billing.buy(ada, MONTHLY, "/account"),
    )
    assert isinstance(url, str)
    subscription = shop.pay(url)
    page.goto(f"{BASE_URL}/account/supporter?back=paid")
    look_at(page, "supporter-paid")

    shop.fake.books.renew(subscription, paid=False)
    shop.call("invoice.payment_failed", subscription)
    page.goto(f"{BASE_URL}/account/supporter")
    look_at(page, "supporter-late")

    assert seen.errors == []
