"""The store's ports for the relay: the real one and the fake of the tests answer alike."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import pytest

from printreach.ports.relaying import Agents, Grants
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.connections import ConnectionKind, Grant, LostPrinter
from printreach.rules.connections.credentials import CredentialKind, digest
from printreach.store.listings import PrinterRow
from printreach.store.location import DatabaseLocation
from printreach.store.relay import SqlAgents
from printreach.store.relay.grants import SqlGrants
from printreach.store.store import Records, Store, open_store
from tests.fakes.agents import MemoryAgents
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.grants import INTERNAL_KEY, MemoryGrants
from tests.fakes.loop import on_a_loop
from tests.store.records import (
    CONNECTION,
    OWN,
    PRINTER,
    SECOND,
    SHARED,
    digests,
    revoke,
    store_all,
    store_shared,
    store_ticket,
)

SOON = NOON + timedelta(minutes=10)


class Scene(Protocol):
    """One printer, linked, with a connection of each kind, as a port's implementation."""

    grants: Grants
    agents: Agents
    clock: FakeClock

    async def revoke(self, unique_id: str) -> None: ...
    async def add_ticket(self, unique_id: str, ticket: str, until: datetime) -> None: ...
    async def remove_printer(self) -> None: ...
    async def lock(self, *, is_locked: bool) -> None: ...
    async def node_of_printer(self) -> str | None: ...


@dataclass
class SqlScene:
    store: Store
    clock: FakeClock

    def __post_init__(self) -> None:
        self.grants: Grants = SqlGrants(
            self.store, self.clock, secrets.token_bytes, SupporterPolicy.EVERYONE, INTERNAL_KEY
        )
        self.agents: Agents = SqlAgents(self.store, secrets.token_bytes)

    async def revoke(self, unique_id: str) -> None:
        await revoke(self.store, unique_id.partition("-")[2])

    async def add_ticket(self, unique_id: str, ticket: str, until: datetime) -> None:
        assert unique_id == OWN.unique_id
        await store_ticket(self.store, digest(CredentialKind.OPEN_TICKET, ticket.encode()), until)

    async def remove_printer(self) -> None:
        async def remove(records: Records) -> None:
            await records.printers.remove(PRINTER.printer_id, NOON)

        await self.store.write(remove)

    async def lock(self, *, is_locked: bool) -> None:
        at = NOON if is_locked else None

        async def change(records: Records) -> None:
            await records.accounts.set_locked(PRINTER.account_id, at)

        await self.store.write(change)

    async def node_of_printer(self) -> str | None:
        async def look(records: Records) -> list[PrinterRow]:
            return await records.printers.all_linked()

        return next((row.printer.node_id for row in await self.store.read(look)), None)


@dataclass
class MemoryScene:
    clock: FakeClock

    def __post_init__(self) -> None:
        self._grants = MemoryGrants(self.clock)
        self._agents = MemoryAgents()
        self.grants: Grants = self._grants
        self.agents: Agents = self._agents
        app = digests("c1")
        self._grants.put(_grant(CONNECTION.unique_id, ConnectionKind.APP, app.basic, app.bearer))
        self._grants.put(_grant(OWN.unique_id, ConnectionKind.OWN))
        shared = digests("s1")
        kind = ConnectionKind.SHARED
        self._grants.put(_grant(SHARED.unique_id, kind, shared.basic, shared.bearer))
        self._agents.link(PRINTER.printer_id, PRINTER.name)

    async def revoke(self, unique_id: str) -> None:
        self._grants.end(unique_id)

    async def add_ticket(self, unique_id: str, ticket: str, until: datetime) -> None:
        self._grants.add_open_ticket(unique_id, ticket, until)

    async def remove_printer(self) -> None:
        self._agents.remove(PRINTER.printer_id)

    async def lock(self, *, is_locked: bool) -> None:
        self._agents.lock(PRINTER.printer_id, is_locked=is_locked)

    async def node_of_printer(self) -> str | None:
        presence = self._agents.presence.get(PRINTER.printer_id)
        return presence.node_id if presence is not None else None


def _grant(unique_id: str, kind: ConnectionKind, *accepted: bytes) -> Grant:
    return Grant(
        unique_id=unique_id,
        connection_id=unique_id.partition("-")[2],
        kind=kind,
        printer_id=PRINTER.printer_id,
        account_id=PRINTER.account_id,
        digests=accepted,
        ended=False,
        expires_at=None,
        owner_is_supporter=True,
        lost=LostPrinter(name=PRINTER.name) if kind is ConnectionKind.OWN else None,
    )


OpenScene = Callable[[], AbstractAsyncContextManager[Scene]]


@pytest.fixture(params=["sql", "memory"])
def scene(request: pytest.FixtureRequest, database: DatabaseLocation) -> OpenScene:
    @asynccontextmanager
    async def sql() -> AsyncIterator[Scene]:
        async with open_store(database) as store:
            await store_all(store)
            await store_shared(store)
            yield SqlScene(store, FakeClock())

    @asynccontextmanager
    async def memory() -> AsyncIterator[Scene]:
        yield MemoryScene(FakeClock())

    return sql if request.param == "sql" else memory


# --- ports.Grants ---------------------------------------------------------------------------------


@on_a_loop
async def test_a_grant_says_who_may_pass_to_which_printer(scene: OpenScene) -> None:
    async with scene() as here:
        assert await here.grants.grant("app-c1") == _grant(
            "app-c1", ConnectionKind.APP, digests("c1").basic, digests("c1").bearer
        )
        assert await here.grants.grant("own-o1") == _grant("own-o1", ConnectionKind.OWN)
        assert await here.grants.grant("app-other") is None


@on_a_loop
async def test_an_ended_grant_keeps_its_credentials(scene: OpenScene) -> None:
    async with scene() as here:
        await here.revoke("app-c1")

        grant = await here.grants.grant("app-c1")
        assert grant is not None
        assert grant.ended
        assert len(grant.digests) == 2


@on_a_loop
async def test_a_port_that_nobody_owns_leads_nowhere(scene: OpenScene) -> None:
    async with scene() as here:
        assert await here.grants.unique_id_at_port(18000) is None


@on_a_loop
async def test_a_ticket_becomes_a_cookie_once(scene: OpenScene) -> None:
    async with scene() as here:
        await here.add_ticket("own-o1", "ticket", SOON)
        secret = await here.grants.redeem_open_ticket("own-o1", "ticket", NOON)
        assert secret is not None

        grant = await here.grants.grant("own-o1")
        assert grant is not None
        assert grant.digests == (digest(CredentialKind.COOKIE, secret.encode()),)
        assert await here.grants.redeem_open_ticket("own-o1", "ticket", NOON) is None


@on_a_loop
async def test_a_ticket_is_for_its_own_connection_and_its_own_time(scene: OpenScene) -> None:
    async with scene() as here:
        await here.add_ticket("own-o1", "ticket", SOON)

        assert await here.grants.redeem_open_ticket("app-c1", "ticket", NOON) is None
        assert await here.grants.redeem_open_ticket("own-o1", "other", NOON) is None
        assert await here.grants.redeem_open_ticket("own-o1", "ticket", SOON) is None


@on_a_loop
async def test_a_ticket_of_an_ended_connection_is_worth_nothing(scene: OpenScene) -> None:
    async with scene() as here:
        await here.add_ticket("own-o1", "ticket", SOON)
        await here.revoke("own-o1")

        assert await here.grants.redeem_open_ticket("own-o1", "ticket", NOON) is None


@on_a_loop
async def test_a_browser_at_a_shared_connection_is_signed_in_for_seven_days(
    scene: OpenScene,
) -> None:
    async with scene() as here:
        before = await here.grants.grant("shared-s1")
        secret = await here.grants.add_shared_cookie("shared-s1", NOON)
        assert before is not None
        assert secret is not None
        of_cookie = digest(CredentialKind.COOKIE, secret.encode())

        for until_then, is_open in ((timedelta(days=7) - SECOND, True), (SECOND, False)):
            here.clock.advance(until_then)
            grant = await here.grants.grant("shared-s1")
            assert grant is not None
            assert set(grant.digests) == {*before.digests, *([of_cookie] if is_open else [])}


@on_a_loop
async def test_nobody_is_signed_in_to_a_shared_connection_that_has_ended(
    scene: OpenScene,
) -> None:
    async with scene() as here:
        await here.revoke("shared-s1")

        assert await here.grants.add_shared_cookie("shared-s1", NOON) is None


@on_a_loop
async def test_a_cookie_opens_for_twelve_hours(scene: OpenScene) -> None:
    async with scene() as here:
        await here.add_ticket("own-o1", "ticket", SOON)
        await here.grants.redeem_open_ticket("own-o1", "ticket", NOON)

        for until_then, count in ((timedelta(hours=12) - SECOND, 1), (SECOND, 0)):
            here.clock.advance(until_then)
            grant = await here.grants.grant("own-o1")
            assert grant is not None
            assert len(grant.digests) == count


# --- ports.Agents ---------------------------------------------------------------------------------


@on_a_loop
async def test_a_printer_is_linked_until_it_is_removed(scene: OpenScene) -> None:
    async with scene() as here:
        linked = await here.agents.linked_printer("p1")
        assert linked is not None
        assert (linked.printer_id, linked.name, linked.account_id) == ("p1", "Workshop", "ada")
        assert await here.agents.linked_printer("p2") is None
        await here.remove_printer()

        assert await here.agents.linked_printer("p1") is None


@on_a_loop
async def test_of_many_printers_those_are_told_that_are_linked(scene: OpenScene) -> None:
    async with scene() as here:
        strangers = [f"stranger-{number}" for number in range(1200)]
        some = [*strangers[:700], "p1", *strangers[700:]]

        assert await here.agents.linked_among(some) == {"p1": False}
        assert await here.agents.linked_among(strangers) == {}
        assert await here.agents.linked_among([]) == {}
        await here.remove_printer()
        assert await here.agents.linked_among(some) == {}


@on_a_loop
async def test_each_linked_printer_is_told_with_whether_it_refuses_control(
    scene: OpenScene,
) -> None:
    async with scene() as here:
        for is_locked in (True, False):
            await here.lock(is_locked=is_locked)

            assert await here.agents.linked_among(["p1", "p2"]) == {"p1": is_locked}


@on_a_loop
async def test_every_code_is_new_and_good_for_ten_minutes(scene: OpenScene) -> None:
    async with scene() as here:
        codes = [await here.agents.offer_link_code("p2", b"k" * 32, NOON) for _ in range(3)]

        assert len({code.code for code in codes}) == 3
        assert {code.expires_at for code in codes} == {SOON}


async def connect(here: Scene, node_id: str) -> None:
    await here.agents.agent_connected(
        "p1", node_id, NOON, lan_ip="10.0.0.7", agent_version="1", platform="octoprint"
    )


@on_a_loop
async def test_a_printer_is_where_its_agent_connected_last(scene: OpenScene) -> None:
    async with scene() as here:
        await connect(here, "n1")
        await connect(here, "n2")
        assert await here.node_of_printer() == "n2"
        await here.agents.agent_disconnected("p1", "n1", NOON)
        assert await here.node_of_printer() == "n2"
        await here.agents.agent_disconnected("p1", "n2", NOON)

        assert await here.node_of_printer() is None


@on_a_loop
async def test_no_presence_is_kept_of_what_is_not_linked(scene: OpenScene) -> None:
    async with scene() as here:
        await here.remove_printer()
        await connect(here, "n1")

        assert await here.node_of_printer() is None


@on_a_loop
async def test_a_removed_printer_is_nowhere(scene: OpenScene) -> None:
    async with scene() as here:
        await connect(here, "n1")
        await here.remove_printer()

        assert await here.node_of_printer() is None
