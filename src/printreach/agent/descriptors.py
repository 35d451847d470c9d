"""Logs that this machine has run out of file descriptors: at once, and then at intervals.

Each request to the printer takes one. Without any, new requests are refused and those under way go
on; nothing else needs to be done, since descriptors become free as requests end.
"""

import errno
import logging
from collections.abc import Callable
from typing import Final

TELL_EVERY_S: Final = 60.0
_SHORT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE})

_log: Final = logging.getLogger(__name__)


class DescriptorShortage:
    """Logs connections that failed for want of descriptors. monotonic: a clock, in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._logged_at: float | None = None

    def log_if_short(self, failure: OSError) -> None:
        """Log a failed connection to the printer if descriptors have run out."""
        if failure.errno not in _SHORT_OF_DESCRIPTORS:
            return
        now = self._monotonic()
        if self._logged_at is not None and now < self._logged_at + TELL_EVERY_S:
            return
        self._logged_at = now
        _log.error(
            "file descriptors run out: new requests to the printer are refused until some end;"
            " LimitNOFILE= in the unit or `ulimit -n` allows more"
        )
