"""Accounts, printers and connections of the soak test, stored before any agent connects."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import insert

from bench.idle_agents import keys_of
from bench.processes import Broken
from bench.service import settings_of
from printreach.agent.data_dir import prepare
from printreach.agent.keys import load_or_make_key
from printreach.backends.clock import SystemClock
from printreach.hub.denied import Denied
from printreach.rules.accounts import Account
from printreach.rules.connections.credentials import printer_id_of
from printreach.rules.watch.choices import WatchSettings
from printreach.run.admin_world import World, open_world
from printreach.store.store import Records, open_store
from printreach.store.tables import printers
from tests.rigs.service import APP, PASSWORD, Service

PRINTERS_OF_A_PERSON = 5
IDLE_OF_AN_ACCOUNT = 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The number of each.

    idle: agents that keep still. wandering: idle ones that lose their connection now and then.
    active: agents with a printer that prints. restarted: so many of the active ones, the last,
    are started anew now and then. watched: how many printers failure detection looks at.
    """

    idle: int = 2000
    wandering: int = 20
    active: int = 50
    restarted: int = 10
    watched: int = 6

    @property
    def people(self) -> int:
        return self.active // PRINTERS_OF_A_PERSON


@dataclass(frozen=True, kw_only=True)
class App:
    """An App Connection. host: of its address. steady: its agent is never restarted."""

    printer_id: str
    host: str
    bearer: str
    token: str
    steady: bool


@dataclass(frozen=True, kw_only=True)
class Person:
    """An account's owner. printers: the ids of those whose agents are never restarted."""

    email: str
    printers: list[str]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    people: list[Person]
    apps: list[App]


def agent_folder(folder: Path, number: int) -> Path:
    """Return the data directory of an active agent."""
    return folder / f"active-{number}"


def prepare_all(service: Service, folder: Path, plan: Plan) -> Prepared:
    """Create all that the plan contains. folder: of the active agents."""
    return asyncio.run(_prepare_all(service, folder, plan))


async def _prepare_all(service: Service, folder: Path, plan: Plan) -> Prepared:
    public_keys = []
    for number in range(plan.active):
        data_dir = agent_folder(folder, number)
        prepare(data_dir)
        public_keys.append(load_or_make_key(data_dir).public_key)
    settings = settings_of(service)
    people, apps = [], []
    async with open_store(settings.database_path) as store, open_world(settings) as world:
        idle = [key.public_key().public_bytes_raw() for key in keys_of(plan.idle + plan.wandering)]
        for first in range(0, len(idle), IDLE_OF_AN_ACCOUNT):
            account = _account_of_nobody(first)
            some = idle[first : first + IDLE_OF_AN_ACCOUNT]

            async def add(
                records: Records, account: Account = account, some: Sequence[bytes] = some
            ) -> None:
                await records.accounts.add(account)
                await _add_printers(records, account.account_id, some, "Idle")

            await store.write(add)
        for number in range(plan.people):
            first = number * PRINTERS_OF_A_PERSON
            own = public_keys[first : first + PRINTERS_OF_A_PERSON]
            email = f"person-{number}@example.com"
            account = await _add_person(world, email)
            unwatched = [
                printer_id_of(key)
                for index, key in enumerate(own, first)
                if index % max(1, plan.active // plan.watched) != 0
            ]

            async def link(
                records: Records,
                account_id: str = account.account_id,
                own: Sequence[bytes] = own,
                unwatched: Iterable[str] = unwatched,
            ) -> None:
                await _add_printers(records, account_id, own, "Printer")
                await _leave_unwatched(records, account_id, unwatched)

            await store.write(link)
            steady = range(plan.active - plan.restarted)
            made = [
                await _add_app(world, printer_id_of(key), steady=index in steady)
                for index, key in enumerate(own, first)
            ]
            apps += made
            people.append(
                Person(email=email, printers=[one.printer_id for one in made if one.steady])
            )
    return Prepared(people=people, apps=apps)


def _account_of_nobody(number: int) -> Account:
    """Create an account that nobody signs in to, so that no password has to be hashed."""
    return Account(
        account_id=f"idle-{number}",
        email=f"idle-{number}@example.com",
        password_hash="",
        is_admin=False,
        supporter_granted=True,
        supporter_until=None,
        created_at=SystemClock().now(),
        verified_at=SystemClock().now(),
    )


async def _add_person(world: World, email: str) -> Account:
    added = await world.accounts.add(email, PASSWORD, supporter=True)
    if isinstance(added, Denied):
        raise Broken(added.sentence)
    return added


async def _add_printers(
    records: Records, account_id: str, public_keys: Sequence[bytes], name: str
) -> None:
    """Link them to the account, as entering their codes would."""
    at = SystemClock().now()
    rows = [
        {
            "printer_id": printer_id_of(key),
            "account_id": account_id,
            "name": f"{name} {number}",
            "public_key": key,
            "linked_at": at,
        }
        for number, key in enumerate(public_keys)
    ]
    await records.connection.execute(insert(printers), rows)


async def _leave_unwatched(records: Records, account_id: str, printer_ids: Iterable[str]) -> None:
    for printer_id in printer_ids:
        await records.watch_settings.put(printer_id, account_id, WatchSettings(enabled=False))


async def _add_app(world: World, printer_id: str, *, steady: bool) -> App:
    made = await world.connections.add_for_app(APP, printer_id)
    if isinstance(made, Denied):
        raise Broken(made.sentence)
    return App(
        printer_id=printer_id,
        host=urlsplit(made.url).netloc,
        bearer=made.secrets.bearer_token,
        token=made.secrets.app_api_token,
        steady=steady,
    )
