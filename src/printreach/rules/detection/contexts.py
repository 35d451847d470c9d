"""Contexts of the failure-detection API: one for each print, owned by the key that made it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.detection import MINIMUM_INTERVAL_S, DetectionContext
from printreach.rules.detection.access import CallRefused

CONTEXT_LIFETIME: Final = timedelta(days=14)
"""The lifetime of a context since its creation, however often it is used."""
MAX_CONTEXTS: Final = 5000
"""The most contexts of one account.

They cost nothing, so beyond this the least recently used one is evicted; a print under way is
inspected each minute, and is never that one.
"""

LONGEST_INTERVAL_S: Final = 60
_BUSY_FROM: Final = 0.5
_MAX_STRETCH: Final = 3.0
"""The largest factor: a normal interval of 20 s becomes 60 s."""

_MINIMUM: Final = timedelta(seconds=MINIMUM_INTERVAL_S)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredContext:
    """A context as stored. used_at: of the last accepted image, or of its creation.

    version: counts the images that were accepted.
    """

    context_id: str
    key_id: str
    account_id: str
    created_at: datetime
    used_at: datetime
    version: int
    remembered: DetectionContext


@dataclass(frozen=True, slots=True)
class RetryLater(CallRefused):
    """A refusal after which the same call may be retried in this many seconds."""

    retry_after_s: int


def is_over(stored: StoredContext, at: datetime) -> bool:
    """Whether it has expired; the last instant is excluded."""
    return at >= stored.created_at + CONTEXT_LIFETIME


def wait_s(stored: StoredContext, at: datetime) -> int | None:
    """Return the whole seconds until the next image is accepted; None if it is accepted now.

    After the clock was set back no caller is locked out: a time in the future is ignored.
    """
    last_at = stored.remembered.last_at
    if last_at is None or not timedelta(0) <= at - last_at < _MINIMUM:
        return None
    return -(-(last_at + _MINIMUM - at) // timedelta(seconds=1))


def is_too_close(last_at: datetime | None, at: datetime) -> bool:
    """Whether two images of one context were sent closer together than the minimum interval.

    Either may be the earlier one: of images that are sent at the same time, any can be first.
    """
    return last_at is not None and abs(at - last_at) < _MINIMUM


def stretched_s(interval_s: int, load: float) -> int:
    """Return the interval to recommend under this load of the detector, 0 to 1.

    Intervals of suspicious prints are stretched by the same factor, so they stay the shorter ones.
    """
    busy = max(0.0, min(1.0, (load - _BUSY_FROM) / (1.0 - _BUSY_FROM)))
    stretched = round(interval_s * (1.0 + (_MAX_STRETCH - 1.0) * busy))
    return max(interval_s, min(LONGEST_INTERVAL_S, stretched))
