"""A node goes by the database's clock where its own is wrong."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from printreach.backends.clock import ServiceClock

QUICK = timedelta(milliseconds=10)


def asked(clock: ServiceClock, ahead: timedelta, took: timedelta = QUICK) -> None:
    """Tell the clock what a database says whose clock this machine's is ahead of by so much."""
    at = datetime.now(UTC)
    clock.correct(at + took / 2 - ahead, at, at + took)


def error_of(clock: ServiceClock) -> timedelta:
    """Return how far it is ahead of this machine's."""
    return clock.now() - datetime.now(UTC)


@pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(minutes=-5), timedelta(days=9)])
def test_a_wrong_clock_is_corrected_and_said_once(
    ahead: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ServiceClock()
    with caplog.at_level(logging.WARNING):
        asked(clock, ahead)
        asked(clock, ahead + timedelta(milliseconds=100))

    assert abs(error_of(clock) + ahead) < timedelta(seconds=1)
    assert len(caplog.records) == 1
    assert ("ahead of" if ahead > timedelta(0) else "behind") in caplog.text


@pytest.mark.parametrize(
    ("ahead", "took"),
    [
        (timedelta(seconds=1.5), QUICK),
        # The answer may have been given at any time meanwhile.
        (timedelta(seconds=8), timedelta(seconds=20)),
    ],
)
def test_what_may_be_an_error_of_measurement_corrects_nothing(
    ahead: timedelta, took: timedelta
) -> None:
    clock = ServiceClock()
    asked(clock, ahead, took)

    assert abs(error_of(clock)) < timedelta(seconds=1)


def test_a_clock_that_was_set_right_is_used_as_it_is() -> None:
    clock = ServiceClock()
    asked(clock, timedelta(minutes=5))
    asked(clock, timedelta(milliseconds=300))

    assert abs(error_of(clock)) < timedelta(milliseconds=200)
