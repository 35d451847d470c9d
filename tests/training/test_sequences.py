"""Whole prints are judged by what the rule says before their failure, and after it."""

from itertools import islice

import pytest

from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.scene import SIDE, Scene
from training.sequences import LENGTH, ONSET, Watched, likely_share, outcomes, rendered

GOOD, BAD = 0.02, 0.99
BED = tuple(60 + 6 * (place % SIDE) for place in range(SIDE * SIDE))


def a_print(onset: int, probabilities: list[float]) -> Watched:
    sights = (
        ImageAssessment(probability=probability, scene=Scene(grey=BED, digest=number))
        for number, probability in enumerate(probabilities)
    )
    return Watched("a print", onset, tuple(sights))


def test_a_good_print_counts_all_its_pictures_and_nothing_in_time() -> None:
    outcome = outcomes([a_print(LENGTH, [GOOD] * LENGTH)])["a print"]

    assert (outcome.prints, outcome.failing, outcome.good_pictures) == (1, 0, LENGTH)
    assert (outcome.faster, outcome.warned, outcome.paused) == (0, 0, 0)


def test_an_alarm_at_a_good_print_is_too_soon() -> None:
    outcome = outcomes([a_print(LENGTH, [GOOD] * 4 + [BAD] * (LENGTH - 4))])["a print"]

    assert (outcome.early_warned, outcome.early_paused) == (1, 1)
    assert outcome.faster > 5


def test_a_failure_that_is_seen_is_paused_in_time() -> None:
    outcome = outcomes([a_print(ONSET, [GOOD] * ONSET + [BAD] * (LENGTH - ONSET))])["a print"]

    assert (outcome.failing, outcome.warned, outcome.paused) == (1, 1, 1)
    assert (outcome.early_warned, outcome.good_pictures) == (0, ONSET)


def test_a_failure_that_is_seen_late_is_not_in_time() -> None:
    late = [GOOD] * (ONSET + 9) + [BAD] * 6
    outcome = outcomes([a_print(ONSET, late)])["a print"]

    assert (outcome.failing, outcome.paused) == (1, 0)


@pytest.mark.slow
def test_rendered_prints_are_of_one_length_and_say_when_they_fail() -> None:
    (story,) = islice(rendered(), 1)

    assert (story.name, story.onset, len(story.pictures)) == ("rendered: good", LENGTH, LENGTH)


@pytest.mark.parametrize(
    ("count", "of", "least", "most"),
    [(0, 0, 0, 1), (0, 10, 0, 0.28), (5, 10, 0.24, 0.76), (10, 10, 0.72, 1)],
)
def test_a_share_of_few_prints_lies_in_a_wide_range(
    count: int, of: int, least: float, most: float
) -> None:
    assert likely_share(count, of) == pytest.approx((least, most), abs=0.005)
