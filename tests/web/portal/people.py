"""A person in the portal, and the answers that an app gets."""

import html
import re
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from httpx import Response

from printreach.rules.accounts import SupporterPolicy
from printreach.rules.apps import App
from printreach.rules.connections import Connection
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.printers import Printer
from printreach.store.relay import SqlAgents
from printreach.store.relay.grants import SqlGrants
from tests.fakes.grants import INTERNAL_KEY
from tests.web.world import ADA, Browser, WebWorld, run, send, sign_in

APP = "layerlark"
APP_NAME = "Layerlark"
RETURN_URL = "https://layerlark.example/done"
START = "/appportal/v1"
NODE = "n1"
ACCESS_DENIED = {
    "success": "false",
    "error": "access_denied",
    "errorDescription": "The user did not allow access.",
}

_TOKEN = re.compile(r'name="token" value="([0-9a-f]{64})"')
_BUTTON = re.compile(r'<a class="button tall" href="([^"]+)">\s*<span>([^<]+)</span>')
_REFRESH = re.compile(r'http-equiv="refresh" content="1;url=([^"]*)"')


@dataclass
class Person:
    """One browser in the portal. path: of the flow it is in."""

    world: WebWorld
    browser: Browser
    path: str = ""

    def start(self, **query: str) -> Response:
        """What the app opens."""
        return self.browser.get(START, params={"appId": APP, "returnUrl": RETURN_URL, **query})

    def begin(self, **query: str) -> Response:
        """Continue on the first page; the answer is the flow's page."""
        asked = urlencode({"appId": APP, "returnUrl": RETURN_URL, **query})
        answer = send(self.browser, f"{START}?{asked}")
        assert answer.status_code == 303, answer.text
        self.path = answer.headers["location"]
        return self.look()

    def look(self, query: str = "") -> Response:
        """Load the flow's page, as a reload does."""
        return follow(self.browser, self.browser.get(self.path + query, follow_redirects=False))

    def address(self) -> str:
        """Return the path at which the flow's page is shown: the choice has one of its own."""
        answer = self.browser.get(self.path, follow_redirects=False)
        return str(answer.headers.get("location", self.path))

    def press(self, act: str, **fields: str) -> Response:
        """Send a form of the page, and follow to the step after it."""
        return follow(self.browser, self.send(act, **fields))

    def send(self, act: str, **fields: str) -> Response:
        """Send a form of the page."""
        given = {"token": self.token(), **fields}
        return send(self.browser, f"{self.path}/{act}", **given)

    def token(self) -> str:
        found = _TOKEN.search(self.look().text)
        return found[1] if found else ""

    def allow(self, printer_id: str) -> Response:
        return self.press("allow", printer=printer_id)

    def sign_in(self, email: str = ADA) -> Response:
        return sign_in(self.browser, email=email, next=self.path or "/")


def follow(browser: Browser, answer: Response) -> Response:
    return browser.get(answer.headers["location"]) if answer.status_code == 303 else answer


def told(answer: Response) -> dict[str, str]:
    """The parameters of the completion URL that a page goes on to by itself."""
    return {name: value for name, [value] in parse_qs(urlsplit(way_back(answer)).query).items()}


def offered(answer: Response) -> tuple[str, dict[str, str]]:
    """Where a page leads by a button and not by itself: its words, and the parameters."""
    assert _REFRESH.search(answer.text) is None
    found = _BUTTON.search(answer.text)
    assert found is not None, answer.text
    query = urlsplit(html.unescape(found[1])).query
    return html.unescape(found[2]), {name: value for name, [value] in parse_qs(query).items()}


def way_back(answer: Response) -> str:
    found = _REFRESH.search(answer.text)
    assert found is not None, answer.text
    url = html.unescape(found[1])
    assert f'href="{found[1]}"' in answer.text  # the button leads to the same place
    return url


def add_app(
    world: WebWorld,
    browser: Browser,
    *prefixes: str,
    name: str = APP_NAME,
    returns_to_lan: bool = False,
) -> None:
    """Register the app."""
    app = App(
        app_id=APP,
        name=name,
        return_prefixes=prefixes or (RETURN_URL,),
        created_at=world.clock.now(),
        returns_to_lan=returns_to_lan,
    )
    run(browser, lambda: world.store.write(lambda records: records.apps.add(app)))


def show_code(world: WebWorld, browser: Browser, key: bytes = b"k" * 32) -> str:
    """The link code that an agent shows."""
    agents = SqlAgents(world.store, secrets.token_bytes)
    printer_id = printer_id_of(key)
    offer = run(browser, lambda: agents.offer_link_code(printer_id, key, world.clock.now()))
    return offer.code


def link_printer(
    world: WebWorld, browser: Browser, name: str, *, email: str = ADA, platform: str = "octoprint"
) -> str:
    """A connected printer on an account; its id."""
    agents, at = SqlAgents(world.store, secrets.token_bytes), world.clock.now()
    code = show_code(world, browser, name.encode().ljust(32)[:32])

    async def link() -> str:
        printer = await world.services.printers.link(code, email, name)
        assert isinstance(printer, Printer), printer
        await agents.node_alive(NODE, at)
        await agents.agent_connected(
            printer.printer_id,
            NODE,
            at,
            lan_ip="192.168.1.20",
            agent_version="1",
            platform=platform,
        )
        return printer.printer_id

    return run(browser, link)


def disconnect(world: WebWorld, browser: Browser, printer_id: str) -> None:
    """End the tunnel of a printer's agent."""
    agents = SqlAgents(world.store, secrets.token_bytes)
    run(browser, lambda: agents.agent_disconnected(printer_id, NODE, world.clock.now()))


def use(world: WebWorld, browser: Browser, connection: Connection) -> None:
    """Have the app use its connection now."""
    clock = world.clock
    grants = SqlGrants(
        world.store, clock, secrets.token_bytes, SupporterPolicy.EVERYONE, INTERNAL_KEY
    )
    run(browser, lambda: grants.connections_used({connection.unique_id: clock.now()}))


def connections(world: WebWorld, browser: Browser) -> list[Connection]:
    """All there are."""
    return run(browser, world.services.connections.all)
