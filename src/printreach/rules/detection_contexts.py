"""Contexts of the failure-detection API: one for each print, of the key that made it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.rules.detection import MINIMUM_INTERVAL_S, DetectionContext
from printreach.rules.detection_access import CallRefused

CONTEXT_LIFETIME: Final = timedelta(days=14)
"""From when it was made, however often it is used."""
MOST_CONTEXTS: Final = 5000
"""Of one account. They cost nothing, so beyond this the one that rested longest is forgotten: a
print under way is looked at each minute, and is never that one."""

LONGEST_INTERVAL_S: Final = 60
_BUSY_FROM: Final = 0.5
_MOST_STRETCH: Final = 3.0
"""A normal interval of 20 s becomes 60 s."""

_MINIMUM: Final = timedelta(seconds=MINIMUM_INTERVAL_S)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredContext:
    """A context as it is stored. used_at: of the last accepted image, at first of its making.

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
    """The same call may be made again after so many seconds."""

    retry_after_s: int


def is_over(kept: StoredContext, at: datetime) -> bool:
    """Whether it has expired; the last instant is excluded."""
    return at >= kept.created_at + CONTEXT_LIFETIME


def wait_s(kept: StoredContext, at: datetime) -> int | None:
    """Whole seconds until the next image is taken; None where it is taken now.

    A clock that was moved back locks nobody out: what lies ahead of it was not just now.
    """
    last_at = kept.remembered.last_at
    if last_at is None or not timedelta(0) <= at - last_at < _MINIMUM:
        return None
    return -(-(last_at + _MINIMUM - at) // timedelta(seconds=1))


def is_too_close(last_at: datetime | None, at: datetime) -> bool:
    """Whether two images of one context were sent closer together than the minimum interval.

    Either may be the earlier one: of images that are sent at the same time, any can be first.
    """
    return last_at is not None and abs(at - last_at) < _MINIMUM


def stretched_s(interval_s: int, load: float) -> int:
    """Return the interval to recommend while the detector is so busy, 0 to 1.

    What is under suspicion is stretched by as much, and so keeps its place before the rest.
    """
    busy = max(0.0, min(1.0, (load - _BUSY_FROM) / (1.0 - _BUSY_FROM)))
    stretched = round(interval_s * (1.0 + (_MOST_STRETCH - 1.0) * busy))
    return max(interval_s, min(LONGEST_INTERVAL_S, stretched))
