"""Statistics of measurements: interleaved rounds, medians and their spread."""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Name = TypeVar("Name")
Way = TypeVar("Way")
Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds, with the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))


def interleave(
    ways: Mapping[Name, Way], rounds: int, measure: Callable[[Way], Measured]
) -> dict[Name, list[Measured]]:
    """Measure every way in every round, so that other load on the machine affects all alike.

    Each round begins with another way: the first after a pause may have it easier.
    """
    results: dict[Name, list[Measured]] = {name: [] for name in ways}
    for name in in_turn(list(ways), rounds):
        results[name].append(measure(ways[name]))
    return results


def in_turn(names: Sequence[Name], rounds: int) -> Iterator[Name]:
    """Yield every name in every round, as `interleave` measures them."""
    for number in range(rounds):
        first = number % len(names)
        yield from (*names[first:], *names[:first])


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Divide ours by theirs, round by round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that is not exceeded by `percent` % of all values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
