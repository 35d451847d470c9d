"""The backoff of an agent's tries to connect."""

from collections.abc import Callable

FIRST_S = 0.5
LONGEST_S = 30.0
"""The longest wait: agents reconnect within half a minute after the service comes back."""


def reconnect_delay_s(failures: int, uniform: Callable[[float, float], float]) -> float:
    """Return the seconds to wait after this many failures in a row (1 or more), jittered by half.

    The wait doubles from half a second, so that a restart of the service costs little; the jitter
    keeps thousands of agents from coming back at the same moment.
    """
    ceiling = min(LONGEST_S, FIRST_S * 2.0 ** min(failures - 1, 10))
    return uniform(ceiling / 2, ceiling)
