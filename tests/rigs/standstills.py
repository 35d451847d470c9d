"""The time for which this machine was stalled, which tests of promptness leave out.

A thread wants to wake often. What it wakes too late, everything else on the machine is late, too.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

EVERY_S = 0.02
TIMEOUT_S = 60.0


class Standstills:
    """The thread's findings so far."""

    def __init__(self) -> None:
        self._noticed: list[tuple[float, float]] = []  # from when it should have run until it did
        self._ticked = threading.Condition()
        self._ticked_at = time.monotonic()
        self._is_over = False

    def between(self, began_at: float, ended_at: float) -> float:
        """Seconds for which the machine stood still within that time of its monotonic clock."""
        with self._ticked:
            self._ticked.wait_for(lambda: self._ticked_at > ended_at, TIMEOUT_S)
            noticed = list(self._noticed)
        overlaps = (min(until, ended_at) - max(since, began_at) for since, until in noticed)
        return sum(seconds for seconds in overlaps if seconds > 0)

    def running_s(self, began_at: float, ended_at: float | None = None) -> float:
        """Return how long of that time, or of that until now, the machine was running."""
        until = time.monotonic() if ended_at is None else ended_at
        return until - began_at - self.between(began_at, until)

    def watch(self) -> None:
        """The thread's work."""
        while not self._is_over:
            due_at = time.monotonic() + EVERY_S
            time.sleep(EVERY_S)
            with self._ticked:
                self._ticked_at = time.monotonic()
                if self._ticked_at - due_at > EVERY_S:
                    self._noticed.append((due_at, self._ticked_at))
                self._ticked.notify_all()

    def end(self) -> None:
        self._is_over = True


@contextmanager
def standstills() -> Iterator[Standstills]:
    """Watch for them meanwhile."""
    noticed = Standstills()
    watching = threading.Thread(target=noticed.watch, name="standstills")
    watching.start()
    try:
        yield noticed
    finally:
        noticed.end()
        watching.join()
