"""A histogram of durations, as Prometheus counts them."""

from itertools import accumulate
from typing import Final

BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the buckets: Prometheus's own, and one for printers that think long."""


class Histogram:
    """Counts durations by bucket. sum_s: of all of them."""

    __slots__ = ("_counts", "sum_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def observe(self, duration_s: float) -> None:
        bucket = 0
        for bound_s in BOUNDS_S:  # most durations are in one of the first
            if duration_s <= bound_s:
                break
            bucket += 1
        self._counts[bucket] += 1
        self.sum_s += duration_s

    def up_to(self) -> list[int]:
        """Return how many took up to each bound, and at last how many there are."""
        return list(accumulate(self._counts))
