"""Run `printreach` with a clock that is wrong: shifted_clock.py SECONDS WORDS..."""

import sys
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from printreach.backends import clock
from printreach.run.main import main


def shifted(seconds: float, *words: str | Path) -> list[str]:
    """The command line of `printreach WORDS` on a machine whose clock is so much ahead."""
    return [sys.executable, __file__, str(seconds), *map(str, words)]


class _Ahead(datetime):
    """As datetime reads the time in C, its class has to be another."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # of no subclass
        return datetime.now(tz) + timedelta(seconds=ahead)


if __name__ == "__main__":
    right, ahead = time.time, float(sys.argv[1])
    vars(time).update(time=lambda: right() + ahead)
    vars(clock).update(datetime=_Ahead)
    sys.exit(main(sys.argv[2:]))
