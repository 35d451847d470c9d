"""A semaphore that is fair by key, such as an account or a network.

A caller is known by its network first, and by its account once it has signed in. So the share of a
request may change while it is under way.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass


class TooBusy(Exception):
    """Too many callers wait already; the caller should retry later."""


class FairSemaphore:
    """Slots of one event loop.

    at_once: slots. max_waiting: waiters of all keys together; None for any number. When it is
    reached, the key with the most waiters gives up its last one for a key that has fewer.
    """

    def __init__(self, at_once: int, *, max_waiting: int | None = None) -> None:
        self._free = at_once
        self._max_waiting = max_waiting
        self._held: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}  # the next turn comes first

    @property
    def has_free(self) -> bool:
        """Return whether acquire() returns at once."""
        return self._free > 0

    @asynccontextmanager
    async def slot(self, key: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it while the context is open. Raises TooBusy."""
        await self.acquire(key)
        try:
            yield
        finally:
            self.release(key)

    async def acquire(self, key: str) -> None:
        """Wait for a slot; release() has to follow. Raises TooBusy if too many wait."""
        if self._free:
            self._take(key)
            return
        if self._max_waiting is not None and self._waiting >= self._max_waiting:
            self._displace_for(key)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.release(key)  # it had a slot already
            else:
                self._forget(key, turn)
            raise

    def release(self, key: str) -> None:
        """Give a slot back: the next waiter gets it."""
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]
        self._free += 1
        while self._free and self._queues:
            self._give_turn()

    @property
    def _waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    def _take(self, key: str) -> None:
        self._free -= 1
        self._held[key] += 1

    def _give_turn(self) -> None:
        key = min(self._queues, key=lambda key: self._held[key])
        queue = self._queues.pop(key)
        turn = queue.popleft()
        if queue:
            self._queues[key] = queue  # after the other keys
        if not turn.done():  # a waiter that gave up is cancelled
            self._take(key)
            turn.set_result(None)

    def _displace_for(self, key: str) -> None:
        own = len(self._queues.get(key, ()))
        longest = max(self._queues, key=lambda key: len(self._queues[key]))
        if len(self._queues[longest]) < own + 2:
            raise TooBusy(f"{self._max_waiting} callers wait")
        turn = self._queues[longest].pop()
        if not turn.done():
            turn.set_exception(TooBusy("others had fewer callers waiting"))

    def _forget(self, key: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(key, deque())
        with suppress(ValueError):
            queue.remove(turn)
        if not queue:
            self._queues.pop(key, None)


@dataclass(slots=True)
class Share:
    """The share that work counts for. key: a network or an account."""

    key: str


CURRENT_SHARE: ContextVar[Share | None] = ContextVar("current_share", default=None)
"""Of the request that this task works for; None for the service's own work."""
