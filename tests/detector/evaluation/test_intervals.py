"""A few prints leave wide room for what others will do, and a few cameras even more."""

import math

import pytest

from printreach.detector.evaluation.intervals import (
    likely_rate,
    likely_share,
    over_cameras,
    over_prints,
)
from printreach.detector.evaluation.prints import Outcome, together


def a_camera(*, paused: int, of: int = 10) -> Outcome:
    return Outcome(
        prints=of,
        failing=of,
        good_pictures=8 * of,
        good_hours=0.1 * of,
        faster=0,
        early_warned=0,
        early_paused=0,
        warned=of,
        paused=paused,
    )


def test_cameras_that_differ_leave_more_room_than_their_prints_would() -> None:
    cameras = [a_camera(paused=0), a_camera(paused=10), a_camera(paused=10), a_camera(paused=0)]

    drawn, alone = over_cameras(cameras), over_prints(together(cameras))

    assert drawn is not None
    assert drawn.paused == (0.0, 1.0)
    assert alone.paused == pytest.approx((0.35, 0.65), abs=0.01)
    assert (drawn.warned, drawn.early_paused) == ((1.0, 1.0), (0.0, 0.0))


def test_two_cameras_say_nothing_of_others() -> None:
    assert over_cameras([a_camera(paused=0), a_camera(paused=10)]) is None


def test_cameras_without_a_failing_print_leave_all_open() -> None:
    good = Outcome(
        prints=3,
        failing=0,
        good_pictures=60,
        good_hours=0.0,
        faster=0,
        early_warned=0,
        early_paused=0,
        warned=0,
        paused=0,
    )

    drawn = over_cameras([good] * 3)

    assert drawn is not None
    assert drawn.paused == (0.0, 1.0)
    assert drawn.rate == (0.0, math.inf)


@pytest.mark.parametrize(
    ("count", "hours", "least", "most"),
    [(0, 0, 0, math.inf), (0, 1000, 0, 3.69), (3, 1000, 0.62, 8.77), (10, 100, 48.0, 183.9)],
)
def test_a_rate_of_few_pauses_lies_in_a_wide_range(
    count: int, hours: float, least: float, most: float
) -> None:
    assert likely_rate(count, hours) == pytest.approx((least, most), abs=0.06)


@pytest.mark.parametrize(
    ("count", "of", "least", "most"),
    [(0, 0, 0, 1), (0, 10, 0, 0.28), (5, 10, 0.24, 0.76), (10, 10, 0.72, 1)],
)
def test_a_share_of_few_prints_lies_in_a_wide_range(
    count: int, of: int, least: float, most: float
) -> None:
    assert likely_share(count, of) == pytest.approx((least, most), abs=0.005)
