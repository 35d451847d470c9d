"""Two printers and a browser that is signed in to both; the page of one is hostile."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Response

from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer
from tests.rigs.chromium import chromium, close_page
from tests.rigs.peers import LOOPBACK_NAMES
from tests.rigs.proxies import DOMAIN, service_behind
from tests.rigs.service import Service, service, service_at_home
from tests.rigs.waiting import TIMEOUT_S, free_port, free_ports, wait_for

REFUSED = 606
AGENT_IS_AWAY = 601


@dataclass(frozen=True)
class Home:
    """A printer whose page the browser has opened by a single-use link. url: of its own- host."""

    printer: BehaviourPrinter
    url: str

    def page(self, script: str, **headers: str) -> str:
        """The address of a page of this printer with that script."""
        fields = [
            ("header", f"{name.replace('_', '-')}:{value}") for name, value in headers.items()
        ]
        body = f"<!doctype html><title>hostile</title><script>{script}</script>"
        query = [("body", body), ("header", "Content-Type:text/html"), *fields]
        return f"{self.url}/chosen?{urlencode(query)}"


@contextmanager
def on_plain_http(folder: Path) -> Iterator[Service]:
    """A service without TLS, its hosts below a domain of its own."""
    port = free_port()
    env = {
        "PRINTREACH_BASE_URL": f"http://{DOMAIN}:{port}",
        "PRINTREACH_TUNNEL_DOMAIN": f"{DOMAIN}:{port}",
    }
    with service(folder, port=port, env=env) as running:
        yield running


@contextmanager
def relay_of(kind: str, folder: Path) -> Iterator[Service]:
    """A service on plain http, one behind Caddy (https), or one where connections have ports."""
    running = {
        "http": lambda: on_plain_http(folder),
        "https": lambda: service_behind("caddy", folder),
        "ports": lambda: service_at_home(folder, DOMAIN, free_ports(4)),
    }
    with running[kind]() as up:
        yield up


@pytest.fixture(scope="module")
def browser(relay: Service) -> Iterator[BrowserContext]:
    """One browser, for the whole time."""
    with chromium(relay.folder / "profile", resolve=f"*{DOMAIN}") as running:
        yield running


@contextmanager
def a_home(relay: Service, browser: BrowserContext, name: str) -> Iterator[Home]:
    """A printer that the browser's owner has opened."""
    with (
        behaviour_printer(relay.folder, name=f"printer-of-{name}") as printer,
        relay.printer(name, printer.url, env=LOOPBACK_NAMES) as linked,
    ):
        link = relay.own_link(linked)
        parts = urlsplit(link)
        url = f"{parts.scheme}://{parts.netloc}"
        page = browser.new_page()
        page.goto(link)
        page.wait_for_url(f"{url}/")
        close_page(page)
        yield Home(printer, url)


@pytest.fixture(scope="module")
def victim(relay: Service, browser: BrowserContext) -> Iterator[Home]:
    """The printer that is attacked."""
    with a_home(relay, browser, "victim") as home:
        yield home


@pytest.fixture(scope="module")
def evil(relay: Service, browser: BrowserContext) -> Iterator[Home]:
    """The printer whose page is hostile."""
    with a_home(relay, browser, "evil") as home:
        yield home


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """A tab."""
    opened = browser.new_page()
    yield opened
    close_page(opened)


def visit(page: Page, url: str) -> Response:
    """A page of a printer, by a link of its own pages.

    Where the machine stood still, its agent may be away for a moment.
    """
    parts = urlsplit(url)

    def look() -> Response | None:
        answer = page.goto(url, referer=f"{parts.scheme}://{parts.netloc}/")
        return answer if answer is not None and answer.status < AGENT_IS_AWAY else None

    return wait_for(url, look, TIMEOUT_S)


def attack(page: Page, evil: Home, script: str, target: str) -> int | None:
    """Let the hostile page run that; what the target answered its first request with.

    None where the browser gave the request up for another reason: nobody let the page ask.
    """
    with page.expect_request(lambda request: request.url.startswith(target)) as asked:
        visit(page, evil.page(script))
    answer = asked.value.response()  # waits until it is over
    return answer.status if answer is not None else None
