"""The portal as its people use it: a service with an app, and what a browser does in it."""

import re
import sqlite3
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, Route

from tests.rigs.service import APP, OWNER, PASSWORD, Service
from tests.rigs.sites import press
from tests.rigs.waiting import TIMEOUT_S, wait_for

RETURN_URL = "https://app.example.com/done"
LOGO_URL = "https://cdn.example.com/logo.svg"
LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">'
    '<circle cx="50" cy="50" r="50" fill="#e8a33d"/></svg>'
)
NOWHERE = "127.0.0.1:9"
"""The portal asks the agent for nothing that its printer would have to answer."""


@dataclass(frozen=True)
class Shop:
    """A service, and an account that has what its name says."""

    running: Service

    def add_account(self, email: str) -> None:
        self.running.admin("account", "add", email, stdin=PASSWORD + "\n")

    def open(self, page: Page, **query: str) -> None:
        """Open the portal as the app does."""
        asked = {"appId": APP, "returnUrl": RETURN_URL, "appLogoUrl": LOGO_URL, **query}
        page.goto(f"{self.running.base_url}/appportal/v1?{urlencode(asked)}")

    def make_old(self) -> None:
        """An hour passes for every flow."""
        data = self.running.folder / "service-data" / "printreach.sqlite3"
        with sqlite3.connect(data) as database:
            database.execute("UPDATE portal_flows SET begun_at = datetime(begun_at, '-1 hour')")
        database.close()


def answer_as_app(route: Route) -> None:
    route.fulfill(content_type="text/html", body="<h1>Back in the app</h1>")


def answer_with_logo(route: Route) -> None:
    assert "referer" not in route.request.headers
    route.fulfill(content_type="image/svg+xml", body=LOGO)


def sign_in(page: Page, email: str = OWNER, password: str = PASSWORD) -> None:
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def come_as(page: Page, shop: Shop, email: str = OWNER, **query: str) -> None:
    """Open the portal and sign in on the way."""
    shop.open(page, **query)
    press(page, "Continue")
    press(page, "Sign in")
    sign_in(page, email)


def heard(page: Page) -> dict[str, str]:
    """Return the app's tokens, once the browser has come back to it by itself."""
    page.wait_for_url(RETURN_URL + "?*")
    return {name: value for name, [value] in parse_qs(urlsplit(page.url).query).items()}


def mailed_link(shop: Shop, email: str) -> str:
    """The link in the mail that the log holds."""
    pattern = re.compile(rf"mail for {re.escape(email)} .*?(http://\S+/confirm\?\S+)\s", re.DOTALL)

    def found() -> str | None:
        match = pattern.search(shop.running.program.log_since((0, 0)))
        return match[1] if match else None

    return wait_for(f"a mail to {email}", found, TIMEOUT_S)
