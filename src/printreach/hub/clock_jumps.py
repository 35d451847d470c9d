"""What has ended only by the clock, and when the clock is to be trusted about it.

A clock that jumps half a year ahead ends every webhook at once, and setting it right brings none of
them back. So what ends by the clock is kept at first: nothing is sent, and nothing is dropped until
it has been so for a whole day by a monotonic clock.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from printreach.ports import Clock

log = logging.getLogger(__name__)

CONFIRMED_AFTER_S: Final = 24 * 3600.0
_HOUR_S: Final = 3600.0
JUMP: Final = timedelta(minutes=10)
"""A smaller difference is a clock that is being adjusted."""


class ClockHistory:
    """The times that the clock showed in the last day. For one process.

    steady_time: seconds, of a clock that cannot be set.
    """

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._steady_time = steady_time
        self._began: float | None = None
        # the earliest time that the clock showed, by hour of steady_time
        self._lowest: dict[int, datetime] = {}

    def confirmed_time(self, at: datetime) -> datetime | None:
        """Return the earliest time that the clock showed in the last day: what ended before that
        has ended.

        at: the clock's present time. None before a day has gone by.
        """
        now = self._steady_time()
        self._note(at, now)
        if self._began is None:
            self._began = now
        is_early = now - self._began < CONFIRMED_AFTER_S
        return None if is_early else min(self._lowest.values())

    def _note(self, at: datetime, now: float) -> None:
        hour, first = int(now // _HOUR_S), int((now - CONFIRMED_AFTER_S) // _HOUR_S)
        self._lowest[hour] = min(at, self._lowest.get(hour, at))
        hours = list(self._lowest)
        for earlier, later in pairwise(hours):
            if later <= first:  # the last hour before that day counts, too
                del self._lowest[earlier]


class ClockJumpGuard:
    """Suspends deletion by age for a day after the clock has jumped. For one process."""

    def __init__(self, clock: Clock, steady_time: Callable[[], float]) -> None:
        self._clock = clock
        self._steady_time = steady_time
        self._ahead = self._offset()
        self._jumped_at: float | None = None

    def guarded(self, forget: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
        """Return the same pass, which does nothing while the clock is not trusted."""

        async def run() -> None:
            if self._has_settled():
                await forget()

        return run

    def _has_settled(self) -> bool:
        ahead, before = self._offset(), self._ahead
        self._ahead = ahead
        if abs(ahead - before) > JUMP:
            self._jumped_at = self._steady_time()
            log.warning(
                "The clock has jumped by %s. Nothing old is removed for a day.", ahead - before
            )
        jumped_at = self._jumped_at
        return jumped_at is None or self._steady_time() - jumped_at >= CONFIRMED_AFTER_S

    def _offset(self) -> timedelta:
        return timedelta(seconds=self._clock.now().timestamp() - self._steady_time())
