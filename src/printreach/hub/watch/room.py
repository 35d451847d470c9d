"""How many pictures of the watch are scored at once, and whose is next.

What waits here waits in nobody's way: who has the fewest under way is let in first.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from printreach.rules.watch_turns import SCORED_AT_ONCE


class WatchRoom:
    """The pictures under way in one process."""

    def __init__(self, at_once: int = SCORED_AT_ONCE) -> None:
        self._at_once = at_once
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn_of(self, account_id: str) -> AsyncIterator[None]:
        """Wait for a place, and have it while this is open."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account_id, deque()).append(turn)
        self._let_in()
        try:
            await turn
            yield
        finally:
            self._leave(account_id, turn)

    def _let_in(self) -> None:
        while self._waiting and self._under_way.total() < self._at_once:
            account_id = min(self._waiting, key=lambda one: self._under_way[one])
            turn = self._waiting[account_id].popleft()
            if not self._waiting[account_id]:
                del self._waiting[account_id]
            if not turn.done():  # whoever gave up has gone
                self._under_way[account_id] += 1
                turn.set_result(None)

    def _leave(self, account_id: str, turn: asyncio.Future[None]) -> None:
        if turn.cancelled():
            return  # it never had a place
        self._under_way[account_id] -= 1
        if not self._under_way[account_id]:
            del self._under_way[account_id]
        self._let_in()
