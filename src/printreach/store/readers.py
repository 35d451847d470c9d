"""Turns at reading: callers share readers fairly, and the service has some of its own."""

import asyncio
from typing import Final

from printreach.limiters.fair_semaphore import CURRENT_SHARE, FairSemaphore, TooBusy

MAX_WAITING: Final = 512
"""Reads of callers; each page makes a few, one after the other."""
WAIT_S: Final = 15.0
"""The longest wait of a caller; browsers and people have given up by then."""


class Readers:
    """Turns at the connections of one engine, some for callers and some for the service."""

    def __init__(self, of_callers: int, of_service: int) -> None:
        self._of_callers = FairSemaphore(of_callers, max_waiting=MAX_WAITING)
        self._of_service = FairSemaphore(of_service)

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
