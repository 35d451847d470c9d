"""A fair queue for work of which only a few jobs can run at once.

Each network has a queue of its own, and the queues are served in rotation: a network with a
thousand callers delays every other one by a single job at a time. When all places are taken, the
longest queue gives up its last place to a caller from a shorter one.
"""

import asyncio
from collections import deque
from contextlib import suppress

from printreach.ports.passwords import TooBusy


class FairQueue:
    """at_once: jobs at the same time. max_waiting: waiting callers of all networks together."""

    def __init__(self, *, at_once: int, max_waiting: int) -> None:
        self._free = at_once
        self._max_waiting = max_waiting
        self._waiting = 0
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, network: str) -> None:
        """Wait for a turn; leave() has to follow. Raises TooBusy if no place is left."""
        if self._free:
            self._free -= 1
            return
        if self._waiting >= self._max_waiting:
            self._make_room(network)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(network, deque()).append(turn)
        self._waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()  # its turn had come already
            else:
                self._forget(network, turn)
            raise

    def leave(self) -> None:
        """End a job: the next network has its turn."""
        while self._lines:
            network, line = next(iter(self._lines.items()))
            turn = line.popleft()
            self._waiting -= 1
            # to the end of the rotation
            del self._lines[network]
            if line:
                self._lines[network] = line
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _make_room(self, network: str) -> None:
        own = len(self._lines.get(network, ()))
        longest = max(self._lines, key=lambda name: len(self._lines[name]))
        if len(self._lines[longest]) < own + 2:
            raise TooBusy(f"{self._max_waiting} callers wait")
        turn = self._lines[longest].pop()
        self._waiting -= 1
        if not turn.done():
            turn.set_exception(TooBusy("others had fewer callers waiting"))

    def _forget(self, network: str, turn: "asyncio.Future[None]") -> None:
        line = self._lines.get(network, deque())
        with suppress(ValueError):
            line.remove(turn)
            self._waiting -= 1
        if not line:
            self._lines.pop(network, None)
