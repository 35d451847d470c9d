"""How well scores tell failed pictures from others, and how sure that is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]

_DRAWS: Final = 2000
_SEED: Final = 7
_OUTER: Final = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and between which two it lies in 95 of 100 draws of the same photos."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one stratum. recall_at_1 and recall_at_5: at so many percent false positives."""

    failed: int
    others: int
    auc: Figure
    recall_at_1: Figure
    recall_at_5: Figure


def figures(scores: Scores, failed: Labels) -> Figures:
    """Measure one stratum, which has photos of both classes."""
    return Figures(
        int(failed.sum()),
        int((~failed).sum()),
        _figure(auc, scores, failed),
        _figure(lambda scores, failed: recall_at(scores, failed, 0.01), scores, failed),
        _figure(lambda scores, failed: recall_at(scores, failed, 0.05), scores, failed),
    )


def auc(scores: Scores, failed: Labels) -> float:
    """How often a failed picture scores above another one; ties count half."""
    apart = scores[failed][:, None] - scores[~failed][None, :]
    return float((apart > 0).mean() + 0.5 * (apart == 0).mean())


def recall_at(scores: Scores, failed: Labels, false_positives: float) -> float:
    """The share of failures above a threshold that so small a share of the others passes."""
    others = np.sort(scores[~failed])[::-1]
    threshold = others[int(false_positives * len(others))]
    return float((scores[failed] > threshold).mean())


def _figure(measure: Callable[[Scores, Labels], float], scores: Scores, failed: Labels) -> Figure:
    """Draw photos of each class anew, with repeats, and see how the figure moves."""
    numbers = np.random.default_rng(_SEED)
    bad, good = np.flatnonzero(failed), np.flatnonzero(~failed)
    drawn = [
        measure(scores[chosen], failed[chosen])
        for chosen in (
            np.concatenate([numbers.choice(bad, len(bad)), numbers.choice(good, len(good))])
            for _ in range(_DRAWS)
        )
    ]
    low, high = np.percentile(drawn, _OUTER)
    return Figure(measure(scores, failed), float(low), float(high))
