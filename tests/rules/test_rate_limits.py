"""Rate limits on attempts, and the token bucket of the relay's limiters."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.rules.rate_limits import (
    Allowed,
    Limit,
    Network,
    TokenBucket,
    TooSoon,
    networks_of,
    spent_elsewhere,
    take,
    take_all,
    widest_network_of,
)
from tests.fakes.clock import NOON

THREE = Limit(name="test", at_once=3, every=timedelta(seconds=10))


def allowed(limit: Limit, moments: list[float]) -> list[bool]:
    """Which of the tries, at these seconds after noon, are allowed."""
    return allowed_from(None, moments, limit)


def allowed_from(
    busy_until: datetime | None, moments: list[float], limit: Limit = THREE
) -> list[bool]:
    """The same with what is remembered already."""
    results = []
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


def test_a_node_whose_clock_is_ahead_by_less_than_the_limit_gives_nobody_more_tries() -> None:
    """Both nodes store in one place, in turn."""
    slow = Limit(name="test", at_once=10, every=timedelta(minutes=1))
    busy_until, allowed_count = None, 0
    for number in range(60):
        skew = timedelta(minutes=5) if number % 2 else timedelta(0)
        result = take(slow, busy_until, NOON + skew)
        if isinstance(result, Allowed):
            busy_until, allowed_count = result.busy_until, allowed_count + 1

    assert allowed_count <= 10 + 5


def test_what_was_allowed_elsewhere_counts_as_if_it_had_been_allowed_here() -> None:
    busy_until = spent_elsewhere(None, timedelta(seconds=20), THREE.most, NOON)

    assert allowed_from(busy_until, [0, 0]) == [True, False]


def test_what_was_allowed_elsewhere_beyond_the_limit_has_to_be_waited_for_too() -> None:
    busy_until = spent_elsewhere(None, timedelta(seconds=50), THREE.most, NOON)

    assert allowed_from(busy_until, [0, 29.9, 30, 30]) == [False, False, True, False]


def test_however_much_was_allowed_elsewhere_no_more_than_twice_the_limit_is_remembered() -> None:
    busy_until = spent_elsewhere(None, timedelta(days=1), THREE.most, NOON)

    assert busy_until == NOON + 2 * THREE.most
    assert not isinstance(take(THREE, busy_until, NOON), Allowed)


@given(st.lists(st.floats(0, 1000), max_size=60).map(sorted))
def test_in_no_stretch_of_time_more_is_allowed_than_the_limit_says(moments: list[float]) -> None:
    passed = [moment for moment, ok in zip(moments, allowed(THREE, moments), strict=True) if ok]

    for start, begin in enumerate(passed):
        for end in range(start, len(passed)):
            most = THREE.at_once + (passed[end] - begin) / 10
            assert end - start + 1 <= most + 1e-6


def test_a_try_that_one_of_several_limits_refuses_counts_against_none() -> None:
    full = NOON + timedelta(seconds=30)

    assert take_all([(THREE, None), (THREE, full)], NOON) == TooSoon(timedelta(seconds=10))
    assert take_all([(THREE, None), (THREE, None)], NOON) == [
        Allowed(NOON + timedelta(seconds=10)),
        Allowed(NOON + timedelta(seconds=10)),
    ]


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("198.51.100.7", [("198.51.100.7", 1)]),
        ("::ffff:198.51.100.7", [("198.51.100.7", 1)]),
        (
            "2001:db8:1:2fff:ffff::1",
            [("2001:db8:1:2fff::/64", 1), ("2001:db8:1:2f00::/56", 4), ("2001:db8:1::/48", 16)],
        ),
        ("fe80::1%eth0", [("fe80::/64", 1), ("fe80::/56", 4), ("fe80::/48", 16)]),
        ("nonsense", [("nonsense", 1)]),
    ],
)
def test_an_address_counts_for_each_network_that_one_customer_may_have(
    address: str, networks: list[tuple[str, int]]
) -> None:
    expected = tuple(Network(name, share) for name, share in networks)

    assert networks_of(address) == expected
    assert widest_network_of(address) == expected[-1].name


def test_a_larger_network_has_its_share_at_once_and_over_time() -> None:
    assert Network("2001:db8::/56", 4).scaled(THREE) == Limit(
        name="test", at_once=12, every=timedelta(seconds=2.5)
    )


def test_a_full_bucket_has_its_tokens_and_no_more() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)

    assert bucket.has(0.0, 3)
    assert not bucket.has(0.0, 4)


def test_one_token_comes_back_in_each_interval_up_to_the_most() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)
    bucket.reserve(0.0, 3)

    assert not bucket.has(9.0, 1)
    assert bucket.has(10.0, 1)
    assert bucket.has(1000.0, 3)
    assert not bucket.has(1000.0, 4)


def test_a_reservation_of_more_than_there_is_says_how_long_to_wait() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)

    assert bucket.reserve(0.0, 3) == 0.0
    assert bucket.reserve(0.0, 2) == 20.0


def test_tokens_that_were_not_used_shorten_the_wait_of_the_next() -> None:
    bucket = TokenBucket(3, 10.0, 0.0)
    bucket.reserve(0.0, 5)
    bucket.give_back(2)

    assert bucket.reserve(0.0, 1) == 10.0
