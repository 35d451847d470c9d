"""Notices between processes that share a database file: `serve` and the administration commands.

Each process asks SQLite four times a second
whether another connection has committed; that reads a counter in shared memory and touches no
table. Only if so, it reads the rows it has not seen. The counter is read through the driver itself:
a statement of SQLAlchemy's goes to the connection's thread and back four times, and that was two
thirds of the load of an idle service.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, cast

import aiosqlite

from printreach.backends.bus_rows import RETRY_S, RowsBus, opened, rows_after
from printreach.ports import Clock, StoreUnavailable
from printreach.store.async_engine import AsyncConnection
from printreach.store.store import Records, Store

POLL_S: Final = 0.25
"""The interval of looks for notices: an agent learns within half a second that it was linked."""

_COMMITS: Final = "PRAGMA data_version"

_log = logging.getLogger(__name__)


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
            await self._pause(POLL_S)


@asynccontextmanager
async def open_bus(store: Store, clock: Clock) -> AsyncIterator[SqliteBus]:
    """Open a bus that delivers every notice published from now on, in any process."""
    async with opened(SqliteBus(store, clock)) as bus:
        yield bus


def _driver_of(connection: AsyncConnection) -> aiosqlite.Connection:
    raw = connection.sync_connection.connection
    return cast("aiosqlite.Connection", raw.driver_connection)
