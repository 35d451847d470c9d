"""Hints between processes that share a database file: `serve` and the administration commands.

A notice is a row, written with the change it tells of. Each process asks SQLite four times a
second whether another connection has committed; that reads a counter in shared memory and
touches no table. Only if so, it reads the rows it hasn't seen. The counter is read by the driver
itself: a statement of SQLAlchemy's goes to the connection's thread and back four times, and that
was two thirds of what a service does that nobody calls.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, cast

import aiosqlite
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.backends.sql.store import SqlRecords, SqlStore
from printreach.backends.sql.tables import notices
from printreach.backends.subscribers import Subscribers
from printreach.ports import Clock, Notice, StoreUnavailable, Topic

POLL_S: Final = 0.25
"""So that an agent hears within half a second that it was linked."""
RETRY_S: Final = 1.0
MEMORY: Final = timedelta(minutes=10)
"""Far longer than anyone trusts what they know without asking again, which is 30 s."""
PRUNE_EVERY_S: Final = 300.0

_COMMITS: Final = "PRAGMA data_version"

_log = logging.getLogger(__name__)


class SqliteBus:
    """ports.Bus. Made by open_bus."""

    def __init__(self, store: SqlStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._subscribers = Subscribers()
        self._woken = asyncio.Event()
        self._last_told = 0
        store.on_notices(self._woken.set)

    async def publish(self, notice: Notice) -> None:
        at = self._clock.now()
        await self._store.write(lambda records: records.notify(notice, at))

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        return self._subscribers.add(callback)

    async def skip_old(self) -> None:
        """What was published before this process listened is none of its business."""
        self._last_told = await self._store.read(_newest_id)

    async def watch(self) -> None:
        """Tell subscribers of what is published in any process, until cancelled."""
        while True:
            try:
                await self._store.read(self._watch)
            except (StoreUnavailable, sqlite3.Error) as error:
                _log.warning("notices are late: %s", error)
                await asyncio.sleep(RETRY_S)

    async def prune(self) -> None:
        """Now and then remove what all have heard, until cancelled."""
        while True:
            try:
                await self.prune_now()
            except StoreUnavailable as error:
                _log.warning("old notices stay for now: %s", error)
            await asyncio.sleep(PRUNE_EVERY_S)

    async def prune_now(self) -> None:
        oldest = self._clock.now() - MEMORY

        async def remove(records: SqlRecords) -> None:
            await records.connection.execute(delete(notices).where(notices.c.at < oldest))

        await self._store.write(remove)

    async def _watch(self, records: SqlRecords) -> None:
        # The counter means something on one connection only, so this one is kept.
        driver = await _driver_of(records.connection)
        commits: int | None = None
        while True:
            [(now,)] = await driver.execute_fetchall(_COMMITS)
            if now != commits:
                commits = now
                await self._tell_new(records)
            await self._pause()

    async def _tell_new(self, records: SqlRecords) -> None:
        found = await records.connection.execute(
            select(notices)
            .where(notices.c.notice_id > self._last_told)
            .order_by(notices.c.notice_id)
        )
        for row in found.mappings():
            self._last_told = row["notice_id"]
            # A newer version's commands may tell of what this one has no word for.
            if row["topic"] in list(Topic):
                self._subscribers.tell(Notice(Topic(row["topic"]), row["key"]))

    async def _pause(self) -> None:
        """Until it is time to look again, or this process has published something."""
        try:
            async with asyncio.timeout(POLL_S):
                await self._woken.wait()
        except TimeoutError:
            pass  # time to look, then
        self._woken.clear()


@asynccontextmanager
async def open_bus(store: SqlStore, clock: Clock) -> AsyncIterator[SqliteBus]:
    """A bus that hears every notice published from now on, in any process."""
    bus = SqliteBus(store, clock)
    await bus.skip_old()
    tasks = [asyncio.create_task(bus.watch()), asyncio.create_task(bus.prune())]
    try:
        yield bus
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _newest_id(records: SqlRecords) -> int:
    return await records.connection.scalar(select(func.max(notices.c.notice_id))) or 0


async def _driver_of(connection: AsyncConnection) -> aiosqlite.Connection:
    raw = await connection.get_raw_connection()
    return cast("aiosqlite.Connection", raw.driver_connection)
