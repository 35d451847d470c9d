"""Removing a file that remembers something, on disks that may have become read-only."""

import logging
from pathlib import Path

log = logging.getLogger(__name__)


def put_away(file: Path) -> None:
    """Remove it, if it is there. Never raises: a print must get its heat back although the memory
    card can't be written any more, as worn ones can't."""
    try:
        file.unlink(missing_ok=True)
    except OSError as exc:
        log.warning("a smart pause that is over can't be forgotten: %s", exc.strerror)
