"""Removing a state file from a disk that may have become read-only."""

import logging
from pathlib import Path

log = logging.getLogger(__name__)


def remove_state_file(file: Path) -> None:
    """Remove the file, if it exists. Never raises: a print must be resumed properly even where the
    memory card can no longer be written, as happens with worn ones."""
    try:
        file.unlink(missing_ok=True)
    except OSError as exc:
        log.warning("a smart pause that is over can't be forgotten: %s", exc.strerror)
