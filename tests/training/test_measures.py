"""Figures, and numbers made probabilities."""

import numpy as np
import pytest

from training.calibrate import calibrate
from training.measures import auc, figures, recall_at

FAILED = np.array([True] * 50 + [False] * 100)


def test_scores_that_tell_apart_are_perfect_and_ones_that_do_not_are_a_guess() -> None:
    assert auc(FAILED.astype(float), FAILED) == 1
    assert auc(np.zeros(150), FAILED) == 0.5
    assert auc(-FAILED.astype(float), FAILED) == 0


def test_recall_counts_only_what_lies_above_the_false_alarms_that_are_allowed() -> None:
    scores = np.concatenate([np.linspace(0, 1, 50), np.linspace(0, 0.5, 100)])

    assert recall_at(scores, FAILED, 0.01) == pytest.approx(0.5, abs=0.03)
    assert recall_at(scores, FAILED, 0.05) > recall_at(scores, FAILED, 0.01)


@pytest.mark.slow
def test_an_interval_holds_its_figure_and_is_the_same_each_time() -> None:
    scores = np.random.default_rng(1).random(150) + FAILED * 0.5

    of = figures(scores, FAILED)

    assert of.auc.low < of.auc.value < of.auc.high
    assert of == figures(scores, FAILED)


def test_calibrated_numbers_say_how_often_they_are_right() -> None:
    numbers = np.random.default_rng(4)
    logits = numbers.normal(0, 4, 4000)
    failed = numbers.random(4000) < 1 / (1 + np.exp(-(0.5 * logits + 0.3)))

    fitted = calibrate(logits, failed)

    assert fitted.slope == pytest.approx(0.5, abs=0.06)


def test_photos_told_apart_without_a_mistake_are_still_not_certain() -> None:
    fitted = calibrate(np.where(FAILED, 3.0, -3.0), FAILED)

    assert 0.9 < 1 / (1 + np.exp(-(fitted.slope * 3 + fitted.offset))) < 0.999
