"""How far a print has come, by which it is known again after a while. Pure.

Another print must never get what a smart pause took from this one: its nozzle would be lowered into
the print, and its heaters would be set by somebody who never asked for it.
"""

from dataclasses import dataclass

from printreach.contract.status import State

from . import loose

MAX_ID_CHARS = 256
MAX_POSITIONS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintProgress:
    """print_id: the platform's own id of the job, "" where it has none.

    duration_s: print time so far; None where it isn't told. position: what else only grows during
    a print and stands still in a pause, such as the place in its file, its layer, its percentage.
    """

    print_id: str = ""
    duration_s: float | None = None
    position: tuple[float, ...] = ()

    def is_behind(self, other: "PrintProgress") -> bool:
        """False: this can be the same print at a later moment. What can't be compared is behind."""
        if self.print_id != other.print_id or len(self.position) != len(other.position):
            return True
        pairs = [*zip(self.position, other.position, strict=True)]
        if other.duration_s is not None:
            if self.duration_s is None:
                return True
            pairs.append((self.duration_s, other.duration_s))
        return not pairs or any(now < before for now, before in pairs)

    def is_as_paused(self, other: "PrintProgress") -> bool:
        """This is surely the same print, and has not moved since."""
        return bool(self.position) and self.position == other.position and not self.is_behind(other)


UNKNOWN_PROGRESS = PrintProgress()
"""Nothing is ever known to be the same print as this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenPrint:
    """What the printer says of its print at this moment.

    is_paused: it has come to rest. path: of its file, or what else it is known by; "" for nothing.
    """

    state: State
    is_paused: bool
    path: str
    progress: PrintProgress


def positions(*told: float | None) -> tuple[float, ...]:
    """Those that are told."""
    return tuple(float(one) for one in told if one is not None)


def parse_progress(told: object) -> PrintProgress:
    """As it was stored; unknown where that can't be read, or an older agent stored none."""
    stored = loose.obj(told, "progress")
    numbers = loose.items(stored, "position")
    position = positions(*(loose.number({"": one}, "") for one in numbers))
    if not stored or len(position) != len(numbers) or len(position) > MAX_POSITIONS:
        return UNKNOWN_PROGRESS
    return PrintProgress(
        print_id=(loose.text(stored, "print_id") or "")[:MAX_ID_CHARS],
        duration_s=loose.number(stored, "duration_s"),
        position=position,
    )
