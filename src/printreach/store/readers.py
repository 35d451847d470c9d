"""Turns at reading: callers share readers fairly, and the service has some of its own."""

import asyncio
from typing import Final

from printreach.limiters.fair_semaphore import FairSemaphore, TooBusy
from printreach.limiters.shares import CURRENT_SHARE

OF_CALLERS: Final = 5
"""Connections for reading, each a thread. SQLite reads memory for the most part, so more threads
would only wait for each other."""
OF_SERVICE: Final = 3
"""For relays, workers and the bus, which holds one all the time."""
MAX_WAITING: Final = 512
"""Reads of callers; each page makes a few, one after the other."""
WAIT_S: Final = 15.0
"""The longest wait of a caller; browsers and people have given up by then."""


class Readers:
    """Turns at the connections of one engine, which has OF_CALLERS + OF_SERVICE."""

    def __init__(self) -> None:
        self._of_callers = FairSemaphore(OF_CALLERS, max_waiting=MAX_WAITING)
        self._of_service = FairSemaphore(OF_SERVICE)

    async def acquire(self) -> str | None:
        """Wait for a turn of the present share; release() has to follow, with what this returns.

        Raises TooBusy.
        """
        share = CURRENT_SHARE.get()
        if share is None:
            await self._of_service.acquire("")
            return None
        key = share.key
        if self._of_callers.has_free:
            await self._of_callers.acquire(key)
            return key
        try:
            async with asyncio.timeout(WAIT_S):
                await self._of_callers.acquire(key)
        except TimeoutError:
            raise TooBusy("the database is busy with other requests") from None
        return key

    def release(self, key: str | None) -> None:
        if key is None:
            self._of_service.release("")
        else:
            self._of_callers.release(key)
