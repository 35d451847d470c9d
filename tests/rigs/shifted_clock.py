"""Run `printreach` with a clock that is wrong: shifted_clock.py SECONDS WORDS..."""

import sys
import time
from pathlib import Path

from printreach.run.main import main


def shifted(seconds: float, *words: str | Path) -> list[str]:
    """The command line of `printreach WORDS` on a machine whose clock is so much ahead."""
    return [sys.executable, __file__, str(seconds), *map(str, words)]


if __name__ == "__main__":
    right, ahead = time.time, float(sys.argv[1])
    vars(time).update(time=lambda: right() + ahead)
    sys.exit(main(sys.argv[2:]))
