"""The cost of frequent queries grows with their results only, counted in the database's steps."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, update

from printreach.rules.watch.memory import UnwatchedPrinter
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import nodes, printers
from tests.fakes.clock import NOON
from tests.fakes.events import some_events
from tests.fakes.loop import on_a_loop
from tests.store.records import PRINTER, store_all

MANY = 250
"""Prints that have ended; of a printer as many as are kept, about."""
Ask = Callable[[Records], Awaitable[object]]


async def steps_of(database: DatabaseLocation, store: Store, ask: Ask) -> int:
    """The instructions of SQLite's machine for what is asked."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        asked.append((statement, values))

    event.listen(store._reading.sync_engine, "before_cursor_execute", note)
    try:
        await store.read(ask)
    finally:
        event.remove(store._reading.sync_engine, "before_cursor_execute", note)
    return sum(_steps(database, statement, values) for statement, values in asked)


def _steps(database: DatabaseLocation, statement: str, values: Any) -> int:
    steps: list[int] = []
    assert isinstance(database, Path)
    connection = sqlite3.connect(database)
    try:
        connection.execute(
            "SELECT count(*) FROM accounts"
        ).fetchall()  # the tables' shapes are read
        connection.set_progress_handler(lambda: steps.append(1), 1)
        connection.execute(statement, values).fetchall()
    finally:
        connection.close()
    return len(steps)


async def print_ends(store: Store, print_id: str) -> None:
    async def work(records: Records) -> None:
        await records.watches.begin("p1", "ada", print_id, NOON)
        await records.watches.end("p1", print_id, NOON)

    await store.write(work)


async def hand_out(store: Store, count: int) -> list[str]:
    """So many events of Ada's; their ids."""
    events = some_events(count)

    async def work(records: Records) -> None:
        await records.events.append("p1", events, NOON)
        waiting = await records.events.awaiting_fan_out(count)
        await records.events.mark_fanned_out({one.seq: None for one in waiting.events})

    await store.write(work)
    return [one.event_id for one in events]


@pytest.mark.sqlite
@pytest.mark.slow
@on_a_loop
async def test_that_no_print_is_due_is_seen_as_soon_after_hundreds_of_prints(
    database: DatabaseLocation,
) -> None:
    def is_due(records: Records) -> Awaitable[bool]:
        return records.watches.has_due(NOON + timedelta(hours=1), degraded=False)

    async with open_store(database) as store:
        await store_all(store)
        await print_ends(store, "first")
        few = await steps_of(database, store, is_due)
        for number in range(MANY):
            await print_ends(store, f"print-{number}")
        many = await steps_of(database, store, is_due)

    assert many <= few


@pytest.mark.sqlite
@pytest.mark.slow
@on_a_loop
async def test_that_no_print_is_due_is_seen_as_soon_however_many_are_under_way(
    database: DatabaseLocation,
) -> None:
    soon = NOON + timedelta(minutes=1)

    def is_due(records: Records) -> Awaitable[bool]:
        return records.watches.has_due(NOON, degraded=False)

    def print_begins(number: int) -> Callable[[Records], Awaitable[None]]:
        printer_id = f"printer-{number}"

        async def work(records: Records) -> None:
            key = printer_id.encode()
            await records.printers.link(replace(PRINTER, printer_id=printer_id, public_key=key))
            await records.watches.begin(printer_id, "ada", "print", soon)

        return work

    async with open_store(database) as store:
        await store_all(store)
        await store.write(print_begins(0))
        few = await steps_of(database, store, is_due)
        for number in range(1, MANY):
            await store.write(print_begins(number))
        many = await steps_of(database, store, is_due)

        assert many <= few
        assert await store.read(lambda records: records.watches.has_due(soon, degraded=False))


@pytest.mark.sqlite
@pytest.mark.slow
@on_a_loop
async def test_printers_that_print_unwatched_are_found_as_soon_after_hundreds_of_prints(
    database: DatabaseLocation,
) -> None:
    async def connect(records: Records) -> None:
        await records.connection.execute(insert(nodes).values(node_id="n", alive_at=NOON))
        await records.connection.execute(update(printers).values(node_id="n", connected_at=NOON))

    def unwatched(records: Records) -> Awaitable[Sequence[UnwatchedPrinter]]:
        return records.watches.unwatched(NOON - timedelta(hours=1))

    async with open_store(database) as store:
        await store_all(store)
        await store.write(connect)
        await print_ends(store, "first")
        few = await steps_of(database, store, unwatched)
        assert [one.printer_id for one in await store.read(unwatched)] == ["p1"]
        for number in range(MANY):
            await print_ends(store, f"print-{number}")
        many = await steps_of(database, store, unwatched)

    assert many <= few


@pytest.mark.sqlite
@on_a_loop
async def test_where_a_reader_goes_on_is_found_without_reading_what_happened_since(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        ids = await hand_out(store, MANY)
        newest = await steps_of(database, store, lambda it: it.events.holds("ada", ids[-1]))
        oldest = await steps_of(database, store, lambda it: it.events.holds("ada", ids[0]))
        made_up = await steps_of(database, store, lambda it: it.events.holds("ada", "made up"))

    assert max(oldest, made_up) <= newest + 10
