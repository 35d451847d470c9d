"""Accounts and printers as rows, and the App Connections and webhooks of some of them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from bench.idle_agents import keys_of
from bench.processes import Broken
from bench.service import settings_of
from printreach.backends.clock import SystemClock
from printreach.hub.denied import Denied
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.watch.choices import WatchSettings
from printreach.rules.webhooks import Webhook
from printreach.run.admin_world import World, open_world
from printreach.store.store import Records
from tests.rigs.postgresql import ask
from tests.rigs.service import APP, Service
from tests.rigs.ways import Way, basic

T = TypeVar("T")

_ACCOUNT: Final = "lpad(to_hex(i), 26, 'z')"
_ACCOUNTS: Final = f"""
    INSERT INTO accounts (account_id, email, email_key, password_hash, is_admin, supporter_granted,
        created_at, verified_at, wrong_link_tries)
    SELECT {_ACCOUNT}, 'person-' || i || '@example.com', 'person-' || i || '@example.com',
        repeat('x', 97), false, true, now(), now(), 0
    FROM generate_series(0, $1 - 1) i
"""
_PRINTERS: Final = f"""
    INSERT INTO printers (printer_id, account_id, name, public_key, linked_at, platform,
        agent_version, lan_ip)
    SELECT coalesce(known.id, md5(i::text)), {_ACCOUNT}, 'Printer ' || i,
        coalesce(known.public_key, decode(md5(i::text) || md5('k' || i), 'hex')), now(),
        'moonraker', '1.0.0', '192.168.1.20'
    FROM generate_series(0, $1 - 1) i
    LEFT JOIN unnest($2::text[], $3::bytea[])
        WITH ORDINALITY AS known (id, public_key, number) ON known.number = i + 1
"""


def link_printers(service: Service, linked: int, online: int) -> None:
    """Store an account with one printer each; the first have the keys of simulated agents."""
    keys = [key.public_key().public_bytes_raw() for key in keys_of(online)]

    async def link(connection: Any) -> None:
        await connection.execute(_ACCOUNTS, linked)
        await connection.execute(_PRINTERS, linked, [printer_id_of(key) for key in keys], keys)
        await connection.execute("ANALYZE")

    ask(service.env["PRINTREACH_DATABASE_URL"], link)


def leave_unwatched(service: Service, numbers: range) -> None:
    """Switch the failure watch off for these printers."""
    ids = _ids(numbers)

    async def put(records: Records) -> None:
        for printer_id in ids:
            printer = await records.printers.linked(printer_id)
            assert printer is not None
            settings = WatchSettings(enabled=False)
            await records.watch_settings.put(printer_id, printer.account_id, settings)

    async def run(world: World) -> None:
        await world.core.store.write(put)

    _in_world(service, run)


def connect_apps(service: Service, numbers: range, webhook_url: str = "") -> list[Way]:
    """Make an App Connection to each of these printers; return the ways through HAProxy."""
    ids = _ids(numbers)

    async def connect(world: World) -> list[Way]:
        ways = []
        for printer_id in ids:
            made = await world.connections.add_for_app(APP, printer_id)
            if isinstance(made, Denied):
                raise Broken(made.sentence)
            if webhook_url:
                await world.core.store.write(_putting(made.connection_id, webhook_url))
            proof = basic(made.secrets.basic_user, made.secrets.basic_password)
            ways.append(service.way_to(urlsplit(made.url).netloc).proving(proof))
        return ways

    return _in_world(service, connect)


def _putting(connection_id: str, url: str) -> Callable[[Records], Awaitable[None]]:
    at = SystemClock().now()
    hook = Webhook(connection_id=connection_id, url=url, event_filter=(), set_at=at)
    return lambda records: records.webhooks.put(hook)


def _ids(numbers: range) -> list[str]:
    keys = keys_of(len(numbers), numbers[0])
    return [printer_id_of(key.public_key().public_bytes_raw()) for key in keys]


def _in_world(service: Service, work: Callable[[World], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_world(settings_of(service)) as world:
            return await work(world)

    return asyncio.run(run())
