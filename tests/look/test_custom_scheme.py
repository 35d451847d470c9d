"""Returning to an app by a scheme of its own, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from litestar.testing import TestClient
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.fakes.clock import FakeClock
from tests.look.gallery import forward, until
from tests.web.portal.people import APP_NAME, Person, add_app, connections, link_printer
from tests.web.world import BASE_URL, WebWorld

pytestmark = [pytest.mark.slow, pytest.mark.browser]

RETURN_URL = "lark://done/7?record=7&x=%26#tab"
SECRETS = ("authBearerToken", "authBasicHttpPassword", "appApiToken")


def is_own(url: str) -> bool:
    """Whether an address is one of the app's own scheme."""
    return url.startswith("lark:")


class Asked:
    """Where the browser was told to go, as it says itself: fragments included."""

    def __init__(self, session: CDPSession) -> None:
        self.urls: list[str] = []
        session.on("Page.frameRequestedNavigation", self._note)
        session.send("Page.enable")

    def _note(self, event: dict[str, str]) -> None:
        self.urls.append(event["url"])

    def after(self, page: Page, press: Locator) -> str:
        """The address of the app's own scheme to which the browser goes after a press."""
        self.urls.clear()
        press.click()
        until(page, lambda: any(map(is_own, self.urls)))
        return next(filter(is_own, self.urls))


@pytest.fixture
def person(database: Path) -> Iterator[Person]:
    """Ada, with a printer, before an app of a scheme of its own."""
    world = WebWorld(database, FakeClock())
    with TestClient(world.app, base_url=BASE_URL) as browser:
        add_app(world, browser, "lark://done")
        world.add_account(browser)
        ada = Person(world, browser)
        ada.sign_in()
        link_printer(world, browser, "Workbench & Söhne")
        ada.begin(returnUrl=RETURN_URL)
        yield ada


@pytest.fixture
def asked(page: Page, person: Person) -> Asked:
    """The browser before the last question."""
    page.route(f"{BASE_URL}/**", lambda route: forward(route, person.browser))
    page.goto(BASE_URL + person.path)
    return Asked(page.context.new_cdp_session(page))


def parameters(url: str) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}


def test_the_browser_hands_the_app_every_parameter_by_itself(
    page: Page, person: Person, asked: Asked
) -> None:
    url = asked.after(page, page.get_by_role("button", name=f"Allow {APP_NAME}"))

    told = parameters(url)
    [connection] = connections(person.world, person.browser)
    assert url.startswith("lark://done/7?record=7&x=%26&success=true&")
    assert urlsplit(url).fragment == "tab"
    assert (told["id"], told["printername"]) == (connection.connection_id, "Workbench & Söhne")
    assert told["url"] == f"https://{connection.unique_id}.tunnel.example"
    assert all(told[name] for name in SECRETS)


def test_where_no_app_takes_it_the_page_stays_and_has_a_button(
    page: Page, person: Person, asked: Asked
) -> None:
    url = asked.after(page, page.get_by_role("button", name=f"Allow {APP_NAME}"))

    expect(page.get_by_role("heading", level=1)).to_have_text("Done")
    back = page.get_by_role("link", name=f"Go back to {APP_NAME}")
    # Not pressed: a busy Chromium now and then drops a second way to what has just led nowhere.
    assert back.evaluate("link => link.href") == url


def test_the_secrets_are_nowhere_once_the_page_is_left(
    page: Page, person: Person, asked: Asked
) -> None:
    told = parameters(asked.after(page, page.get_by_role("button", name=f"Allow {APP_NAME}")))

    page.goto(BASE_URL + person.path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Already done")
    for _ in range(2):
        assert [name for name in SECRETS if told[name] in page.content()] == []
        page.reload()


def test_a_refusal_returns_to_it_too(page: Page, person: Person, asked: Asked) -> None:
    url = asked.after(page, page.get_by_role("button", name="Don\u2019t allow"))

    assert set(parameters(url)) == {"record", "x", "success", "error", "errorDescription"}
    assert parameters(url)["error"] == "access_denied"
