"""How well scores tell failed pictures from others, and how sure that is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Measure = Callable[[Scores, Labels], float]

_DRAWS: Final = 2000
_SEED: Final = 7
_OUTER: Final = (2.5, 97.5)
FEWEST_CAMERAS: Final = 3
"""Fewer say nothing of other cameras."""
_FEWEST_DRAWN: Final = _DRAWS // 2
"""Draws that hold both classes; with fewer of them there is no interval."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and between which two it lies in 95 of 100 draws. None: there were too few."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one stratum. recall_at_1 and recall_at_5: at so many percent false positives."""

    failed: int
    others: int
    auc: Figure
    recall_at_1: Figure
    recall_at_5: Figure


@dataclass(frozen=True, slots=True)
class CameraFigures:
    """Of pictures by several cameras.

    pooled: all pictures together, under one threshold, with intervals over draws of cameras. mean:
    of each camera measured by its own good pictures, over the same draws; None where no camera has
    pictures of both classes. by_camera: those that have both, by name.
    """

    pooled: Figures
    mean: Figures | None
    by_camera: dict[str, Figures]

    @property
    def worst(self) -> str | None:
        """The camera whose recall at 5 % of its own good pictures is the lowest."""
        return min(
            self.by_camera, key=lambda name: self.by_camera[name].recall_at_5.value, default=None
        )


def figures(scores: Scores, failed: Labels) -> Figures:
    """Measure one stratum, which has pictures of both classes. Intervals are over pictures."""
    numbers = np.random.default_rng(_SEED)
    bad, good = np.flatnonzero(failed), np.flatnonzero(~failed)
    draws = [
        np.concatenate([numbers.choice(bad, len(bad)), numbers.choice(good, len(good))])
        for _ in range(_DRAWS)
    ]
    return _figures(scores, failed, draws)


def figures_of_frames(
    scores: Sequence[float], failed: Sequence[bool], cameras: Sequence[str]
) -> tuple[Figures, CameraFigures] | None:
    """Measure frames, pooled and by camera; None unless there are both classes."""
    if len(set(failed)) < 2:
        return None
    scored, labels = np.array(scores), np.array(failed)
    return figures(scored, labels), figures_by_camera(scored, labels, cameras)


def figures_by_camera(scores: Scores, failed: Labels, cameras: Sequence[str]) -> CameraFigures:
    """Measure pictures of both classes. cameras: of each picture; "" for one of its own."""
    members = _by_camera(cameras)
    numbers = np.random.default_rng(_SEED)
    draws: list[Indices] = []
    if len(members) >= FEWEST_CAMERAS:
        groups = list(members.values())
        for _ in range(_DRAWS):
            chosen = numbers.integers(len(groups), size=len(groups))
            drawn = np.concatenate([groups[number] for number in chosen])
            if 0 < failed[drawn].sum() < len(drawn):  # a draw of cameras may lack a class
                draws.append(drawn)
    by_camera = {
        name: figures(scores[its], failed[its])
        for name, its in sorted(members.items())
        if 0 < failed[its].sum() < len(its)
    }
    pooled = _figures(scores, failed, draws if len(draws) >= _FEWEST_DRAWN else ())
    return CameraFigures(pooled, _mean(list(by_camera.values())), by_camera)


def auc(scores: Scores, failed: Labels) -> float:
    """How often a failed picture scores above another one; ties count half."""
    others = np.sort(scores[~failed])
    below = np.searchsorted(others, scores[failed], side="left")
    not_above = np.searchsorted(others, scores[failed], side="right")
    return float((below + not_above).mean() / (2 * len(others)))


def recall_at(scores: Scores, failed: Labels, false_positives: float) -> float:
    """The share of failures above a threshold that so small a share of the others passes."""
    others = np.sort(scores[~failed])[::-1]
    threshold = others[int(false_positives * len(others))]
    return float((scores[failed] > threshold).mean())


def _recall_at_1(scores: Scores, failed: Labels) -> float:
    return recall_at(scores, failed, 0.01)


def _recall_at_5(scores: Scores, failed: Labels) -> float:
    return recall_at(scores, failed, 0.05)


def _by_camera(cameras: Sequence[str]) -> dict[str, Indices]:
    """Return the pictures of each camera; one without a camera's name is a group of its own."""
    members: dict[str, list[int]] = {}
    for number, camera in enumerate(cameras):
        # No camera's name has a null byte: it is a folder's, or from a file of labels.
        members.setdefault(camera or f"\0{number}", []).append(number)
    return {name: np.array(its) for name, its in members.items()}


def _figures(scores: Scores, failed: Labels, draws: Sequence[Indices]) -> Figures:
    """Measure, and see how the figures move when pictures are drawn anew, with repeats."""
    measures: tuple[Measure, ...] = (auc, _recall_at_1, _recall_at_5)
    of_all = (
        _figure(measure(scores, failed), [measure(scores[drawn], failed[drawn]) for drawn in draws])
        for measure in measures
    )
    return Figures(int(failed.sum()), int((~failed).sum()), *of_all)


def _mean(cameras: Sequence[Figures]) -> Figures | None:
    """Return the mean over cameras, each of which counts the same."""
    if not cameras:
        return None
    values = np.array(
        [[one.auc.value, one.recall_at_1.value, one.recall_at_5.value] for one in cameras]
    )
    draws = np.empty((0, 3))
    if len(cameras) >= FEWEST_CAMERAS:
        chosen = np.random.default_rng(_SEED).integers(len(cameras), size=(_DRAWS, len(cameras)))
        draws = values[chosen].mean(axis=1)
    of_all = (
        _figure(float(values[:, column].mean()), draws[:, column].tolist()) for column in range(3)
    )
    return Figures(sum(one.failed for one in cameras), sum(one.others for one in cameras), *of_all)


def _figure(value: float, drawn: Sequence[float]) -> Figure:
    if not drawn:
        return Figure(value, None, None)
    low, high = np.percentile(drawn, _OUTER)
    return Figure(value, float(low), float(high))
