"""Contexts of the failure-detection API: how long they last, and how often they are asked."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.detection import DetectionContext
from printreach.rules.detection.contexts import (
    CONTEXT_LIFETIME,
    LONGEST_INTERVAL_S,
    StoredContext,
    is_over,
    stretched_s,
    wait_s,
)
from tests.fakes.clock import NOON

FRESH = StoredContext(
    context_id="c",
    key_id="k",
    account_id="ada",
    created_at=NOON,
    used_at=NOON,
    version=0,
    remembered=DetectionContext(),
)
LOOKED_AT = replace(FRESH, version=1, remembered=DetectionContext(last_at=NOON))
INTERVALS = st.sampled_from([5, 10, 20])
MICROSECOND = timedelta(microseconds=1)


def test_a_context_lasts_fourteen_days_from_its_making() -> None:
    assert not is_over(FRESH, NOON + timedelta(days=14) - MICROSECOND)
    assert is_over(FRESH, NOON + timedelta(days=14))
    assert timedelta(days=14) == CONTEXT_LIFETIME


def test_a_clock_that_went_back_ends_no_context() -> None:
    assert not is_over(FRESH, NOON - timedelta(days=400))


def test_the_first_image_of_a_context_waits_for_nothing() -> None:
    assert wait_s(FRESH, NOON) is None


@pytest.mark.parametrize(
    ("after_s", "wait"),
    [(0, 5), (0.5, 5), (1, 4), (4, 1), (4.999999, 1), (5, None), (60, None), (-0.000001, None)],
)
def test_the_next_one_comes_five_seconds_later_at_least(after_s: float, wait: int | None) -> None:
    assert wait_s(LOOKED_AT, NOON + timedelta(seconds=after_s)) == wait


@given(INTERVALS, st.floats(0, 0.5))
def test_a_detector_that_has_time_stretches_no_interval(interval_s: int, load: float) -> None:
    assert stretched_s(interval_s, load) == interval_s


@pytest.mark.parametrize(("interval_s", "stretched"), [(5, 15), (10, 30), (20, 60)])
def test_a_full_queue_makes_three_intervals_of_one(interval_s: int, stretched: int) -> None:
    assert stretched_s(interval_s, 1.0) == stretched


@given(INTERVALS, st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_more_load_never_makes_an_interval_shorter(
    interval_s: int, one: float, other: float
) -> None:
    less, more = sorted([one, other])

    assert stretched_s(interval_s, less) <= stretched_s(interval_s, more) <= LONGEST_INTERVAL_S
    assert stretched_s(interval_s, less) >= interval_s


@given(st.floats(0, 1))
def test_what_is_under_suspicion_stays_before_the_rest(load: float) -> None:
    assert stretched_s(5, load) < stretched_s(10, load) < stretched_s(20, load)
