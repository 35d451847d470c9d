"""Records that tests store, and a short way to store them."""

from dataclasses import replace
from datetime import datetime, timedelta

from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.connections.credentials import AppDigests
from printreach.rules.printers import Printer
from printreach.store.store import Records, Store
from tests.fakes.clock import NOON

ADA = Account(
    account_id="ada",
    email="Ada@example.org",
    password_hash="hash",
    is_admin=False,
    supporter_granted=False,
    supporter_until=None,
    created_at=NOON,
)
DEMO = App(app_id="demo", name="Demo", return_prefixes=("https://demo.example/",), created_at=NOON)
PRINTER = Printer(
    printer_id="p1",
    account_id="ada",
    name="Workshop",
    public_key=b"k" * 32,
    linked_at=NOON,
)
CONNECTION = Connection(
    connection_id="c1",
    unique_id="app-c1",
    kind=ConnectionKind.APP,
    app_id="demo",
    printer_id="p1",
    account_id="ada",
    port=None,
    created_at=NOON,
)
OWN = replace(
    CONNECTION, connection_id="o1", unique_id="own-o1", kind=ConnectionKind.OWN, app_id=None
)

SHARED = replace(
    CONNECTION, connection_id="s1", unique_id="shared-s1", kind=ConnectionKind.SHARED, app_id=None
)


def digests(name: str) -> AppDigests:
    """Different ones for each name."""
    return AppDigests(
        basic=f"basic {name}".encode(),
        bearer=f"bearer {name}".encode(),
        app_api_token=f"token {name}".encode(),
    )


async def store_all(store: Store) -> None:
    """An account with one printer, an app connection and an own one."""

    async def put(records: Records) -> None:
        await records.accounts.add(ADA)
        await records.apps.add(DEMO)
        await records.printers.link(PRINTER)
        await records.connections.add(CONNECTION, digests("c1"))
        await records.connections.add(OWN, None)

    await store.write(put)


async def store_shared(store: Store) -> None:
    """A Shared Connection to the same printer."""

    async def put(records: Records) -> None:
        await records.connections.add(SHARED, digests("s1"))

    await store.write(put)


async def store_ticket(store: Store, ticket_digest: bytes, until: datetime) -> None:
    """A ticket for the own connection."""

    async def put(records: Records) -> None:
        await records.connections.add_open_ticket(OWN.connection_id, ticket_digest, until)

    await store.write(put)


async def revoke(store: Store, connection_id: str, at: datetime = NOON) -> None:
    async def change(records: Records) -> None:
        await records.connections.revoke(connection_id, at)

    await store.write(change)


SECOND = timedelta(seconds=1)
