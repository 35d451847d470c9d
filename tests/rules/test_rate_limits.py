"""How often something may be tried."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.rate_limits import Allowed, Limit, TooSoon, network_of, take
from tests.fakes.clock import NOON

THREE = Limit(name="test", at_once=3, every=timedelta(seconds=10))


def allowed(limit: Limit, moments: list[float]) -> list[bool]:
    """Which of the tries, at these seconds after noon, are allowed."""
    busy_until, results = None, []
    for moment in moments:
        result = take(limit, busy_until, NOON + timedelta(seconds=moment))
        results.append(isinstance(result, Allowed))
        if isinstance(result, Allowed):
            busy_until = result.busy_until
    return results


def test_so_many_are_allowed_at_once_and_then_one_at_a_time() -> None:
    assert allowed(THREE, [0, 0, 0, 0, 9.9, 10, 10, 20]) == [
        *(True, True, True),
        *(False, False, True, False, True),
    ]


def test_who_waits_long_enough_may_try_as_often_as_at_first() -> None:
    assert allowed(THREE, [0, 0, 0, 30, 30, 30, 30]) == [True] * 6 + [False]


def test_who_is_too_soon_hears_when_the_next_try_is_allowed() -> None:
    busy_until = NOON + timedelta(seconds=30)

    result = take(THREE, busy_until, NOON + timedelta(seconds=2.5))

    assert isinstance(result, TooSoon)
    assert result.wait == timedelta(seconds=7.5)
    assert result.wait_seconds == 8


def test_what_is_remembered_is_over_when_nothing_is_left_to_remember() -> None:
    result = take(THREE, None, NOON)

    assert result == Allowed(NOON + timedelta(seconds=10))


def test_a_clock_that_is_put_back_locks_nobody_out() -> None:
    assert allowed(THREE, [86_400, 86_400, 86_400, 86_400, 0, 0, 0, 0]) == [
        *(True, True, True, False),
        *(True, True, True, False),
    ]


@given(st.lists(st.floats(0, 1000), max_size=60).map(sorted))
def test_in_no_stretch_of_time_more_is_allowed_than_the_limit_says(moments: list[float]) -> None:
    passed = [moment for moment, ok in zip(moments, allowed(THREE, moments), strict=True) if ok]

    for start, begin in enumerate(passed):
        for end in range(start, len(passed)):
            most = THREE.at_once + (passed[end] - begin) / 10
            assert end - start + 1 <= most + 1e-6


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("nonsense", "nonsense"),
    ],
)
def test_callers_are_told_apart_by_what_costs_them_something(address: str, network: str) -> None:
    assert network_of(address) == network
