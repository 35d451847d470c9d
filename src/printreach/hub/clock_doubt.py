"""What the clock alone has ended, and whether that is to be believed.

A clock that jumps half a year ahead ends every webhook at once, and one that is set right again
brings none of them back. So what ends by the clock is left in peace at first: nothing is sent, and
nothing is dropped before it has been so for a day that was really lived through.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

BELIEVED_AFTER_S: Final = 24 * 3600.0
MOST_REMEMBERED: Final = 10_000
"""Beyond that the first are forgotten; their day begins anew."""


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
