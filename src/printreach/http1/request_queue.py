"""How many requests a server has to answer at once. More of them wait in line, by their order.

Small servers have few threads, and a page asks for a hundred files in a breath. But a request that
hangs must hold up nobody for long, so who has waited PATIENCE_S goes all the same.
"""

import asyncio
from typing import Final

PATIENCE_S: Final = 5.0
"""Longer than an answer takes that is only slow, shorter than people wait."""


class RequestQueue:
    """Turns, from the connection until the head of the answer. most: taken at once."""

    def __init__(self, most: int, *, patience_s: float = PATIENCE_S) -> None:
        self._most = most
        self._patience_s = patience_s
        self._taken: set[object] = set()
        self._waiting: dict[object, asyncio.Future[None]] = {}  # who came first stands first

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._waiting)

    def take(self, who: object) -> None:
        """Without standing in line: the server has a connection for it already."""
        self._taken.add(who)

    async def wait_for_turn(self, who: object) -> None:
        """Returns with a turn taken."""
        if who in self._taken:
            return
        if self._waiting or len(self._taken) >= self._most:
            turn = self._waiting[who] = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(self._patience_s):
                    await turn
            except TimeoutError:
                pass  # those before it take too long
            finally:
                self._waiting.pop(who, None)
        self._taken.add(who)

    def leave(self, who: object) -> None:
        """It has its answer, or wants none any more, wherever it stood."""
        self._taken.discard(who)
        self._waiting.pop(who, None)
        while self._waiting and len(self._taken) < self._most:
            following = next(iter(self._waiting))
            turn = self._waiting.pop(following)
            self._taken.add(following)
            if not turn.done():  # its patience may have ended just now, and it goes anyway
                turn.set_result(None)
