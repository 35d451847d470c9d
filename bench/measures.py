"""From many measurements to one figure: rounds in turn, medians, and how far they spread."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Way = TypeVar("Way")
Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds, and the lowest and highest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))


def interleave(
    ways: Mapping[str, Way], rounds: int, measure: Callable[[Way], Measured]
) -> dict[str, list[Measured]]:
    """Measure every way in every round, so that what else the machine does hits all alike.

    Each round begins with another way: the first after a pause may have it easier.
    """
    names = list(ways)
    results: dict[str, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            results[name].append(measure(ways[name]))
    return results


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Ours by theirs, round by round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
