"""Starts the real PrusaLink, by its own interpreter:
`python prusalink_start.py SECONDS FILE WORDS…`.

SECONDS: how long a finished or stopped print is kept before the printer is idle again, which is
eleven by itself; FILE: while it is there, none is kept at all. The many tests that print would
spend most of their time waiting for that.
"""

import sys
from pathlib import Path
from typing import Any

from prusa.link.__main__ import main  # type: ignore[import-not-found]  # only the peer has it
from prusa.link.printer_adapter import state_manager  # type: ignore[import-not-found]
from prusa.link.printer_adapter.file_printer import FilePrinter  # type: ignore[import-not-found]

KEEPS_S, FORGETS = float(sys.argv.pop(1)), Path(sys.argv.pop(1))


class UnlessItForgets(float):
    """Added to the time at which a print ended, as 0.8.1 does with its constant of seconds."""

    def __radd__(self, ended_at: float) -> float:
        return ended_at if FORGETS.exists() else ended_at + float(self)


def keep_nothing_for_a_power_cut(printer: Any, *_: object) -> None:
    """Leave the file empty that tells where a print was when the power went.

    0.8.1 writes the path of the job into it, which the job may not have yet on a busy machine; the
    thread that speaks to the printer ends then. As a daemon it restarts itself, here it is broken.
    """
    Path(printer.data.pp_file_path).touch()


state_manager.PRINT_END_TIMEOUT = UnlessItForgets(KEEPS_S)
FilePrinter.write_file_stats = keep_nothing_for_a_power_cut

sys.exit(main())
