"""The state of the failure watch, as time passes and in one line."""

import pytest
from msgspec import structs

from printreach.contract.app_answers import WatchState
from printreach.contract.status import DetectorStatus, State
from printreach.rules.detection.detector import (
    aged,
    newest_quality,
    quality_of,
    unseen_words,
    watch_status,
)

SAID = DetectorStatus(
    last_score=0.3,
    score_history=[0.1, 0.3],
    time_since_last_score_sec=1.0,
    interval_sec=20.0,
    is_suppressed=True,
    time_since_last_warn_sec=60.0,
)


def test_durations_grow_and_nothing_else_changes() -> None:
    later = aged(SAID, 5.0)

    assert later == DetectorStatus(
        last_score=0.3,
        score_history=[0.1, 0.3],
        time_since_last_score_sec=6.0,
        interval_sec=20.0,
        is_suppressed=True,
        time_since_last_warn_sec=65.0,
    )


def test_what_could_not_be_seen_stays_unseen_as_time_passes() -> None:
    assert aged(structs.replace(SAID, cannot_see="dark"), 5.0).cannot_see == "dark"


@pytest.mark.parametrize("reason", ["dark", "blocked", "frozen", "a word of a later version"])
def test_where_nothing_is_seen_there_is_no_verdict(reason: str) -> None:
    said = DetectorStatus(last_score=99, score_history=[99], cannot_see=reason)
    line = watch_status(said, State.PRINTING)

    assert newest_quality(said) is None
    assert (line.state, line.status_color, line.rating) == (3, "w", 10)
    assert line.status == unseen_words(said) != ""


def test_what_never_happened_has_no_age() -> None:
    assert aged(SAID, 5.0).time_since_last_pause_sec is None


def test_a_clock_that_is_behind_makes_nothing_younger() -> None:
    assert aged(SAID, -5.0) == SAID


def paused(ago_s: float, *, last_look_s: float) -> DetectorStatus:
    """What is said of a print that the detector paused so long ago."""
    return DetectorStatus(
        last_score=90,
        score_history=[90],
        time_since_last_score_sec=last_look_s,
        time_since_last_pause_sec=ago_s,
    )


@pytest.mark.parametrize(
    ("said", "state", "expected"),
    [
        (None, None, (2, "w", 10)),
        (None, State.IDLE, (2, "w", 10)),
        (DetectorStatus(last_score=99, score_history=[99]), State.COMPLETE, (2, "w", 10)),
        (None, State.PRINTING, (0, "w", 10)),
        (DetectorStatus(is_suppressed=True), State.PRINTING, (1, "w", 10)),
        (DetectorStatus(), State.PRINTING, (3, "w", 10)),
        (DetectorStatus(last_score=0, score_history=[0]), State.PRINTING, (3, "g", 10)),
        (DetectorStatus(last_score=45, score_history=[45]), State.WARMING_UP, (3, "g", 6)),
        (DetectorStatus(last_score=50, score_history=[50]), State.PRINTING, (3, "y", 5)),
        (DetectorStatus(last_score=70, score_history=[70]), State.PRINTING, (3, "r", 3)),
        (DetectorStatus(last_score=100, score_history=[100]), State.RESUMING, (3, "r", 1)),
        (paused(8, last_look_s=8), State.PAUSED, (4, "r", 1)),
        (paused(8, last_look_s=9), State.PAUSED, (4, "r", 1)),
        (paused(8, last_look_s=9), State.PRINTING, (3, "r", 1)),
        (paused(30_000, last_look_s=30_001), State.PAUSED, (4, "r", 1)),
        (paused(300, last_look_s=12), State.PAUSED, (3, "r", 1)),
    ],
)
def test_the_detector_is_said_in_one_line(
    said: DetectorStatus | None, state: State | None, expected: tuple[int, str, int]
) -> None:
    status = watch_status(said, state)

    assert (status.state, status.status_color, status.rating) == expected
    assert status.status


@pytest.mark.parametrize("state", [None, *State])
def test_a_detector_that_is_switched_off_is_disabled_in_every_state(state: State | None) -> None:
    said = DetectorStatus(last_score=100, score_history=[100])

    assert watch_status(said, state, is_enabled=False).state == WatchState.DISABLED


@pytest.mark.parametrize(("score", "quality"), [(-5.0, 10), (0, 10), (9.9, 10), (10, 9), (95, 1)])
def test_a_quality_goes_from_one_to_ten(score: float, quality: int) -> None:
    assert quality_of(score) == quality
    assert quality_of(float("inf")) == quality_of(float("nan")) == 1
