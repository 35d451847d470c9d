"""What the failure detector said, as time goes by."""

from printreach.contract.status import DetectorStatus
from printreach.rules.detector import aged

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


def test_what_never_happened_has_no_age() -> None:
    assert aged(SAID, 5.0).time_since_last_pause_sec is None


def test_a_clock_that_is_behind_makes_nothing_younger() -> None:
    assert aged(SAID, -5.0) == SAID
