"""Bounds how many attempts are under way: for each target, and for targets of one speed.

A target that hangs holds each attempt for ten seconds. So it gets few slots, and targets that are
slow or down share no slots with quick ones: however many hang, the others are not delayed. New
targets have slots of their own until their speed is known. Queues of a target that answers wait
here for the next slot, in turn. Kept in memory, for the attempts of one worker.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
MAX_WAITING: Final = {TargetSpeed.NEW: 32, TargetSpeed.QUICK: 512, TargetSpeed.SLOW: 0}
"""Queues at once that wait for a slot; at a target that hangs none would come soon."""
MAX_WAITING_FOR_ONE: Final = 256
MIN_SHARE: Final = 8
"""A queue that waited gets at least an eighth of its target's slots: each turn is settled."""
QUICK_MS: Final = 2000
PARKED_S: Final = {TargetSpeed.NEW: 1.0, TargetSpeed.QUICK: 0.25, TargetSpeed.SLOW: 1.0}
"""After how long the first queue that found no slot looks again."""
PARKED_AT_ONCE_S: Final = 20
"""How many of the parked queues of one target look again each second; more if it is quick."""
MAX_PARKED_AT_ONCE_S: Final = 400
MAX_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Slots:
    """Slots that one queue has taken. speed: of the target by then, whose slots they are."""

    origin: str
    speed: TargetSpeed
    count: int

    def each(self) -> "Iterator[Slots]":
        """Yield them one by one."""
        for _ in range(self.count):
            yield replace(self, count=1)


@dataclass(slots=True)
class _Target:
    """slots: how many attempts it may have at once.

    waiting: queues that wait for slots, each with the most that it can use. answer_ms: how long the
    last answer took. parked: for each queue that found no slot, when it looks again. Times in the
    past count no more.
    """

    speed: TargetSpeed
    slots: int
    under_way: int = 0
    answer_ms: int = QUICK_MS
    waiting: deque[tuple[int, asyncio.Future[Slots]]] = field(default_factory=deque)
    parked: list[float] = field(default_factory=list)


class DeliveryLimiter:
    """Gives slots to queues before attempts begin, and is told when they end."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str, _Target] = OrderedDict()
        self._under_way = dict.fromkeys(TargetSpeed, 0)
        self._waiting = dict.fromkeys(TargetSpeed, 0)

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

    def take(self, origin: str, at_most: int) -> Slots:
        """Take slots for attempts; none while other queues wait for them."""
        target = self._get(origin)
        free = 0 if target.waiting else self.free_slots(origin)
        return self._take(origin, min(free, at_most))

    async def wait(self, origin: str, at_most: int, within_s: float) -> Slots | None:
        """Take slots as soon as there are some; None if none came, or too many wait already."""
        target = self._get(origin)
        speed = target.speed
        if len(target.waiting) >= MAX_WAITING_FOR_ONE or self._waiting[speed] >= MAX_WAITING[speed]:
            return None
        turn: asyncio.Future[Slots] = asyncio.get_running_loop().create_future()
        entry = (at_most, turn)
        target.waiting.append(entry)
        self._waiting[speed] += 1
        try:
            await asyncio.wait([turn], timeout=within_s)
        except asyncio.CancelledError:
            if turn.done():
                self.give_back(turn.result())
            raise
        finally:
            self._waiting[speed] -= 1
            if not turn.done():
                target.waiting.remove(entry)
        return turn.result() if turn.done() else None

    def give_back(self, slots: Slots) -> None:
        """Give back slots of which nothing is said."""
        target = self._get(slots.origin)
        were_all_taken = self._under_way[slots.speed] >= SLOTS[slots.speed]
        target.under_way -= slots.count
        self._under_way[slots.speed] -= slots.count
        if were_all_taken and self._waiting[slots.speed]:
            self._serve_targets(slots.speed)
        self._serve_waiting(slots.origin, target)

    def end(self, slot: Slots, *, answered_in_ms: int | None) -> None:
        """Give back the slot of an attempt that ended. answered_in_ms: None if no answer came."""
        target = self._get(slot.origin)
        if answered_in_ms is None or answered_in_ms > QUICK_MS:
            target.speed, target.slots = TargetSpeed.SLOW, FIRST_SLOTS[TargetSpeed.SLOW]
        else:
            if target.speed is not TargetSpeed.QUICK:
                target.parked = []
            target.speed, target.slots = TargetSpeed.QUICK, min(MAX_SLOTS, target.slots * 2)
            target.answer_ms = answered_in_ms
        self.give_back(slot)

    def park(self, origin: str, now: float) -> float:
        """Return after how many seconds a queue that found no slot should look again.

        The more wait, the longer, so that looking costs the same however many there are. now: of a
        monotonic clock.
        """
        target = self._get(origin)
        waiting = [until for until in target.parked if until > now]
        wait_s = PARKED_S[target.speed] + (len(waiting) + 1) / _parked_at_once_s(target)
        target.parked = [*waiting, now + wait_s]
        return wait_s

    def _serve_waiting(self, origin: str, target: _Target) -> None:
        while target.waiting and self.free_slots(origin) >= self._least_share(target):
            at_most, turn = target.waiting.popleft()
            turn.set_result(self._take(origin, min(at_most, self.free_slots(origin))))

    def _least_share(self, target: _Target) -> int:
        """Return how many slots a turn has at least, as far as its speed has so many left."""
        left = SLOTS[target.speed] - self._under_way[target.speed]
        return max(1, min(target.slots // MIN_SHARE, left))

    def _serve_targets(self, speed: TargetSpeed) -> None:
        """Serve the queues of all targets of this speed; first where least is under way."""
        targets = [
            (target.under_way, origin)
            for origin, target in self._targets.items()
            if target.speed is speed and target.waiting
        ]
        for _, origin in sorted(targets):
            if self._under_way[speed] >= SLOTS[speed]:
                return
            self._serve_waiting(origin, self._targets[origin])

    def _take(self, origin: str, count: int) -> Slots:
        target = self._targets[origin]
        target.under_way += count
        self._under_way[target.speed] += count
        return Slots(origin, target.speed, count)

    def _get(self, origin: str) -> _Target:
        self.register(origin, TargetSpeed.NEW)
        return self._targets[origin]

    def _forget_one(self) -> None:
        for origin, target in self._targets.items():
            if not target.under_way and not target.waiting:
                del self._targets[origin]
                return


def _parked_at_once_s(target: _Target) -> float:
    """Return how many parked queues should look again each second: as many as find slots."""
    if target.speed is not TargetSpeed.QUICK:
        return PARKED_AT_ONCE_S
    found_a_second = 1000 * target.slots / max(1, target.answer_ms)
    return min(MAX_PARKED_AT_ONCE_S, max(PARKED_AT_ONCE_S, found_a_second))
