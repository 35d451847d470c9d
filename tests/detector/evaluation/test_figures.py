"""Figures of pictures, pooled and by camera."""

import numpy as np
import pytest

from printreach.detector.evaluation.figures import auc, figures, figures_by_camera, recall_at

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

    assert of.auc.low is not None
    assert of.auc.high is not None
    assert of.auc.low < of.auc.value < of.auc.high
    assert of == figures(scores, FAILED)


def test_each_camera_is_measured_by_its_own_good_pictures() -> None:
    failed = np.array([False] * 20 + [True] * 20 + [False] * 20 + [True] * 20)
    dim = np.concatenate([np.full(20, 0.1), np.full(20, 0.3)])
    scores = np.concatenate([dim, dim + 0.5])

    of = figures_by_camera(scores, failed, ["dim"] * 40 + ["bright"] * 40)

    assert of.mean is not None
    assert of.mean.recall_at_5.value == 1
    assert of.pooled.recall_at_5.value == 0.5


def test_the_worst_camera_is_named() -> None:
    failed = np.array([False, True] * 20)
    scores = np.concatenate([failed[:20].astype(float), 1 - failed[20:].astype(float)])

    of = figures_by_camera(scores, failed, ["good"] * 20 + ["bad"] * 20)

    assert of.worst == "bad"


@pytest.mark.slow
def test_pictures_of_few_cameras_are_less_sure_than_as_many_of_many() -> None:
    numbers = np.random.default_rng(3)
    of_each = 25
    cameras = [f"camera {number // of_each}" for number in range(150)]
    offset = np.repeat(numbers.normal(0, 1, 6), of_each)
    failed = numbers.random(150) < 0.4
    scores = offset + failed

    pooled = figures(scores, failed).auc
    drawn = figures_by_camera(scores, failed, cameras).pooled.auc

    assert drawn.value == pooled.value
    assert drawn.low is not None
    assert drawn.high is not None
    assert pooled.low is not None
    assert pooled.high is not None
    assert drawn.high - drawn.low > pooled.high - pooled.low


def test_two_cameras_have_no_interval_over_cameras() -> None:
    failed = np.array([False, True] * 4)

    of = figures_by_camera(failed.astype(float), failed, ["one"] * 4 + ["other"] * 4)

    assert of.pooled.auc.low is None
    assert str(of.pooled.auc) == "1.000"


@pytest.mark.slow
def test_pictures_without_a_camera_are_drawn_one_by_one_and_are_no_camera() -> None:
    failed = np.array([False, True] * 10)

    of = figures_by_camera(failed.astype(float), failed, [""] * 20)

    assert of.by_camera == {}
    assert of.mean is None
    assert of.pooled.auc.low == 1
