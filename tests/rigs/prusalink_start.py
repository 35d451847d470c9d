"""Starts the real PrusaLink, by its own interpreter: `python prusalink_start.py SECONDS WORDS…`.

SECONDS: how long a finished or stopped print is kept before the printer is idle again, which is
eleven by itself. The many tests that print would spend most of their time waiting for that.
"""

import sys
from pathlib import Path
from typing import Any

from prusa.link import const  # type: ignore[import-not-found]  # only the peer has it

const.PRINT_END_TIMEOUT = float(sys.argv.pop(1))

# Imported now, for they read the constant when they are imported.
from prusa.link.__main__ import main  # type: ignore[import-not-found]  # noqa: E402  # see above
from prusa.link.printer_adapter.file_printer import (  # type: ignore[import-not-found]  # noqa: E402
    FilePrinter,
)


def keep_nothing_for_a_power_cut(printer: Any, *_: object) -> None:
    """Leave the file empty that tells where a print was when the power went.

    0.8.1 writes the path of the job into it, which the job may not have yet on a busy machine; the
    thread that speaks to the printer ends then. As a daemon it restarts itself, here it is broken.
    """
    Path(printer.data.pp_file_path).touch()


FilePrinter.write_file_stats = keep_nothing_for_a_power_cut

sys.exit(main())
