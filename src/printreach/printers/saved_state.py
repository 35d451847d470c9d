"""The changes of a smart pause, saved in a file so that they survive a restart."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from printreach.rules.printers.commands import MAX_PAUSE_MM

from . import loose

log = logging.getLogger(__name__)

MAX_STORED_BYTES: Final = 64 * 1024
MAX_TARGET_C: Final = 500.0


class SavedState(Protocol):
    """Any dataclass; each adapter has its own."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # as typeshed names a dataclass


R = TypeVar("R", bound=SavedState)


class SavedStateStore(Generic[R]):
    """One saved state in a file. read: decodes the stored JSON; None where it can't be read."""

    def __init__(self, file: Path, read: Callable[[object], R | None]) -> None:
        self._file = file
        self._read = read

    def load(self) -> R | None:
        """Return the saved state; None where there is none, or it can't be read."""
        try:
            with self._file.open("rb") as file:
                stored = json.loads(file.read(MAX_STORED_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return self._read(stored)

    def save(self, saved: R) -> None:
        """Replace the file. Raises OSError, and then the old file stays."""
        fresh = self._file.with_name(f"{self._file.name}.new")
        fresh.write_text(json.dumps(asdict(saved)))
        fresh.replace(self._file)

    def forget(self) -> None:
        remove_state_file(self._file)


class CurrentSavedState(Generic[R]):
    """The saved state of the present smart pause, if any, in memory and in the store."""

    def __init__(self, store: SavedStateStore[R]) -> None:
        self._store = store
        self._rest = store.load()

    @property
    def saved(self) -> R | None:
        return self._rest

    def remember(self, saved: R) -> None:
        """Save the state. A failure to store it is only logged: the pause goes on all the same."""
        self._rest = saved
        try:
            self._store.save(saved)
        except OSError as exc:
            log.warning("a restart of the agent would forget this smart pause: %s", exc.strerror)

    def take(self) -> R | None:
        """Remove and return the state; the caller restores it, or remembers it again."""
        saved, self._rest = self._rest, None
        self._store.forget()
        return saved


def target_c(stored: object, key: str) -> float:
    """Return a heater's stored target; 0 for a value that no heater could have had."""
    target = loose.number(stored, key)
    return target if target is not None and 0 < target <= MAX_TARGET_C else 0.0


def distance_mm(stored: object, key: str) -> int:
    """Return a stored lift or retraction; 0 for a value that no smart pause could have had."""
    distance = loose.count(stored, key) or 0
    return distance if distance <= MAX_PAUSE_MM else 0


def remove_state_file(file: Path) -> None:
    """Remove the file, if it exists. Never raises: a print must be resumed properly even where the
    memory card can no longer be written, as happens with worn ones."""
    try:
        file.unlink(missing_ok=True)
    except OSError as exc:
        log.warning("a smart pause that is over can't be forgotten: %s", exc.strerror)
