"""A print job: a file's lines turned into what the printer has to do, one line at a time."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from .motion import Line, Motion, Move, Point, parse_line

_NUMBERED = re.compile(r"LAYER:\s*(\d{1,7})")
_TOTAL = re.compile(r"(?:LAYER_COUNT|total layer(?:s count| number)|num_layers)\s*[:=]\s*(\d{1,7})")
_RISE_MM = 0.01
"""Less is no new layer but the ripple of a spiral's start or a mesh."""
LINE_S = 0.00002
"""The time to read one line, so that a file of comments alone takes time too, but ends."""


class HeaterName(Enum):
    HOTEND = "hotend"
    BED = "bed"
    CHAMBER = "chamber"


@dataclass(frozen=True, slots=True)
class SetHeat:
    """Aim at a temperature. waits: go on only when it is reached (both ways with `cooling_too`)."""

    heater: HeaterName
    target_c: float
    waits: bool = False
    cooling_too: bool = False


@dataclass(frozen=True, slots=True)
class SetFan:
    percent: int


@dataclass(slots=True)
class Dwell:
    """Nothing for a while. is_work: G4, rather than the time it takes to read."""

    remaining_s: float
    is_work: bool = True


@dataclass(frozen=True, slots=True)
class AskForPerson:
    """Stop until someone resumes. reason: for that person."""

    reason: str


Step = Move | Dwell | SetHeat | SetFan | AskForPerson

_HEATS = {
    "M104": (HeaterName.HOTEND, False),
    "M109": (HeaterName.HOTEND, True),
    "M140": (HeaterName.BED, False),
    "M190": (HeaterName.BED, True),
    "M141": (HeaterName.CHAMBER, False),
    "M191": (HeaterName.CHAMBER, False),  # only M109 and M190 wait
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """The result of a trial run of the whole file. seconds: of a print that begins cold."""

    seconds: float
    filament_mm: float
    layers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """size_bytes: of all lines together, line ends included.

    lines: read once, while the print goes on. id: of this print of the file alone.
    """

    name: str
    size_bytes: int
    lines: Iterable[bytes]
    survey: Survey | None = None
    id: str = ""


class Program:
    """Reads a job line by line."""

    def __init__(self, job: Job, position: Point) -> None:
        self.job = job
        self._done_bytes = 0
        self._first_byte: int | None = None  # of the first command; None until it is read
        self.layers = LayerCounter()
        self._lines = iter(job.lines)
        self._motion = Motion(position)

    @property
    def done(self) -> float:
        """0.0 to 1.0, by how much was read of what follows the comments at the file's beginning.

        Those are mostly an embedded picture, which takes no time.
        """
        if self._first_byte is None:
            return 0.0
        size_bytes = max(self.job.size_bytes - self._first_byte, 1)
        return min((self._done_bytes - self._first_byte) / size_bytes, 1.0)

    def next_steps(self) -> list[Step] | None:
        """Return the next line's steps; None at the end of the file."""
        raw = next(self._lines, None)
        if raw is None:
            return None
        line = parse_line(raw.decode("utf-8", "replace"))
        if line.code and self._first_byte is None:
            self._first_byte = self._done_bytes
        self._done_bytes += len(raw)
        if line.comment:
            self.layers.read_comment(line.comment)
        return [Dwell(LINE_S, is_work=False), *self._steps(line)]

    def _steps(self, line: Line) -> Iterator[Step]:
        match line.code:
            case "":
                return
            case "G4":
                yield Dwell(_dwell_s(line))
            case "M106" | "M107":
                yield SetFan(_fan_percent(line))
            case "M600":
                yield AskForPerson("Filament change")
            case "M0" | "M1" | "M25" | "M601":
                yield AskForPerson(line.text or "Paused by the print")
            case code if code in _HEATS:
                yield from _heat(line)
            case _:
                yield from self._motion.read(line)


def _heat(line: Line) -> Iterator[SetHeat]:
    heater, waits = _HEATS[line.code]
    target_c, cooling_too = line.number("S"), False
    if target_c is None:
        target_c, cooling_too = line.number("R"), True
    if target_c is not None:
        yield SetHeat(heater, target_c, waits, cooling_too)


def _dwell_s(line: Line) -> float:
    seconds, milliseconds = line.number("S"), line.number("P")
    return max(seconds if seconds is not None else (milliseconds or 0.0) / 1000, 0.0)


def _fan_percent(line: Line) -> int:
    if line.code == "M107":
        return 0
    speed = line.number("S")
    return round(min(max(255.0 if speed is None else speed, 0.0), 255.0) / 2.55)


class LayerCounter:
    """Count a print's layers from 1: by the slicer's comments, else by its height."""

    def __init__(self) -> None:
        self.current = 0
        self.total: int | None = None
        self._has_layer_comments = False
        self._highest_mm = -math.inf

    def read_comment(self, comment: str) -> None:
        """`LAYER:7` (Cura: counts from 0), `LAYER_CHANGE` (PrusaSlicer), and their totals."""
        if numbered := _NUMBERED.match(comment):
            self._set_layer(int(numbered[1]) + 1)
        elif comment in ("LAYER_CHANGE", "CHANGE_LAYER"):
            self._set_layer(self.current + 1 if self._has_layer_comments else 1)
        elif total := _TOTAL.match(comment):
            self.total = int(total[1])

    def extrude_at(self, height_mm: float) -> None:
        """Plastic is laid at this height; without comments, a new height is a new layer."""
        if not self._has_layer_comments and height_mm > self._highest_mm + _RISE_MM:
            self._highest_mm = height_mm
            self.current += 1

    def _set_layer(self, layer: int) -> None:
        self._has_layer_comments = True
        self.current = layer
