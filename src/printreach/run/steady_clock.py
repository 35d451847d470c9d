"""Seconds of a clock that nobody sets."""

import time


def steady_time() -> float:
    """They go on while the machine sleeps: what slept has not jumped."""
    boot_clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(boot_clock)
