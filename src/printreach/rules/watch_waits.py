"""Waits of the watch before it looks again at a print that it could not, or need not, look at."""

from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from printreach.rules.watch_memory import WatchMemory

GIVEN_UP_AFTER: Final = timedelta(days=2)
"""A printer that was offline for this long prints nothing any more that is worth watching."""


class Why(Enum):
    """The reasons why there was no look."""

    OFF = "off"
    """The owner wants none. What they choose next makes the print due at once."""
    PAUSED = "paused"
    """The picture does not change; an event makes the print due as soon as it resumes."""
    NOT_PRINTING_YET = "not printing yet"
    """It heats, or is about to go on."""
    AWAY = "away"
    """The agent isn't here, which is known without asking anybody."""
    UNREACHED = "unreached"
    """The printer gave no status."""
    NO_CAMERA = "no camera"
    NO_PICTURE = "no picture"
    BUSY = "busy"
    """Too many pictures wait to be scored."""
    UNSCORED = "unscored"
    """No detector can score a picture until an operator acts."""


_WAITS_S: Final = {
    Why.OFF: (3600,),
    Why.PAUSED: (120,),
    Why.NOT_PRINTING_YET: (10,),
    Why.AWAY: (30, 60),
    Why.UNREACHED: (20, 60, 120, 300),
    Why.NO_CAMERA: (600,),
    Why.NO_PICTURE: (20, 60, 120, 300),
    Why.BUSY: (20, 40, 60),
    Why.UNSCORED: (60, 300),
}
"""The waits after the first miss in a row, the second, and so on; the last one repeats."""
_MISSES: Final = frozenset(
    {Why.AWAY, Why.UNREACHED, Why.NO_CAMERA, Why.NO_PICTURE, Why.BUSY, Why.UNSCORED}
)
_TAKE_TIME: Final = frozenset({Why.UNREACHED, Why.NO_PICTURE})
"""The reasons that may take until a timeout; all others are known at once."""
_OUT_OF_REACH: Final = frozenset({Why.AWAY, Why.UNREACHED})


def after_none(memory: WatchMemory, why: Why, at: datetime) -> tuple[WatchMemory, datetime]:
    """Return what to remember of a look that was not possible, and when to try again."""
    misses = memory.misses + 1 if why in _MISSES else 0
    waits_s = _WAITS_S[why]
    wait_s = waits_s[min(max(misses, 1), len(waits_s)) - 1]
    since = (memory.unreached_at or at) if why in _OUT_OF_REACH else None
    after = replace(memory, misses=misses, unreached_at=since)
    return after, at + timedelta(seconds=wait_s)


def is_degraded(why: Why) -> bool:
    """Whether the next look is made in the slots for looks that may hang."""
    return why in _TAKE_TIME


def is_given_up(memory: WatchMemory, at: datetime) -> bool:
    return memory.unreached_at is not None and at >= memory.unreached_at + GIVEN_UP_AFTER
