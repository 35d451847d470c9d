"""The changes of a smart pause, and the progress by which its print is recognised again. Pure.

Another print must never get what a smart pause took from this one: its nozzle would be lowered into
the print, and its heaters would be set though nobody asked for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from printreach.contract.status import State
from printreach.rules.printers.commands import MAX_PAUSE_MM

from . import loose

MAX_ID_CHARS = 256
MAX_POSITIONS = 8
MIN_TARGET_C, MAX_TARGET_C = 1.0, 500.0
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

    def can_be(self, saved: "SavedState") -> bool:
        """This can be the same print at a later moment."""
        return self._has_path(saved) and not self.progress.is_behind(saved.progress)

    def is_as_paused(self, saved: "SavedState") -> bool:
        """This can be the same pause: it has not moved since, and nothing speaks against it."""
        return self._has_path(saved) and self.progress.is_as_paused(saved.progress)

    def is_proven(self, saved: "SavedState") -> bool:
        """This is the same pause, as only an id or the time of its beginning can tell.

        A file that pauses itself does so at the same place each time it is printed.
        """
        return self.is_as_paused(saved) and self.progress.has_proof(saved.progress)

    def _has_path(self, saved: "SavedState") -> bool:
        return bool(self.path) and self.path == saved.path


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedState:
    """The changes that a smart pause made.

    path: of the print's file, or another name that it has. progress: of the print then. targets: of
    the heaters that were turned off, in degrees Celsius by the platform's names for them. lift_mm,
    retract_mm: 0 where nothing was moved. details: what else the restore needs, as JSON.
    """

    path: str
    targets: Mapping[str, float] = field(default_factory=dict)
    lift_mm: int = 0
    retract_mm: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)
    progress: PrintProgress = UNKNOWN_PROGRESS

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm or self.retract_mm)

    def targets_to_set(self, *, on: bool) -> Mapping[str, float]:
        """Return the targets, or 0 for each of the heaters."""
        return self.targets if on else dict.fromkeys(self.targets, 0.0)

    def without_moves(self) -> "SavedState":
        """Return the heat alone; setting it twice does no harm."""
        return replace(self, lift_mm=0, retract_mm=0)


def positions(*values: float | None) -> tuple[float, ...]:
    """Return the positions that are known."""
    return tuple(float(value) for value in values if value is not None)


def parse_progress(saved: object) -> PrintProgress:
    """As it was stored; unknown where that can't be read, or an older agent stored none."""
    stored = loose.obj(saved, "progress")
    numbers = loose.items(stored, "position")
    position = positions(*(loose.as_number(value) for value in numbers))
    if not stored or len(position) != len(numbers) or len(position) > MAX_POSITIONS:
        return UNKNOWN_PROGRESS
    return PrintProgress(
        print_id=(loose.text(stored, "print_id") or "")[:MAX_ID_CHARS],
        duration_s=loose.number(stored, "duration_s"),
        began_s=loose.number(stored, "began_s"),
        position=position,
    )


def target_c(stored: object, key: str) -> float:
    """Return a heater's stored target; 0 for a value that no heater could have had."""
    target = loose.number(stored, key)
    return target if target is not None and MIN_TARGET_C <= target <= MAX_TARGET_C else 0.0


def distance_mm(stored: object, key: str) -> int:
    """Return a stored lift or retraction; 0 for a value that no smart pause could have had."""
    distance = loose.count(stored, key) or 0
    return distance if distance <= MAX_PAUSE_MM else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredShape:
    """The shape of a saved state in its file, which differs between platforms.

    path: the key of the print's path. heaters: the keys of the targets, each on the top level; None
    where all are in one object, `targets`, by names for which is_heater holds. details: decodes
    what else is stored.
    """

    path: str = "path"
    heaters: tuple[str, ...] | None = None
    is_heater: Callable[[str], bool] = lambda _name: True
    details: Callable[[object], Mapping[str, Any]] = lambda _stored: {}

    def encode(self, saved: SavedState) -> Mapping[str, Any]:
        targets: dict[str, object] = {"targets": dict(saved.targets)}
        if self.heaters is not None:
            targets = {heater: saved.targets.get(heater, 0.0) for heater in self.heaters}
        return {
            self.path: saved.path,
            **targets,
            "lift_mm": saved.lift_mm,
            "retract_mm": saved.retract_mm,
            **saved.details,
            "progress": asdict(saved.progress),
        }

    def decode(self, stored: object) -> SavedState | None:
        """Return the saved state; None where it can't be read."""
        path = loose.text(stored, self.path)
        if path is None:
            return None
        if self.heaters is not None:
            targets = {heater: target_c(stored, heater) for heater in self.heaters}
        else:
            stored_targets = loose.obj(stored, "targets")
            targets = {
                heater: target_c(stored_targets, heater)
                for heater in filter(self.is_heater, stored_targets)
            }
        return SavedState(
            path=path,
            targets={heater: target for heater, target in targets.items() if target},
            lift_mm=distance_mm(stored, "lift_mm"),
            retract_mm=distance_mm(stored, "retract_mm"),
            details=self.details(stored),
            progress=parse_progress(stored),
        )
