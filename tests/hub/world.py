"""All use cases on one store, and the short ways to what tests need first."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from printreach.hub.accounts import Accounts
from printreach.hub.apps import Apps
from printreach.hub.connections import Connections
from printreach.hub.core import Core
from printreach.hub.denied import Denied
from printreach.hub.printers import Printers
from printreach.ports import Clock, Notice, Topic
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.accounts.limits import LimitChanges
from printreach.rules.addresses import Addresses
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.portal.parameters import Completion
from printreach.rules.printers import LinkCode, Printer
from printreach.store.location import DatabaseLocation, data_dir_of
from printreach.store.relay import SqlAgents
from printreach.store.relay.grants import SqlGrants
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import notices
from tests.fakes.clock import FakeClock
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.mails import RecordingMailer
from tests.fakes.passwords import PlainPasswords

ADA = "ada@example.org"
BOB = "bob@example.org"
PASSWORD = "a long enough passphrase"
ADDRESSES = Addresses(base_url="https://reach.example", tunnel_domain="tunnel.example")
KEY = b"k" * 32
PRINTER_ID = printer_id_of(KEY)


@dataclass(frozen=True, kw_only=True)
class World:
    data_dir: Path
    core: Core
    store: Store
    clock: FakeClock
    accounts: Accounts
    apps: Apps
    printers: Printers
    connections: Connections
    agents: SqlAgents
    grants: SqlGrants

    async def add_account(self, email: str = ADA) -> Account:
        account = await self.accounts.add(email, PASSWORD)
        assert isinstance(account, Account)
        return account

    async def link_code(self, key: bytes = KEY) -> LinkCode:
        return await self.agents.offer_link_code(printer_id_of(key), key, self.clock.now())

    async def link_printer(self, email: str = ADA, key: bytes = KEY) -> Printer:
        code = await self.link_code(key)
        printer = await self.printers.link(code.code, email, "Workshop")
        assert isinstance(printer, Printer)
        return printer

    async def set_up(self) -> Printer:
        """Ada with a linked printer, and an app."""
        await self.add_account()
        await self.apps.add("demo", "Demo", ["https://demo.example/"])
        return await self.link_printer()

    async def connect_app(self) -> Completion:
        made = await self.connections.add_for_app("demo", PRINTER_ID)
        assert isinstance(made, Completion)
        return made

    async def let_a_printer_have(self, app_connections: int) -> None:
        """So many living App Connections, for everybody."""
        changes = LimitChanges(app_connections=app_connections)
        await self.store.write(lambda records: records.limits.put_of_service(changes))

    def everything_on_disk(self) -> bytes:
        return b"".join(file.read_bytes() for file in self.data_dir.iterdir() if file.is_file())

    async def notices(self) -> list[Notice]:
        return await stored_notices(self.store)


async def stored_notices(store: Store) -> list[Notice]:
    """Return all notices that were given so far, oldest first."""

    async def look(records: Records) -> list[Notice]:
        found = await records.connection.execute(select(notices).order_by("notice_id"))
        return [Notice(Topic(row["topic"]), row["key"]) for row in found.mappings()]

    return await store.read(look)


class OpenWorld:
    """Opens a world on the test's own database."""

    def __init__(self, location: DatabaseLocation) -> None:
        self._location = location

    def __call__(
        self,
        ports: range = range(0),
        supporters: SupporterPolicy = SupporterPolicy.EVERYONE,
    ) -> AbstractAsyncContextManager[World]:
        return _open(self._location, ports, supporters)


@asynccontextmanager
async def _open(
    location: DatabaseLocation, ports: range, supporters: SupporterPolicy
) -> AsyncIterator[World]:
    clock = FakeClock()
    async with open_store(location) as store:
        core = core_of(store, clock, supporters)
        yield World(
            data_dir=data_dir_of(location),
            core=core,
            store=store,
            clock=clock,
            accounts=Accounts(core=core),
            apps=Apps(core=core),
            printers=Printers(core=core),
            connections=Connections(core=core, ports=ports),
            agents=SqlAgents(store, secrets.token_bytes),
            grants=SqlGrants(store, clock, secrets.token_bytes, supporters, INTERNAL_KEY),
        )


def core_of(
    store: Store, clock: Clock, supporters: SupporterPolicy = SupporterPolicy.EVERYONE
) -> Core:
    """The core of a service at reach.example without a mail server."""
    return Core(
        store=store,
        clock=clock,
        token_bytes=secrets.token_bytes,
        passwords=PlainPasswords(),
        outbox=RecordingMailer(),
        addresses=ADDRESSES,
        supporters=supporters,
        has_mail_server=False,
    )


def denied(result: object) -> Denied:
    """The denial that a use case answered with."""
    assert isinstance(result, Denied), result
    return result
