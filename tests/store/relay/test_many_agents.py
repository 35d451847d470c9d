"""Thousands of agents that connect at the same time cost few units of work."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from printreach.store.listings import PrinterRow
from printreach.store.location import DatabaseLocation
from printreach.store.relay import SqlAgents
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import PRINTER, store_all

T = TypeVar("T")

AGENTS = 250


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every read and every unit of work from now on, by its kind."""
    begun: list[str] = []
    read, write = Store.read, Store.write

    async def noting_read(self: Store, work: Callable[[Records], Awaitable[T]]) -> T:
        begun.append("read")
        return await read(self, work)

    async def noting_write(
        self: Store, work: Callable[[Records], Awaitable[T]], *, may_overlap: bool = False
    ) -> T:
        begun.append("write")
        return await write(self, work, may_overlap=may_overlap)

    monkeypatch.setattr(Store, "read", noting_read)
    monkeypatch.setattr(Store, "write", noting_write)
    return begun


async def link_many(store: Store) -> list[str]:
    names = [f"many-{number}" for number in range(AGENTS)]

    async def link(records: Records) -> None:
        for number, name in enumerate(names):
            key = b"%032d" % number
            await records.printers.link(replace(PRINTER, printer_id=name, public_key=key))

    await store.write(link)
    return names


async def all_linked(records: Records) -> list[PrinterRow]:
    return await records.printers.all_linked()


async def connect(agents: SqlAgents, printer_id: str) -> str:
    """Return the name under which the printer was linked."""
    printer = await agents.linked_printer(printer_id)
    assert printer is not None
    await agents.agent_connected(
        printer_id, "node", NOON, lan_ip=f"of {printer_id}", agent_version="1", platform="duet"
    )
    return printer.printer_id


@on_a_loop
async def test_agents_that_connect_at_once_share_units_of_work(
    database: DatabaseLocation, units: list[str]
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        names = await link_many(store)
        agents = SqlAgents(store, secrets.token_bytes)
        units.clear()
        found = await asyncio.gather(*(connect(agents, name) for name in names))

        assert found == names
        assert units.count("read") <= 4
        assert units.count("write") <= 4
        stored = {row.printer.printer_id: row.printer for row in await store.read(all_linked)}
        assert {stored[name].lan_ip for name in names} == {f"of {name}" for name in names}
