"""A limit on file descriptors: new connections are refused before the last descriptor is taken.

A process without free descriptors can't open its database, reach the web role or log what is wrong,
and the event loop closes accepted connections silently.
"""

import logging
import resource
from collections.abc import Callable
from typing import Final

MAX_RESERVED: Final = 64
"""Reserved for the database, connections to the web role, and agents that sign in."""
RESERVED_PART: Final = 8
"""Of a small limit only an eighth is reserved, so that some requests can be served."""
WARN_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


def limit_of_this_process() -> int:
    """Return how many descriptors may be open; an operator can change it while we run."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if limit != resource.RLIM_INFINITY else 1 << 30


class DescriptorLimit:
    """Decides which connections may stay, and logs a shortage: at once, then at an interval."""

    def __init__(self, limit: Callable[[], int] = limit_of_this_process) -> None:
        self._limit = limit
        self._warned_at: float | None = None  # while there is a shortage
        self._refused_at = 0.0
        self.refused_count = 0

    def may_take(self, number: int, now: float) -> bool:
        """Return whether a connection with this descriptor may stay.

        The kernel assigns the lowest free number, so a high one means that few are left.
        """
        limit = self._limit()
        if number < limit - min(MAX_RESERVED, limit // RESERVED_PART):
            return True
        self.refused_count += 1
        self._refused_at = now
        self._warn_of_shortage(now, limit)
        return False

    def look_again(self, now: float) -> None:
        """Log that the shortage is over; called about once a second."""
        if self._warned_at is not None and now >= self._refused_at + WARN_INTERVAL_S:
            _log.warning("file descriptors are free again: new connections are accepted")
            self._warned_at = None

    def _warn_of_shortage(self, now: float, limit: int) -> None:
        if self._warned_at is not None and now < self._warned_at + WARN_INTERVAL_S:
            return
        _log.error(
            "file descriptors run out (%d are allowed): new connections are refused, %d so far;"
            " LimitNOFILE= in the unit or `ulimit -n` allows more",
            limit,
            self.refused_count,
        )
        self._warned_at = now
