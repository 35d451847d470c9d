"""The pauses between retries."""

import random

import pytest

from printreach.rules.printers import RECONNECT


def longest(_low: float, high: float) -> float:
    return high


def shortest(low: float, _high: float) -> float:
    return low


def test_the_wait_doubles_from_half_a_second_to_half_a_minute() -> None:
    delays = [RECONNECT.jittered_s(failures, longest) for failures in range(1, 10)]

    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_jitter_takes_up_to_half_of_it_off() -> None:
    delays = [RECONNECT.jittered_s(failures, shortest) for failures in (1, 4, 100)]

    assert delays == [0.25, 2.0, 15.0]


@pytest.mark.parametrize("failures", [1, 5, 1_000_000])
def test_a_thousand_agents_do_not_come_back_in_one_instant(failures: int) -> None:
    uniform = random.Random(1).uniform
    delays = {RECONNECT.jittered_s(failures, uniform) for _ in range(1000)}

    assert len(delays) > 990
    assert max(delays) <= 30.0
