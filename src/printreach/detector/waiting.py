"""The pictures that wait for a thread: bounded by their number and by their bytes."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from printreach.ports.scoring import ScoringRefused
from printreach.rules.detection import Sight
from printreach.rules.watching import Region

MOST_WAITING: Final = 32
"""At 15 ms each that is half a second; on a slow machine some seconds."""
MOST_WAITING_BYTES: Final = 64 * 1024 * 1024
"""Ten of the largest pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A picture that somebody asks about."""

    picture: bytes
    masked: tuple[Region, ...]
    answer: asyncio.Future[Sight]

    @property
    def is_wanted(self) -> bool:
        """Somebody still waits. Any thread may ask."""
        return not self.answer.done()

    def tell(self, outcome: Sight | ScoringRefused | None) -> None:
        """Answer it, where somebody still waits. None: it was not looked at."""
        if not self.is_wanted:
            return
        match outcome:
            case Sight():
                self.answer.set_result(outcome)
            case ScoringRefused():
                self.answer.set_exception(outcome)
            case None:
                self.answer.cancel()

    def give_up(self) -> None:
        """Its caller has gone."""
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()  # else asyncio complains that nobody asked for it


class Line:
    """First come, first served. Belongs to one event loop."""

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self._bytes = 0

    @property
    def load(self) -> float:
        """How full it is, 0 to 1."""
        return min(1.0, max(len(self._waiting) / MOST_WAITING, self._bytes / MOST_WAITING_BYTES))

    def has_room_for(self, size: int) -> bool:
        return len(self._waiting) < MOST_WAITING and self._bytes + size <= MOST_WAITING_BYTES

    def join(self, waiting: Waiting) -> None:
        self._waiting.append(waiting)
        self._bytes += len(waiting.picture)

    def leave(self, waiting: Waiting) -> None:
        """Make its place free, where it still has one."""
        if waiting in self._waiting:
            self._waiting.remove(waiting)
            self._bytes -= len(waiting.picture)

    def take(self, most: int = MOST_WAITING) -> list[Waiting]:
        """Those at the front."""
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        self._bytes -= sum(len(waiting.picture) for waiting in taken)
        return taken
