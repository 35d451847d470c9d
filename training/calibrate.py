"""Make a network's numbers into probabilities, on photos that trained nothing."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

_ROUNDS: Final = 60
_FLATTENING: Final = 1e-3
"""Keeps the slope finite where the photos are told apart without a mistake."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """probability = 1 / (1 + exp(-(slope * logit + offset)))."""

    slope: float
    offset: float


def calibrate(logits: Numbers, failed: npt.NDArray[np.bool_]) -> Calibration:
    """Fit slope and offset by Newton's method, good and failed photos weighing the same.

    Targets are moved inwards as Platt does, so that a few photos never make anything certain.
    """
    failures, good = int(failed.sum()), int((~failed).sum())
    targets = np.where(failed, (failures + 1) / (failures + 2), 1 / (good + 2))
    weights = np.where(failed, 0.5 / failures, 0.5 / good)
    inputs = np.stack([logits, np.ones_like(logits)], axis=1)
    answer = np.array([1.0, 0.0])
    for _ in range(_ROUNDS):
        guesses = 1 / (1 + np.exp(-inputs @ answer))
        slopes = inputs.T @ (weights * (guesses - targets)) + _FLATTENING * answer
        bends = (inputs * (weights * guesses * (1 - guesses))[:, None]).T @ inputs
        answer = answer - np.linalg.solve(bends + _FLATTENING * np.eye(2), slopes)
    return Calibration(float(answer[0]), float(answer[1]))
