"""The intervals of shares and rates of prints: if each print counts alone, or each camera."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from printreach.detector.evaluation.figures import FEWEST_CAMERAS
from printreach.detector.evaluation.prints import Outcome, together

Interval = tuple[float, float]

_DEVIATIONS: Final = 1.96
_OUTER_SHARE: Final = 0.025
_DRAWS: Final = 2000
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Intervals:
    """Of the prints paused too soon, of the false pauses in 1,000 hours, and of failing prints
    warned of and paused in time."""

    early_paused: Interval
    rate: Interval
    warned: Interval
    paused: Interval


def over_prints(of: Outcome) -> Intervals:
    """Return the intervals of prints of which none has to do with another."""
    return Intervals(
        early_paused=likely_share(of.early_paused, of.prints),
        rate=likely_rate(of.early_paused, of.good_hours),
        warned=likely_share(of.warned, of.failing),
        paused=likely_share(of.paused, of.failing),
    )


def over_cameras(cameras: Sequence[Outcome]) -> Intervals | None:
    """Return where 95 of 100 draws of whole cameras lie; None where the cameras are too few."""
    if len(cameras) < FEWEST_CAMERAS:
        return None
    numbers = np.random.default_rng(_SEED)
    drawn = [
        together(cameras[number] for number in numbers.integers(len(cameras), size=len(cameras)))
        for _ in range(_DRAWS)
    ]
    return Intervals(
        early_paused=_middle([(one.early_paused, one.prints) for one in drawn]),
        rate=_middle([(one.early_paused * 1000, one.good_hours) for one in drawn], math.inf),
        warned=_middle([(one.warned, one.failing) for one in drawn]),
        paused=_middle([(one.paused, one.failing) for one in drawn]),
    )


def likely_share(count: int, of: int) -> tuple[float, float]:
    """Return where a share that was seen so often lies in 95 of 100 cases, by Wilson."""
    if of == 0:
        return 0.0, 1.0
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = share * (1 - share) / of + square / (4 * of**2)
    away = _DEVIATIONS * math.sqrt(spread) / (1 + square / of)
    return max(0.0, middle - away), min(1.0, middle + away)


def likely_rate(count: int, hours: float) -> tuple[float, float]:
    """Return where a rate per 1,000 hours, seen so often in hours, lies in 95 of 100 cases.

    The exact interval of a Poisson count.
    """
    if hours <= 0:
        return 0.0, math.inf
    least = 0.0 if count == 0 else _mean_with(count - 1, 1 - _OUTER_SHARE)
    return least * 1000 / hours, _mean_with(count, _OUTER_SHARE) * 1000 / hours


def _middle(drawn: Sequence[tuple[float, float]], farthest: float = 1.0) -> Interval:
    """Return between which two values 95 of 100 of the shares lie; none is beyond the farthest."""
    shares = [count / of for count, of in drawn if of > 0]
    if not shares:
        return 0.0, farthest
    least, most = np.percentile(shares, (100 * _OUTER_SHARE, 100 * (1 - _OUTER_SHARE)))
    return float(least), float(most)


def _mean_with(count: int, share: float) -> float:
    """Return the mean of the Poisson distribution that gives at most count in this share."""
    low, high = 0.0, 10.0 + 3.0 * count
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(count, middle) > share else (low, middle)
    return (low + high) / 2


def _at_most(count: int, mean: float) -> float:
    """Return how likely a Poisson variable is at most count."""
    if mean == 0:
        return 1.0
    return sum(
        math.exp(number * math.log(mean) - mean - math.lgamma(number + 1))
        for number in range(count + 1)
    )
