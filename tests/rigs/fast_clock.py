"""Run `printreach` with a wall clock that begins to run fast: fast_clock.py SPEED WORDS...

It goes as it should until the process is sent SIGUSR1, and from then on SPEED times as fast. So
minutes of watching pass in seconds, while all that is measured (time-outs, keep-alive) stays what
it is. Nothing of the product knows of it.
"""

import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from printreach.backends.clock import SystemClock
from printreach.run.main import main


def with_fast_clock(speed: float) -> Callable[..., list[str]]:
    """Makes the command line of `printreach WORDS` on such a machine."""

    def command(*words: str | Path) -> list[str]:
        return [sys.executable, __file__, str(speed), *map(str, words)]

    return command


def let_time_fly(pid: int) -> None:
    os.kill(pid, signal.SIGUSR1)


def _arm(speed: float) -> None:
    since: list[datetime] = []

    def now(_clock: SystemClock) -> datetime:
        right = datetime.now(UTC)
        return right + (right - since[0]) * (speed - 1) if since else right

    def begin(*_: object) -> None:
        since[:] = since or [datetime.now(UTC)]

    signal.signal(signal.SIGUSR1, begin)
    setattr(SystemClock, "now", now)  # noqa: B010 - a method is put in place of another


if __name__ == "__main__":
    _arm(float(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
