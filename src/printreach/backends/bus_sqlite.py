"""Notices between processes that share a database file: `serve` and the administration commands.

A notice is a row, written with the change it reports. Each process asks SQLite four times a second
whether another connection has committed; that reads a counter in shared memory and touches no
table. Only if so, it reads the rows it has not seen. The counter is read through the driver itself:
a statement of SQLAlchemy's goes to the connection's thread and back four times, and that was two
thirds of the load of an idle service.
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

from printreach.backends.subscribers import Subscribers
from printreach.ports import Clock, Notice, StoreUnavailable, Topic
from printreach.store.async_engine import AsyncConnection
from printreach.store.store import Records, Store
from printreach.store.tables import notices

POLL_S: Final = 0.25
"""The interval of looks for notices: an agent learns within half a second that it was linked."""
RETRY_S: Final = 1.0
MEMORY: Final = timedelta(minutes=10)
"""Far longer than any process uses what it knows without asking again, which is 30 s."""
PRUNE_EVERY_S: Final = 300.0

_COMMITS: Final = "PRAGMA data_version"

_log = logging.getLogger(__name__)


class SqliteBus:
    """ports.Bus. Created by open_bus."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._subscribers = Subscribers()
        self._woken = asyncio.Event()
        self._last_told = 0
        store.on_notices(lambda _given: self._woken.set())

    async def publish(self, notice: Notice) -> None:
        at = self._clock.now()
        await self._store.write(lambda records: records.notify(notice, at))

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        return self._subscribers.add(callback)

    async def skip_old(self) -> None:
        """Skip notices that were published before this process listened."""
        self._last_told = await self._store.read(_newest_id)

    async def watch(self) -> None:
        """Deliver notices published in any process to subscribers, until cancelled."""
        while True:
            try:
                await self._store.read(self._watch)
            except (StoreUnavailable, sqlite3.Error) as error:
                _log.warning("notices are late: %s", error)
                await asyncio.sleep(RETRY_S)

    async def prune(self) -> None:
        """Delete old notices now and then, until cancelled."""
        while True:
            try:
                await self.prune_now()
            except StoreUnavailable as error:
                _log.warning("old notices stay for now: %s", error)
            await asyncio.sleep(PRUNE_EVERY_S)

    async def prune_now(self) -> None:
        oldest = self._clock.now() - MEMORY

        async def remove(records: Records) -> None:
            await records.connection.execute(delete(notices).where(notices.c.at < oldest))

        await self._store.write(remove)

    async def _watch(self, records: Records) -> None:
        # The counter is valid on one connection only, so this one is kept.
        driver = _driver_of(records.connection)
        commits: int | None = None
        while True:
            [(now,)] = await driver.execute_fetchall(_COMMITS)
            if now != commits:
                commits = now
                await self._tell_new(records)
            await self._pause()

    async def _tell_new(self, records: Records) -> None:
        rows = await records.connection.execute(
            select(notices)
            .where(notices.c.notice_id > self._last_told)
            .order_by(notices.c.notice_id)
        )
        for row in rows.mappings():
            self._last_told = row["notice_id"]
            # A command of a newer version may publish a topic that this one does not know.
            if row["topic"] in list(Topic):
                self._subscribers.tell(Notice(Topic(row["topic"]), row["key"]))

    async def _pause(self) -> None:
        """Wait until the next poll, or until this process has published something."""
        try:
            async with asyncio.timeout(POLL_S):
                await self._woken.wait()
        except TimeoutError:
            pass  # the next poll is due
        self._woken.clear()


@asynccontextmanager
async def open_bus(store: Store, clock: Clock) -> AsyncIterator[SqliteBus]:
    """Open a bus that delivers every notice published from now on, in any process."""
    bus = SqliteBus(store, clock)
    await bus.skip_old()
    tasks = [asyncio.create_task(bus.watch()), asyncio.create_task(bus.prune())]
    try:
        yield bus
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _newest_id(records: Records) -> int:
    return await records.connection.scalar(select(func.max(notices.c.notice_id))) or 0


def _driver_of(connection: AsyncConnection) -> aiosqlite.Connection:
    raw = connection.sync_connection.connection
    return cast("aiosqlite.Connection", raw.driver_connection)
