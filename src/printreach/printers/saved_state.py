"""The changes of a smart pause, saved in a file so that they survive a restart."""

import json
import logging
from pathlib import Path
from typing import Final

from .print_progress import SavedState, StoredShape

log = logging.getLogger(__name__)

MAX_STORED_BYTES: Final = 64 * 1024


class SavedStateFile:
    """The saved state of the present smart pause, if any, in memory and in a file."""

    def __init__(self, file: Path, shape: StoredShape) -> None:
        """Load the state; a file that is missing or can't be read holds none."""
        self._file = file
        self._shape = shape
        self.saved: SavedState | None = None
        try:
            with file.open("rb") as opened:
                self.saved = shape.decode(json.loads(opened.read(MAX_STORED_BYTES)))
        except (OSError, ValueError, RecursionError):
            pass

    def remember(self, saved: SavedState) -> None:
        """Save the state. A failure to store it is only logged: the pause goes on all the same."""
        self.saved = saved
        fresh = self._file.with_name(f"{self._file.name}.new")
        try:
            fresh.write_text(json.dumps(self._shape.encode(saved)))
            fresh.replace(self._file)
        except OSError as exc:
            log.warning("a restart of the agent would forget this smart pause: %s", exc.strerror)

    def forget(self) -> None:
        """Remove the state. Never raises: a print must be resumed properly even where the memory
        card can no longer be written, as happens with worn ones."""
        self.saved = None
        try:
            self._file.unlink(missing_ok=True)
        except OSError as exc:
            log.warning("a smart pause that is over can't be forgotten: %s", exc.strerror)
