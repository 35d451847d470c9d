"""Starts the real PrusaLink, by its own interpreter: `python prusalink_start.py SECONDS WORDS…`.

SECONDS: how long a finished or stopped print is kept before the printer is idle again, which is
eleven by itself. The many tests that print would spend most of their time waiting for that.
"""

import sys

from prusa.link import const  # type: ignore[import-not-found]  # only the peer has it

const.PRINT_END_TIMEOUT = float(sys.argv.pop(1))

# Imported now, for it reads the constant when it is imported.
from prusa.link.__main__ import main  # type: ignore[import-not-found]  # noqa: E402  # see above

sys.exit(main())
