"""When connections were last used: written to the store at an interval, never by a request."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice

from printreach.ports import Clock
from printreach.ports.relaying import Grants
from printreach.rules.connections.internal_grants import is_of_internal_kind

log = logging.getLogger(__name__)

WRITE_INTERVAL_S = 60.0
STORE_TIMEOUT_S = 10.0
"""The time-out of a write: a store that hangs must not delay the end of the service."""
BATCH = 500
"""Rows in one write; other work gets its turn between two writes."""


class LastUsedRecorder:
    """Records when connections were used. running: returns the names of those in use now."""

    def __init__(self, grants: Grants, clock: Clock, running: Callable[[], Iterable[str]]) -> None:
        self._grants = grants
        self._clock = clock
        self._running = running
        self._used: dict[str, datetime] = {}
        self._writing = asyncio.create_task(self._keep_writing())

    def note(self, unique_id: str) -> None:
        """Note a use now. This is on the path of every request, so it does next to nothing."""
        self._used[unique_id] = self._clock.now()

    async def write(self) -> None:
        """Write the noted uses. Those that the store rejects are written the next time."""
        at = self._clock.now()
        used = self._used | dict.fromkeys(self._running(), at)
        self._used = {}
        rows = iter(
            {name: when for name, when in used.items() if not is_of_internal_kind(name)}.items()
        )
        while batch := dict(islice(rows, BATCH)):
            try:
                async with asyncio.timeout(STORE_TIMEOUT_S):
                    await self._grants.connections_used(batch)
            except Exception:
                log.exception("could not write down which connections were used")
                self._used = {**batch, **dict(rows), **self._used}
                return

    async def close(self) -> None:
        self._writing.cancel()
        await asyncio.gather(self._writing, return_exceptions=True)
        await self.write()

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(WRITE_INTERVAL_S)
            await self.write()
