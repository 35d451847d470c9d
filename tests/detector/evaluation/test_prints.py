"""Whole prints are judged by what the rule says before their failure, and after it."""

import pytest

from printreach.detector.evaluation.prints import (
    ScoredPicture,
    ScoredPrint,
    outcomes,
    together,
    watched,
)
from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.scene import SIDE, Scene

GOOD, BAD = 0.02, 0.99
LENGTH, ONSET = 20, 8
BED = tuple(60 + 6 * (place % SIDE) for place in range(SIDE * SIDE))


def a_print(onset: int, probabilities: list[float], unsure: range = range(0)) -> ScoredPrint:
    pictures = (
        ScoredPicture(
            ImageAssessment(probability=probability, scene=Scene(grey=BED, digest=number)),
            20.0 * number,
            None if number in unsure else number >= onset,
        )
        for number, probability in enumerate(probabilities)
    )
    return ScoredPrint("a print", tuple(pictures))


def test_a_good_print_counts_all_its_pictures_and_nothing_in_time() -> None:
    outcome = outcomes([watched(a_print(LENGTH, [GOOD] * LENGTH))])["a print"]

    assert (outcome.prints, outcome.failing, outcome.good_pictures) == (1, 0, LENGTH)
    assert (outcome.faster, outcome.warned, outcome.paused) == (0, 0, 0)


def test_an_alarm_at_a_good_print_is_too_soon() -> None:
    outcome = outcomes([watched(a_print(LENGTH, [GOOD] * 4 + [BAD] * (LENGTH - 4)))])["a print"]

    assert (outcome.early_warned, outcome.early_paused) == (1, 1)
    assert outcome.faster > 5


def test_a_failure_that_is_seen_is_paused_in_time() -> None:
    outcome = outcomes([watched(a_print(ONSET, [GOOD] * ONSET + [BAD] * (LENGTH - ONSET)))])[
        "a print"
    ]

    assert (outcome.failing, outcome.warned, outcome.paused) == (1, 1, 1)
    assert (outcome.early_warned, outcome.good_pictures) == (0, ONSET)


def test_a_failure_that_is_seen_late_is_not_in_time() -> None:
    late = [GOOD] * (ONSET + 9) + [BAD] * 6
    outcome = outcomes([watched(a_print(ONSET, late))])["a print"]

    assert (outcome.failing, outcome.paused) == (1, 0)


def test_a_frame_that_nobody_is_sure_of_judges_nothing() -> None:
    doubtful = a_print(LENGTH, [GOOD] * 4 + [BAD] * 16, unsure=range(4, LENGTH))

    outcome = outcomes([watched(doubtful)])["a print"]

    assert (outcome.good_pictures, outcome.early_warned, outcome.early_paused) == (4, 0, 0)


def test_a_good_print_is_watched_for_as_long_as_its_pictures_say() -> None:
    outcome = outcomes([watched(a_print(181, [GOOD] * 181))])["a print"]

    assert outcome.good_hours == pytest.approx(1.0)


def test_hours_after_a_pause_are_not_counted_as_watched() -> None:
    outcome = outcomes([watched(a_print(181, [GOOD] * 6 + [BAD] * 175))])["a print"]

    assert outcome.early_paused == 1
    assert outcome.good_hours < 0.1


def test_outcomes_add_up() -> None:
    each = outcomes([watched(a_print(ONSET, [GOOD] * ONSET + [BAD] * (LENGTH - ONSET)))])["a print"]

    both = together([each, each])

    assert (both.prints, both.paused, both.good_hours) == (2, 2, 2 * each.good_hours)
