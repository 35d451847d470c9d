"""An event loop whose clock goes faster than the machine's: what waits among sockets waits less.

For tests with both sides of real sockets on one loop. The clock goes only while the loop waits: a
busy machine, which takes longer to compute, lets no deadline pass.
"""

import asyncio
import selectors
import time
from typing import Final

_STEP_S: Final = 0.001
"""By which the clock goes on at least, lest a sum with a far smaller number stay what it was."""


class _FastSelector(selectors.DefaultSelector):
    """Waits for a fraction of the time that it was told to. speed: how many times as fast."""

    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed
        self.waited_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        began_s = time.monotonic()
        found = super().select(timeout and timeout / self._speed)
        waited_s = (time.monotonic() - began_s) * self._speed
        # Where the machine stood still meanwhile, about what was asked for has passed.
        self.waited_s += waited_s if timeout is None else min(waited_s, timeout + _STEP_S)
        return found


class FastLoop(asyncio.SelectorEventLoop):
    """speed: seconds of its clock for each second that it waits."""

    def __init__(self, speed: float) -> None:
        self._fast = _FastSelector(speed)
        super().__init__(self._fast)

    def time(self) -> float:
        return 1000.0 + self._fast.waited_s
