"""Numbers made probabilities."""

import numpy as np
import pytest

from training.calibrate import calibrate

FAILED = np.array([True] * 50 + [False] * 100)


def test_calibrated_numbers_say_how_often_they_are_right() -> None:
    numbers = np.random.default_rng(4)
    logits = numbers.normal(0, 4, 4000)
    failed = numbers.random(4000) < 1 / (1 + np.exp(-(0.5 * logits + 0.3)))

    fitted = calibrate(logits, failed)

    assert fitted.slope == pytest.approx(0.5, abs=0.06)


def test_photos_told_apart_without_a_mistake_are_still_not_certain() -> None:
    fitted = calibrate(np.where(FAILED, 3.0, -3.0), FAILED)

    assert 0.9 < 1 / (1 + np.exp(-(fitted.slope * 3 + fitted.offset))) < 0.999
