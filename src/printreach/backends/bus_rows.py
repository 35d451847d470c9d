"""Notices between processes that share a database, as rows, each written with its change.

Over a database file each process asks SQLite four times a second
whether another connection has committed; that reads a counter in shared memory and touches no
table. Only if so, it reads the rows it has not seen. The counter is read through the driver itself:
a statement of SQLAlchemy's goes to the connection's thread and back four times, and that was two
thirds of the load of an idle service.

Over a PostgreSQL server this process's own are delivered at once, and those of others within a
second: enough for a few processes and the administration commands. Between many machines NATS is
quicker: bus_nats.
"""

import asyncio
import logging
import sqlite3
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, TypeVar, cast

import aiosqlite
from sqlalchemy import RowMapping, delete, func, select

from printreach.backends.subscribers import Subscribers
from printreach.ports import Clock, Notice, StoreUnavailable, Topic
from printreach.store.async_engine import AsyncConnection
from printreach.store.store import Records, Store
from printreach.store.tables import notices

MEMORY: Final = timedelta(minutes=1)
"""Longer than any process uses what it knows without asking again, which is 30 s."""
PRUNE_EVERY_S: Final = 30.0
RETRY_S: Final = 1.0

_log = logging.getLogger(__name__)

SQLITE_POLL_S: Final = 0.25
"""The interval of looks for notices: an agent learns within half a second that it was linked."""

_COMMITS: Final = "PRAGMA data_version"

POSTGRESQL_POLL_S: Final = 1.0
MAX_MISSING: Final = 200
"""Numbers that are waited for: they are given before the commit, so a later one may come first, and
those of what was rolled back never come. Who misses a notice looks again by itself."""


class RowsBus(ABC):
    """ports.Bus, but for how it learns of new rows. Opened by _opened()."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._subscribers = Subscribers()
        self._woken = asyncio.Event()
        self._newest = 0
        store.on_notices(lambda _given: self._woken.set())

    @property
    def is_available(self) -> bool:
        return self._store.is_available

    async def publish(self, notice: Notice) -> None:
        at = self._clock.now()
        await self._store.write(lambda records: records.notify(notice, at))

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        return self._subscribers.add(callback, wanted)

    async def skip_old(self) -> None:
        """Skip notices that were published before this process listened."""
        self._newest = await self._store.read(_newest_id)

    @abstractmethod
    async def watch(self) -> None:
        """Deliver notices published in any process to subscribers, until cancelled."""

    def _tell(self, row: RowMapping) -> None:
        # A command of a newer version may publish a topic that this one does not know.
        if row["topic"] in list(Topic):
            self._subscribers.tell(Notice(Topic(row["topic"]), row["key"]))

    async def _pause(self, longest_s: float) -> None:
        """Wait that long, or until this process has published something."""
        try:
            async with asyncio.timeout(longest_s):
                await self._woken.wait()
        except TimeoutError:
            pass  # the next poll is due
        self._woken.clear()


B = TypeVar("B", bound=RowsBus)


@asynccontextmanager
async def _opened(bus: B) -> AsyncIterator[B]:
    """Have it deliver every notice published from now on, in any process."""
    await bus.skip_old()
    watching = asyncio.create_task(bus.watch())
    try:
        yield bus
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


@asynccontextmanager
async def pruned(store: Store, clock: Clock) -> AsyncIterator[None]:
    """Delete old notices now and then, whichever bus delivers them."""
    pruning = asyncio.create_task(_prune(store, clock))
    try:
        yield
    finally:
        pruning.cancel()
        await asyncio.gather(pruning, return_exceptions=True)


async def prune_now(store: Store, at: datetime) -> None:
    # A read does not wait for the writer, and most times there is nothing.
    oldest = await store.read_for_service(_oldest_time)
    if oldest is None or oldest >= at - MEMORY:
        return

    async def remove(records: Records) -> None:
        await records.connection.execute(delete(notices).where(notices.c.at < at - MEMORY))

    await store.write(remove)


async def _prune(store: Store, clock: Clock) -> None:
    while True:
        try:
            await prune_now(store, clock.now())
        except StoreUnavailable as error:
            _log.warning("could not delete old notices yet: %s", error)
        await asyncio.sleep(PRUNE_EVERY_S)


async def rows_after(
    records: Records, notice_id: int, others: Collection[int] = ()
) -> list[RowMapping]:
    """Return the notices after that one, and these others, in their order."""
    is_wanted = notices.c.notice_id > notice_id
    if others:
        is_wanted |= notices.c.notice_id.in_(others)
    found = select(notices).where(is_wanted).order_by(notices.c.notice_id)
    return list((await records.connection.execute(found)).mappings())


async def _oldest_time(records: Records) -> datetime | None:
    at: datetime | None = await records.connection.scalar(select(func.min(notices.c.at)))
    return at


async def _newest_id(records: Records) -> int:
    return await records.connection.scalar(select(func.max(notices.c.notice_id))) or 0


class SqliteBus(RowsBus):
    """ports.Bus. Created by open_bus."""

    async def watch(self) -> None:
        while True:
            try:
                await self._store.read(self._watch)
            except (StoreUnavailable, sqlite3.Error) as error:
                _log.warning("notices are delayed: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _watch(self, records: Records) -> None:
        # The counter is valid on one connection only, so this one is kept.
        driver = _driver_of(records.connection)
        commits: int | None = None
        while True:
            [(now,)] = await driver.execute_fetchall(_COMMITS)
            if now != commits:
                commits = now
                for row in await rows_after(records, self._newest):
                    self._newest = row["notice_id"]
                    self._tell(row)
            await self._pause(SQLITE_POLL_S)


def open_bus(store: Store, clock: Clock) -> AbstractAsyncContextManager[SqliteBus]:
    """Open a bus that delivers every notice published from now on, in any process."""
    return _opened(SqliteBus(store, clock))


def _driver_of(connection: AsyncConnection) -> aiosqlite.Connection:
    raw = connection.sync_connection.connection
    return cast("aiosqlite.Connection", raw.driver_connection)


class PostgresqlBus(RowsBus):
    """ports.Bus. Created by open_postgresql_bus."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, clock)
        self._missing: deque[int] = deque(maxlen=MAX_MISSING)

    async def watch(self) -> None:
        while True:
            try:
                await self._look()
            except StoreUnavailable as error:
                _log.warning("notices are delayed: %s", error)
                await asyncio.sleep(RETRY_S)
            await self._pause(POSTGRESQL_POLL_S)

    async def _look(self) -> None:
        rows = await self._store.read_for_service(
            lambda records: rows_after(records, self._newest, self._missing)
        )
        for row in rows:
            number = row["notice_id"]
            if number > self._newest:
                first = max(self._newest + 1, number - MAX_MISSING)
                self._missing.extend(range(first, number))
                self._newest = number
            else:
                self._missing.remove(number)
            self._tell(row)


def open_postgresql_bus(store: Store, clock: Clock) -> AbstractAsyncContextManager[PostgresqlBus]:
    """Open a bus that delivers every notice published from now on, in any process."""
    return _opened(PostgresqlBus(store, clock))
