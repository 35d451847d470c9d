"""Notices between processes that share a PostgreSQL database, without another server.

This process's own are delivered at once, and those of others within a second: enough for a few
processes and the administration commands. Between many machines NATS is quicker: bus_nats.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from printreach.backends.bus_rows import RETRY_S, RowsBus, opened, rows_after
from printreach.ports import Clock, StoreUnavailable
from printreach.store.store import Store

POLL_S: Final = 1.0
MAX_MISSING: Final = 200
"""Numbers that are waited for: they are given before the commit, so a later one may come first, and
those of what was rolled back never come. Who misses a notice looks again by itself."""

_log = logging.getLogger(__name__)


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
            await self._pause(POLL_S)

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


@asynccontextmanager
async def open_postgresql_bus(store: Store, clock: Clock) -> AsyncIterator[PostgresqlBus]:
    """Open a bus that delivers every notice published from now on, in any process."""
    async with opened(PostgresqlBus(store, clock)) as bus:
        yield bus
