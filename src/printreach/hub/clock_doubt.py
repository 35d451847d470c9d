"""What the clock alone has ended, and whether that is to be believed.

A clock that jumps half a year ahead ends every webhook at once, and one that is set right again
brings none of them back. So what ends by the clock is left in peace at first: nothing is sent, and
nothing is dropped before it has been so for a day that was really lived through.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from printreach.ports import Clock

log = logging.getLogger(__name__)

BELIEVED_AFTER_S: Final = 24 * 3600.0
MOST_REMEMBERED: Final = 10_000
"""Beyond that the first are forgotten; their day begins anew."""
JUMP: Final = timedelta(minutes=10)
"""Less is a clock that is being set right."""


class ClockDoubt:
    """For one process. steady_time: seconds, of a clock that nobody sets."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._steady_time = steady_time
        self._since: OrderedDict[str, float] = OrderedDict()

    def is_believed(self, connection_id: str) -> bool:
        """The clock says that it has ended: whether it has said so for long enough."""
        now = self._steady_time()
        since = self._since.setdefault(connection_id, now)
        if len(self._since) > MOST_REMEMBERED:
            self._since.popitem(last=False)
        return now - since >= BELIEVED_AFTER_S

    def clear(self, connection_id: str) -> None:
        """The clock says that it goes on."""
        self._since.pop(connection_id, None)


class JumpWatch:
    """Nothing is forgotten for its age for a day after the clock has jumped. For one process."""

    def __init__(self, clock: Clock, steady_time: Callable[[], float]) -> None:
        self._clock = clock
        self._steady_time = steady_time
        self._ahead = self._offset()
        self._jumped_at: float | None = None

    def careful(self, forget: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
        """The same pass, left out while the clock is not to be believed."""

        async def run() -> None:
            if self._is_believed():
                await forget()

        return run

    def _is_believed(self) -> bool:
        ahead, before = self._offset(), self._ahead
        self._ahead = ahead
        if abs(ahead - before) > JUMP:
            self._jumped_at = self._steady_time()
            log.warning(
                "The clock has jumped by %s. Nothing old is removed for a day.", ahead - before
            )
        jumped_at = self._jumped_at
        return jumped_at is None or self._steady_time() - jumped_at >= BELIEVED_AFTER_S

    def _offset(self) -> timedelta:
        return timedelta(seconds=self._clock.now().timestamp() - self._steady_time())
