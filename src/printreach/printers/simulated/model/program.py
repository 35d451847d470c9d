"""A file's lines turned into what the printer has to do, one line at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .gcode import Line, parse_line
from .job import Job
from .layers import LayerCounter
from .motion import Motion, Move, Point

LINE_S = 0.00002
"""What reading a line takes, so that a file of comments alone takes time too, and not for ever."""


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


@dataclass(frozen=True, slots=True)
class Dwell:
    """Nothing for a while. is_work: G4, rather than the time it takes to read."""

    seconds: float
    is_work: bool = True


@dataclass(frozen=True, slots=True)
class Home:
    move: Move


@dataclass(frozen=True, slots=True)
class AskForPerson:
    """Stop until someone resumes. reason: for that person."""

    reason: str


Step = Move | Home | Dwell | SetHeat | SetFan | AskForPerson

_HEATS = {
    "M104": (HeaterName.HOTEND, False),
    "M109": (HeaterName.HOTEND, True),
    "M140": (HeaterName.BED, False),
    "M190": (HeaterName.BED, True),
    "M141": (HeaterName.CHAMBER, False),
    "M191": (HeaterName.CHAMBER, False),  # only M109 and M190 wait
}


class Program:
    """Reads a job line by line. done_bytes: how far."""

    def __init__(self, job: Job, position: Point) -> None:
        self.done_bytes = 0
        self.layers = LayerCounter()
        self._lines = iter(job.lines)
        self._motion = Motion(position)

    def next_steps(self) -> list[Step] | None:
        """Return the next line's steps; None at the end of the file."""
        raw = next(self._lines, None)
        if raw is None:
            return None
        self.done_bytes += len(raw)
        line = parse_line(raw.decode("utf-8", "replace"))
        if line.comment:
            self.layers.read_comment(line.comment)
        return [Dwell(LINE_S, is_work=False), *self._steps(line)]

    def _steps(self, line: Line) -> Iterator[Step]:
        match line.code:
            case "":
                return
            case "G4":
                yield Dwell(_dwell_s(line))
            case "G28":
                yield from (Home(move) for move in self._motion.read(line))
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
