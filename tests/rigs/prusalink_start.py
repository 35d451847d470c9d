"""Starts the real PrusaLink, by its own interpreter:
`python prusalink_start.py SECONDS FILE WORDS…`.

SECONDS: how long a finished or stopped print is kept before the printer is idle again, which is
eleven by itself; FILE: while it is there, none is kept at all. The many tests that print would
spend most of their time waiting for that.
"""

import sys
from collections import deque
from pathlib import Path
from typing import Any

from prusa.link.__main__ import main  # type: ignore[import-not-found]  # only the peer has it
from prusa.link.printer_adapter import state_manager  # type: ignore[import-not-found]
from prusa.link.printer_adapter.file_printer import FilePrinter  # type: ignore[import-not-found]
from prusa.link.serial.serial_queue import SerialQueue  # type: ignore[import-not-found]

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


def flush_what_was_not_sent(queue: Any) -> None:
    """Forget what was left of a stopped print, and let the printer confirm what it has.

    0.8.1 forgets that, too. A thread that is just hearing the confirmation of it takes what was
    sent meanwhile for confirmed, nobody is told of that, and no order is carried out any more.
    """
    with queue.write_lock:
        queue.priority_queue = deque(one for one in queue.priority_queue if not one.to_checksum)
        queue.recovery_list.clear()


state_manager.PRINT_END_TIMEOUT = UnlessItForgets(KEEPS_S)
FilePrinter.write_file_stats = keep_nothing_for_a_power_cut
SerialQueue.flush_print_queue = flush_what_was_not_sent

sys.exit(main())
