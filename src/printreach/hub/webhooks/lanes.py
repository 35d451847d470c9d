"""How many attempts may be under way: by target, and by how targets have behaved.

A target that hangs holds each attempt for ten seconds. So it gets few at a time, and what is known
to be slow or down shares no room with what is known to be quick: however many targets hang, the
others notice nothing. New targets have a room of their own until it is known which kind they are.
Kept in memory, for the attempts of one worker.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final


class Lane(Enum):
    """Which room a target's attempts take up."""

    NEW = auto()
    QUICK = auto()
    SLOW = auto()


ROOM: Final = {Lane.NEW: 48, Lane.QUICK: 160, Lane.SLOW: 48}
"""Attempts at once, each a socket; a process has a thousand, and agents need most of them."""
FIRST_SHARE: Final = {Lane.NEW: 2, Lane.QUICK: 8, Lane.SLOW: 2}
"""Of a target's attempts at once; one that answers gets more."""
QUICK_SHARE: Final = 32
QUICK_MS: Final = 2000
PARKED_AT_ONCE_S: Final = 20
"""Of the queues that find no room at a target, so many look again each second."""
MOST_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Target:
    """share: how many attempts it may have at once.

    parked: of queues that found no room, when each looks again. Whoever does, or is gone by then,
    counts no more.
    """

    lane: Lane
    share: int
    under_way: int = 0
    parked: list[float] = field(default_factory=list)


class Lanes:
    """Asked before attempts begin, and told when they end."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str, _Target] = OrderedDict()
        self._under_way = dict.fromkeys(Lane, 0)

    def meet(self, origin: str, lane: Lane) -> None:
        """lane: what the store knows of a target that this worker has not met yet."""
        if origin in self._targets:
            self._targets.move_to_end(origin)
            return
        self._targets[origin] = _Target(lane, FIRST_SHARE[lane])
        if len(self._targets) > MOST_REMEMBERED:
            self._forget_one()

    def room(self, origin: str) -> int:
        """How many attempts may begin at this target now."""
        target = self._of(origin)
        return max(
            0,
            min(target.share - target.under_way, ROOM[target.lane] - self._under_way[target.lane]),
        )

    def begin(self, origin: str) -> Lane:
        """One attempt; end() wants the lane back."""
        target = self._of(origin)
        target.under_way += 1
        self._under_way[target.lane] += 1
        return target.lane

    def end(self, origin: str, lane: Lane, *, answered_in_ms: int | None) -> None:
        """The attempt is over. answered_in_ms: None where no answer came."""
        target = self._of(origin)
        target.under_way -= 1
        self._under_way[lane] -= 1
        if answered_in_ms is None or answered_in_ms > QUICK_MS:
            target.lane, target.share = Lane.SLOW, FIRST_SHARE[Lane.SLOW]
        else:
            target.lane, target.share = Lane.QUICK, min(QUICK_SHARE, target.share * 2)
            target.parked = []

    def park(self, origin: str, now: float) -> float:
        """A queue found no room; the seconds after which it is to look again.

        The more there are, the longer, so that looking costs the same however many wait. now: of a
        clock that nobody sets.
        """
        target = self._of(origin)
        waiting = [until for until in target.parked if until > now]
        wait_s = 1.0 + (len(waiting) + 1) / PARKED_AT_ONCE_S
        target.parked = [*waiting, now + wait_s]
        return wait_s

    def _of(self, origin: str) -> _Target:
        self.meet(origin, Lane.NEW)
        return self._targets[origin]

    def _forget_one(self) -> None:
        for origin, target in self._targets.items():
            if not target.under_way:
                del self._targets[origin]
                return
