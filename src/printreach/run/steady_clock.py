"""A clock that nobody can set."""

import time


def steady_time() -> float:
    """Return its seconds; they include the machine's sleep, which is thus no jump."""
    boot_clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(boot_clock)
