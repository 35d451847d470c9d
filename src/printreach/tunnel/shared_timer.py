"""One timer for many keepalives: calls due in the same quarter of a second wake the loop once.

It serves thousands of idle tunnels. With a timer for each, most of the CPU time of a ping would go
into waking up for it, and for its answer.
"""

import asyncio
import logging
from collections.abc import Callable
from math import ceil
from typing import Final, Protocol

log = logging.getLogger(__name__)

TICK_S: Final = 0.25
BATCH: Final = 64
"""Calls in one turn of the loop, about a millisecond."""
BATCH_PAUSE_S: Final = 0.005
"""The pause after a batch, in which other work gets its turn. It also spreads calls that a pause of
the process made due at the same time, since the next ping is timed from the answer to the last."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    """A source of timers: an event loop, or a SharedTimer."""

    def call_at(self, when: float, callback: Callable[[], None], /) -> Timer: ...


class ScheduledCall:
    """One call that is scheduled."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class SharedTimer:
    """Timers on the running loop, up to TICK_S late, and later when very many are due."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: dict[int, list[ScheduledCall]] = {}  # by the number of the tick

    def call_at(self, when: float, callback: Callable[[], None], /) -> ScheduledCall:
        number = ceil(when / TICK_S)
        due = self._due.get(number)
        if due is None:
            due = self._due[number] = []
            self._loop.call_at(number * TICK_S, self._on_tick, number)
        call = ScheduledCall(callback)
        due.append(call)
        return call

    def _on_tick(self, number: int) -> None:
        self._call(self._due.pop(number))

    def _call(self, due: list[ScheduledCall]) -> None:
        for call in due[:BATCH]:
            if call.callback is not None:
                try:
                    call.callback()
                except Exception:
                    log.exception("a callback of the shared timer failed unexpectedly")
        if len(due) > BATCH:
            self._loop.call_later(BATCH_PAUSE_S, self._call, due[BATCH:])
