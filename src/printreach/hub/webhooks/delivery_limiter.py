"""Bounds how many attempts are under way: for each target, and for targets of one speed.

A target that hangs holds each attempt for ten seconds. So it gets few slots, and targets that are
slow or down share no slots with quick ones: however many hang, the others are not delayed. New
targets have slots of their own until their speed is known. Kept in memory, for the attempts of one
worker.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final


class TargetSpeed(Enum):
    """How a target has behaved, which decides the slots that its attempts use."""

    NEW = auto()
    QUICK = auto()
    SLOW = auto()


SLOTS: Final = {TargetSpeed.NEW: 48, TargetSpeed.QUICK: 160, TargetSpeed.SLOW: 48}
"""Attempts at once, each a socket; a process has a thousand, and agents need most of them."""
FIRST_SLOTS: Final = {TargetSpeed.NEW: 2, TargetSpeed.QUICK: 8, TargetSpeed.SLOW: 2}
"""Slots of one target at first; one that answers gets more."""
MAX_SLOTS: Final = 32
QUICK_MS: Final = 2000
PARKED_AT_ONCE_S: Final = 20
"""How many of the queues that wait for one target look again each second."""
MAX_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Target:
    """slots: how many attempts it may have at once.

    parked: for each queue that found no slot, when it looks again. Times in the past count no more.
    """

    speed: TargetSpeed
    slots: int
    under_way: int = 0
    parked: list[float] = field(default_factory=list)


class DeliveryLimiter:
    """Asked before attempts begin, and told when they end."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str, _Target] = OrderedDict()
        self._under_way = dict.fromkeys(TargetSpeed, 0)

    def register(self, origin: str, speed: TargetSpeed) -> None:
        """Add a target if it is new here. speed: what the store knows of it."""
        if origin in self._targets:
            self._targets.move_to_end(origin)
            return
        self._targets[origin] = _Target(speed, FIRST_SLOTS[speed])
        if len(self._targets) > MAX_REMEMBERED:
            self._forget_one()

    def free_slots(self, origin: str) -> int:
        """Return how many attempts may begin at this target now."""
        target = self._get(origin)
        return max(
            0,
            min(
                target.slots - target.under_way, SLOTS[target.speed] - self._under_way[target.speed]
            ),
        )

    def begin(self, origin: str) -> TargetSpeed:
        """Begin one attempt; return the speed that end() has to be given."""
        target = self._get(origin)
        target.under_way += 1
        self._under_way[target.speed] += 1
        return target.speed

    def end(self, origin: str, speed: TargetSpeed, *, answered_in_ms: int | None) -> None:
        """End the attempt. answered_in_ms: None if no answer came."""
        target = self._get(origin)
        target.under_way -= 1
        self._under_way[speed] -= 1
        if answered_in_ms is None or answered_in_ms > QUICK_MS:
            target.speed, target.slots = TargetSpeed.SLOW, FIRST_SLOTS[TargetSpeed.SLOW]
        else:
            target.speed, target.slots = TargetSpeed.QUICK, min(MAX_SLOTS, target.slots * 2)
            target.parked = []

    def park(self, origin: str, now: float) -> float:
        """Return after how many seconds a queue that found no slot should look again.

        The more wait, the longer, so that looking costs the same however many there are. now: of a
        monotonic clock.
        """
        target = self._get(origin)
        waiting = [until for until in target.parked if until > now]
        wait_s = 1.0 + (len(waiting) + 1) / PARKED_AT_ONCE_S
        target.parked = [*waiting, now + wait_s]
        return wait_s

    def _get(self, origin: str) -> _Target:
        self.register(origin, TargetSpeed.NEW)
        return self._targets[origin]

    def _forget_one(self) -> None:
        for origin, target in self._targets.items():
            if not target.under_way:
                del self._targets[origin]
                return
