"""A limit on how many requests a server has to answer at once; others wait in order of arrival.

Small servers have few threads, and a page asks for a hundred files at once. A request that hangs
must not hold up the others for long, so one that has waited QUEUE_TIMEOUT_S is sent all the same.
"""

import asyncio
from typing import Final

QUEUE_TIMEOUT_S: Final = 5.0
"""Longer than an answer takes that is only slow, shorter than people wait."""


class RequestQueue:
    """Slots, each held from the connection until the head of the answer. most: held at once."""

    def __init__(self, most: int, *, timeout_s: float = QUEUE_TIMEOUT_S) -> None:
        self._most = most
        self._timeout_s = timeout_s
        self._admitted: set[object] = set()
        self._waiting: dict[object, asyncio.Future[None]] = {}  # in order of arrival

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def admit(self, who: object) -> None:
        """Admit a request without a wait: the server has a connection for it already."""
        self._admitted.add(who)

    async def wait_for_turn(self, who: object) -> None:
        """Return once the request holds a slot, or has waited for the time-out."""
        if who in self._admitted:
            return
        if self._waiting or len(self._admitted) >= self._most:
            turn = self._waiting[who] = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(self._timeout_s):
                    await turn
            except TimeoutError:
                pass  # those before it take too long
            finally:
                self._waiting.pop(who, None)
        self._admitted.add(who)

    def release(self, who: object) -> None:
        """Give back the slot of a request that was answered or given up, or end its wait."""
        self._admitted.discard(who)
        self._waiting.pop(who, None)
        while self._waiting and len(self._admitted) < self._most:
            following = next(iter(self._waiting))
            turn = self._waiting.pop(following)
            self._admitted.add(following)
            if not turn.done():  # its time-out may have passed just now, and it is sent anyway
                turn.set_result(None)
