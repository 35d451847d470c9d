"""Enough file descriptors for what runs: callers are turned away before the last one is taken.

A process that takes them all can't open its database, reach the web role or say what is wrong, and
the event loop closes what it accepts without a word.
"""

import logging
import resource
from collections.abc import Callable
from typing import Final

MOST_RESERVED: Final = 64
"""For the database, the web role's side of requests under way, and agents that sign in."""
RESERVED_PART: Final = 8
"""Where the limit is small, this part of it is kept, so that something can be served at all."""
WARN_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


def limit_of_this_process() -> int:
    """How many descriptors may be open at once; an operator can change it while we run."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if limit != resource.RLIM_INFINITY else 1 << 30


class DescriptorLimit:
    """Decides which connections may stay, and tells of a shortage: at once, then now and then."""

    def __init__(self, limit: Callable[[], int] = limit_of_this_process) -> None:
        self._limit = limit
        self._warned_at: float | None = None  # while there is a shortage
        self._refused_at = 0.0
        self.refused_count = 0

    def may_take(self, number: int, now: float) -> bool:
        """Whether a connection with this descriptor may stay.

        The kernel gives the lowest number that is free: a high one means that few are left.
        """
        limit = self._limit()
        if number < limit - min(MOST_RESERVED, limit // RESERVED_PART):
            return True
        self.refused_count += 1
        self._refused_at = now
        self._warn_of_shortage(now, limit)
        return False

    def look_again(self, now: float) -> None:
        """Called about once a second: tell when the shortage is over."""
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
