"""The progress of a print, by which it is recognised after a gap. Pure.

Another print must never get what a smart pause took from this one: its nozzle would be lowered into
the print, and its heaters would be set though nobody asked for it.
"""

from dataclasses import dataclass
from typing import Protocol

from printreach.contract.status import State

from . import loose

MAX_ID_CHARS = 256
MAX_POSITIONS = 8
SAME_MOMENT_S = 2.0
"""Some printers tell whole seconds. No print begins and comes as far as another in less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintProgress:
    """print_id: the platform's own id of the job, "" where it has none.

    duration_s: print time so far; None where it isn't told. position: what else only grows during
    a print and stands still in a pause, such as the place in its file, its layer, its percentage.
    began_s: when the print began, or this pause of it, by whatever clock the printer has; None
    where it isn't told. It stays the same for as long as the pause lasts.
    """

    print_id: str = ""
    duration_s: float | None = None
    began_s: float | None = None
    position: tuple[float, ...] = ()

    def is_behind(self, other: "PrintProgress") -> bool:
        """False: this can be the same print, later. True also if it can't be compared."""
        if self.print_id != other.print_id or len(self.position) != len(other.position):
            return True
        pairs = [*zip(self.position, other.position, strict=True)]
        if other.duration_s is not None:
            if self.duration_s is None:
                return True
            pairs.append((self.duration_s, other.duration_s))
        return not pairs or any(now < before for now, before in pairs)

    def is_as_paused(self, other: "PrintProgress") -> bool:
        """It has not moved since, and nothing speaks against it."""
        is_there = bool(self.position) and self.position == other.position
        return is_there and not self.is_behind(other) and self._began_with(other) is not False

    def has_proof(self, other: "PrintProgress") -> bool:
        """No other print has the same id, nor began then."""
        return self.print_id == other.print_id != "" or self._began_with(other) is True

    def _began_with(self, other: "PrintProgress") -> bool | None:
        """None where it can't be known."""
        if self.began_s is None or other.began_s is None:
            return None
        return abs(self.began_s - other.began_s) < SAME_MOMENT_S


UNKNOWN_PROGRESS = PrintProgress()
"""Nothing is ever known to be the same print as this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintReport:
    """The printer's current report of its print.

    is_paused: it is fully paused. path: of its file, or another name that it has; "" for none.
    """

    state: State
    is_paused: bool
    path: str
    progress: PrintProgress

    def can_be(self, saved: "RememberedPrint") -> bool:
        """This can be the same print at a later moment."""
        return self._has_path(saved) and not self.progress.is_behind(saved.progress)

    def is_as_paused(self, saved: "RememberedPrint") -> bool:
        """This can be the same pause: it has not moved since, and nothing speaks against it."""
        return self._has_path(saved) and self.progress.is_as_paused(saved.progress)

    def is_proven(self, saved: "RememberedPrint") -> bool:
        """This is the same pause, as only an id or the time of its beginning can tell.

        A file that pauses itself does so at the same place each time it is printed.
        """
        return self.is_as_paused(saved) and self.progress.has_proof(saved.progress)

    def _has_path(self, saved: "RememberedPrint") -> bool:
        return bool(self.path) and self.path == saved.path


class RememberedPrint(Protocol):
    """The values by which a saved print is recognised."""

    @property
    def path(self) -> str: ...
    @property
    def progress(self) -> PrintProgress: ...


def positions(*values: float | None) -> tuple[float, ...]:
    """Return the positions that are known."""
    return tuple(float(value) for value in values if value is not None)


def parse_progress(saved: object) -> PrintProgress:
    """As it was stored; unknown where that can't be read, or an older agent stored none."""
    stored = loose.obj(saved, "progress")
    numbers = loose.items(stored, "position")
    position = positions(*(loose.number({"": value}, "") for value in numbers))
    if not stored or len(position) != len(numbers) or len(position) > MAX_POSITIONS:
        return UNKNOWN_PROGRESS
    return PrintProgress(
        print_id=(loose.text(stored, "print_id") or "")[:MAX_ID_CHARS],
        duration_s=loose.number(stored, "duration_s"),
        began_s=loose.number(stored, "began_s"),
        position=position,
    )
