"""How long to wait before the next try to connect."""

from collections.abc import Callable

FIRST_S = 0.5
LONGEST_S = 30.0
"""A service that comes back finds its agents within half a minute, spread by the jitter."""


def reconnect_delay_s(failures: int, uniform: Callable[[float, float], float]) -> float:
    """Seconds to wait after this many failures in a row (1 or more), jittered by half.

    Doubling from half a second, so that a restart of the service costs little, and with jitter, so
    that thousands of agents don't come back in one instant.
    """
    ceiling = min(LONGEST_S, FIRST_S * 2.0 ** min(failures - 1, 10))
    return uniform(ceiling / 2, ceiling)
