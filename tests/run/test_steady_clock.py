"""What a process holds its clock against."""

import time

import pytest

from printreach.run.process import steady_time


def test_a_night_that_the_machine_slept_through_has_gone_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its clock would seem to jump each morning, and nothing old would ever be removed."""
    slept_s = 8 * 3600.0
    clocks = {time.CLOCK_MONOTONIC: 100.0, time.CLOCK_BOOTTIME: 100.0 + slept_s}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)

    assert steady_time() == 100.0 + slept_s


def test_where_a_system_does_not_count_its_sleep_time_goes_on_evenly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    before = steady_time()

    assert steady_time() >= before
