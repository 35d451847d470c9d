"""Timers that may be late: what is due in the same quarter of a second wakes the loop once.

For the keep-alive of thousands of idle tunnels. With a timer each, most of the time that a ping
takes is spent on waking up for it, and for its answer.
"""

import asyncio
import logging
from collections.abc import Callable
from math import ceil
from typing import Protocol

log = logging.getLogger(__name__)

BEAT_S = 0.25
AT_ONCE = 64
"""Calls in one turn of the loop, about a millisecond."""
BREATH_S = 0.005
"""Then others have their turn. It also draws apart what a pause of the process has made due at
once: a ping's next one is counted from its answer."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    """Who calls back: an event loop, or a Beat."""

    def call_at(self, when: float, callback: Callable[[], None], /) -> Timer: ...


class Appointment:
    """One call that is to come."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class Beat:
    """Timers of the running loop, up to BEAT_S late, and later when very many are due."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: dict[int, list[Appointment]] = {}  # by the number of the beat

    def call_at(self, when: float, callback: Callable[[], None], /) -> Appointment:
        number = ceil(when / BEAT_S)
        due = self._due.get(number)
        if due is None:
            due = self._due[number] = []
            self._loop.call_at(number * BEAT_S, self._come, number)
        appointment = Appointment(callback)
        due.append(appointment)
        return appointment

    def _come(self, number: int) -> None:
        self._call(self._due.pop(number))

    def _call(self, due: list[Appointment]) -> None:
        for appointment in due[:AT_ONCE]:
            if appointment.callback is not None:
                try:
                    appointment.callback()
                except Exception:
                    log.exception("a fault of ours on a beat")
        if len(due) > AT_ONCE:
            self._loop.call_later(BREATH_S, self._call, due[AT_ONCE:])
