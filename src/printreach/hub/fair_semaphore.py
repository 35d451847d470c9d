"""Bounds how much is under way at once, fairly by account.

The account with the fewest slots gets the next free one, so an account with many waiting does not
delay the others.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSemaphore:
    """A semaphore whose waiters take turns by account. For one process."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def slot(self, account_id: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it while the context is open."""
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account_id, deque()).append(slot)
        self._hand_out()
        try:
            await slot
            yield
        finally:
            self._release(account_id, slot)

    def _hand_out(self) -> None:
        while self._waiting and self._under_way.total() < self._at_once:
            account_id = min(self._waiting, key=lambda one: self._under_way[one])
            slot = self._waiting[account_id].popleft()
            if not self._waiting[account_id]:
                del self._waiting[account_id]
            if not slot.done():  # a waiter that gave up was cancelled
                self._under_way[account_id] += 1
                slot.set_result(None)

    def _release(self, account_id: str, slot: asyncio.Future[None]) -> None:
        if slot.cancelled():
            return  # it never had a slot
        self._under_way[account_id] -= 1
        if not self._under_way[account_id]:
            del self._under_way[account_id]
        self._hand_out()
