"""An installation for tests of pages: the real application on a real store, with fakes around."""

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from httpx import Response
from litestar import Litestar
from litestar.testing import TestClient
from litestar.types import ControllerRouterHandler

from printreach.backends.detector_memory import MemoryDetectorStates
from printreach.ports.payments import Payments
from printreach.ports.printer_http import HostKeys
from printreach.rules.accounts import Account
from printreach.rules.printers import Printer
from printreach.run.dependencies import Dependencies, core_of
from printreach.run.settings import Settings, settings_from
from printreach.run.web_services import web_services
from printreach.store.relay import SqlAgents
from printreach.store.sealing import KeySealer
from printreach.store.store import Store, open_store
from printreach.web.app import WebSettings
from tests.fakes.clock import FakeClock
from tests.fakes.mails import RecordingMailer
from tests.fakes.memory_bus import MemoryBus
from tests.fakes.messages import RecordingMessenger
from tests.fakes.passwords import PlainPasswords
from tests.fakes.printer_http import FakePrinterHttp
from tests.fakes.push import RecordingPush
from tests.fakes.scorer import FakeScorer
from tests.fakes.webhook_sender import FakeKeys, FakeSender
from tests.web.shared_apps import app_for

T = TypeVar("T")
Browser: TypeAlias = TestClient[Litestar]

BASE_URL = "https://printreach.example"
OPERATOR = "operator@printreach.example"
"""Operates the installation of each test; they made it before the test begins."""
ADA = "ada@example.org"
PASSWORD = "a long enough passphrase"


class WebWorld:
    """The parts that a test looks at. settings: of this installation, by their names."""

    def __init__(
        self,
        path: Path,
        clock: FakeClock,
        payments: Payments | None = None,
        host_keys: HostKeys | None = None,
        /,
        **settings: str,
    ) -> None:
        self.clock = clock
        self.store = Store(path)
        self.settings = _settings(path.parent, settings)
        self.passwords = PlainPasswords()
        self.mailer = RecordingMailer()
        self.printers = FakePrinterHttp()
        self.messenger = RecordingMessenger()
        self.push = RecordingPush()
        self.bus = MemoryBus()
        self.sender = FakeSender()
        self.detector = MemoryDetectorStates(self.bus)
        self.scorer = FakeScorer()
        self.core = core_of(self.settings, self.store, clock, self.passwords, self.mailer)
        dependencies = Dependencies(
            settings=self.settings,
            core=self.core,
            mailer=self.mailer,
            messenger=self.messenger,
            push_sender=self.push,
            sealer=KeySealer(b"s" * 32, secrets.token_bytes),
            webhook_sender=self.sender,
            webhook_keys=FakeKeys(),
            bus=self.bus,
            printers=self.printers,
            payments=payments,
            detector=self.detector,
            scorer=self.scorer,
            host_keys=host_keys,
        )
        self.services = web_services(dependencies)
        self._closers: list[Callable[[], object]] = []
        self.app = self.app_with()

    def _web_settings(self) -> WebSettings:
        return WebSettings(
            base_url=self.settings.base_url, has_mail_server=self.settings.has_mail_server
        )

    def app_with(self, *handlers: ControllerRouterHandler) -> Litestar:
        """An application with these routes, too; each is made once in its module."""
        app, give_back = app_for(self, self._web_settings(), self.services, self.store, handlers)
        self._closers.append(give_back)
        return app

    def close(self) -> None:
        """Let other worlds have its applications. Without this they wait until it is collected."""
        for give_back in self._closers:
            give_back()

    def add_account(self, browser: Browser, email: str = ADA, *, is_admin: bool = False) -> Account:
        """An account that the operator made."""

        async def add() -> Account:
            made = await self.services.accounts.add(email, PASSWORD, is_admin=is_admin)
            assert isinstance(made, Account)
            return made

        return run(browser, add)

    def people(self, browser: Browser) -> list[Account]:
        """All accounts but the operator's that was there before the test began."""
        found = run(browser, self.services.accounts.all)
        return [account for account in found if account.email != OPERATOR]

    def link(
        self,
        browser: Browser,
        printer: Printer,
        *,
        is_online: bool = True,
        agent_version: str | None = None,
    ) -> None:
        """A printer of somebody's; where it is online, its agent connected just now."""

        async def link() -> None:
            at = self.clock.now()
            await self.store.write(lambda records: records.printers.link(printer))
            if is_online:
                agents = SqlAgents(self.store, secrets.token_bytes)
                await agents.node_alive("node", at)
                await agents.agent_connected(
                    printer.printer_id,
                    "node",
                    at,
                    lan_ip=None,
                    agent_version=agent_version,
                    platform=printer.platform,
                )

        run(browser, link)


async def add_operator(path: Path) -> None:
    """Set the service up that has this database. Nobody signs in to the operator's account."""
    operator = Account(
        account_id="0" * 24,
        email=OPERATOR,
        password_hash="",
        is_admin=True,
        supporter_granted=False,
        supporter_until=None,
        created_at=FakeClock().now(),
        verified_at=FakeClock().now(),
    )
    async with open_store(path) as store:
        await store.write(lambda records: records.accounts.add(operator))


def _settings(data_dir: Path, given: dict[str, str]) -> Settings:
    environ = {
        "PRINTREACH_DATA_DIR": str(data_dir),
        "PRINTREACH_BASE_URL": BASE_URL,
        "PRINTREACH_TUNNEL_DOMAIN": "tunnel.example",
    }
    return settings_from(environ | {f"PRINTREACH_{name}": text for name, text in given.items()})


def run(browser: Browser, work: Callable[[], Awaitable[T]]) -> T:
    """Run something on the application's own event loop."""
    with browser.portal() as portal:
        return portal.call(work)


def send(browser: Browser, path: str, /, **fields: str) -> Response:
    """Send a form from a page of our own, and look at the answer before following it."""
    return browser.post(path, data=fields, headers={"origin": BASE_URL}, follow_redirects=False)


def send_and_follow(browser: Browser, path: str, /, **fields: str) -> Response:
    """Send a form, and give the page that it leads to."""
    answer = send(browser, path, **fields)
    assert answer.status_code == 303, answer.text
    return browser.get(answer.headers["location"], follow_redirects=False)


def sign_in(
    browser: Browser,
    email: str = ADA,
    password: str = PASSWORD,
    next: str = "/",  # noqa: A002
) -> Response:
    """Send the sign-in form."""
    return send(browser, "/signin", email=email, password=password, next=next)
