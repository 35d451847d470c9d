"""Lines of G-code, and the moves that they ask for, in millimetres and seconds.

A move takes the time that its feed rate gives it; acceleration is left out.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

BED_MM = 220.0
HEIGHT_MM = 250.0
PIECE_MM = 4.0
"""Extruding moves are cut into pieces, so that long lines grow in the picture."""
_DEFAULT_FEED_MM_S = 25.0
_HOMING_MM_S = 80.0
_HOMING_MIN_S = 0.5
_COMMENT = re.compile(r"\(([^)]*)\)|;(.*)")
_CODE = re.compile(r"\s*(?:N\d+\s*)?([GMT])\s*(\d{1,5})(?![\d.])", re.IGNORECASE)
_WORD = re.compile(r"([A-Z])\s*([-+]?(?:\d+\.?\d*|\.\d+))?", re.IGNORECASE)

_LARGEST = 1e7
"""A number beyond this is a broken file's, and is read as missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line. words: the letters after the code with their numbers, None for a bare letter.

    code: such as "G1", leading zeros dropped; "" where the line is empty, a comment or no G-code.
    text: what follows the code, as it stands, for codes that take words instead of numbers.
    """

    code: str = ""
    words: dict[str, float | None] = field(default_factory=dict)
    text: str = ""
    comment: str = ""

    def number(self, letter: str) -> float | None:
        """Return the letter's number; None where it is missing or has none."""
        return self.words.get(letter)


def parse_line(line: str) -> Line:
    """Read one line; what is no G-code becomes a line that does nothing."""
    comment = ""
    comment_match = _COMMENT.search(line)
    if comment_match is not None:
        comment = (comment_match[1] or comment_match[2] or "").strip()
        line = _COMMENT.sub(" ", line)
    code = _CODE.match(line)
    if code is None:
        return Line(comment=comment)
    rest = line[code.end() :].partition("*")[0]  # after the star: a checksum
    return Line(
        code=f"{code[1].upper()}{int(code[2])}",
        words={word[1].upper(): _number(word[2]) for word in _WORD.finditer(rest)},
        text=rest.strip(),
        comment=comment,
    )


def _number(digits: str | None) -> float | None:
    value = float(digits) if digits else None
    return value if value is not None and abs(value) <= _LARGEST else None


class Point(NamedTuple):
    """A place of the nozzle, in millimetres; the bed's front left corner is 0, 0, 0."""

    x: float
    y: float
    z: float

    def to(self, other: "Point", share: float) -> "Point":
        """Return the point that lies this share of the way to another."""
        return Point(*(a + (b - a) * share for a, b in zip(self, other, strict=True)))


@dataclass(slots=True)
class Move:
    """A straight line at one speed. filament_mm: fed on the way, negative where pulled back."""

    start: Point
    end: Point
    seconds: float
    filament_mm: float = 0.0
    elapsed_s: float = 0.0
    is_homing: bool = False

    @property
    def is_extruding(self) -> bool:
        """It lays plastic down, rather than priming, pulling back or travelling."""
        return self.filament_mm > 0 and self.start[:2] != self.end[:2]

    @property
    def remaining_s(self) -> float:
        return self.seconds - self.elapsed_s

    @property
    def position(self) -> Point:
        if self.elapsed_s >= self.seconds:
            return self.end
        return self.start.to(self.end, self.elapsed_s / self.seconds)

    def advance(self, seconds: float) -> None:
        self.elapsed_s = min(self.elapsed_s + seconds, self.seconds)


class Motion:
    """The modes of G0 to G3, G28 and G90 to G92, and where the last of them ends."""

    def __init__(self, position: Point) -> None:
        self.position = position
        self._zero = Point(0.0, 0.0, 0.0)  # what G92 declared to be 0, seen from the bed
        self._filament_mm = 0.0
        self._feed_mm_s = _DEFAULT_FEED_MM_S
        self._unit_mm = 1.0
        self._is_relative = False
        self._is_filament_relative = False

    def read(self, line: Line) -> list[Move]:
        """Return the moves that the line asks for; none where it only changes a mode."""
        match line.code:
            case "G0" | "G1":
                return self._go([self._target(line)], line)
            case "G2" | "G3":
                return self._go(self._arc(line, is_clockwise=line.code == "G2"), line)
            case "G28":
                return [self._home(line)]
            case "G92":
                self._declare(line)
            case _:
                self._set_mode(line.code)
        return []

    def _set_mode(self, code: str) -> None:
        match code:
            case "G20" | "G21":
                self._unit_mm = 25.4 if code == "G20" else 1.0
            case "G90" | "G91":  # as Marlin has it, both speak of the filament too
                self._is_relative = self._is_filament_relative = code == "G91"
            case "M82" | "M83":
                self._is_filament_relative = code == "M83"

    def _target(self, line: Line) -> Point:
        return Point(*(self._coordinate(line, axis) for axis in range(3)))

    def _coordinate(self, line: Line, axis: int) -> float:
        here, value = self.position[axis], line.number("XYZ"[axis])
        if value is None:
            return here
        value *= self._unit_mm
        return here + value if self._is_relative else self._zero[axis] + value

    def _go(self, corners: list[Point], line: Line) -> list[Move]:
        feed = line.number("F")
        if feed is not None and feed > 0:
            self._feed_mm_s = feed * self._unit_mm / 60
        filament_mm = self._fed(line)
        path = [self.position, *corners]
        lengths = [math.dist(start, end) for start, end in pairwise(path)]
        total_mm = sum(lengths)
        self.position = corners[-1]
        if total_mm == 0:
            seconds = abs(filament_mm) / self._feed_mm_s
            return [Move(path[0], self.position, seconds, filament_mm)] if filament_mm else []
        moves = []
        for (start, end), length_mm in zip(pairwise(path), lengths, strict=True):
            share = length_mm / total_mm
            moves.append(Move(start, end, length_mm / self._feed_mm_s, filament_mm * share))
        return [piece for move in moves for piece in _pieces(move)]

    def _fed(self, line: Line) -> float:
        value = line.number("E")
        if value is None:
            return 0.0
        value *= self._unit_mm
        if self._is_filament_relative:
            return value
        fed, self._filament_mm = value - self._filament_mm, value
        return fed

    def _arc(self, line: Line, *, is_clockwise: bool) -> list[Point]:
        """Return an arc around I, J as short straight lines.

        A straight line where they are missing.
        """
        start, end = self.position, self._target(line)
        i, j = ((line.number(letter) or 0.0) * self._unit_mm for letter in "IJ")
        radius = math.hypot(i, j)
        if radius == 0:
            return [end]
        centre_x, centre_y = start.x + i, start.y + j
        first = math.atan2(-j, -i)
        sweep = math.atan2(end.y - centre_y, end.x - centre_x) - first
        turn = -math.tau if is_clockwise else math.tau
        sweep = sweep % turn or turn
        count = min(max(1, math.ceil(abs(sweep) * radius / PIECE_MM)), 500)
        corners = []
        for n in range(1, count):
            angle = first + sweep * n / count
            x, y = centre_x + radius * math.cos(angle), centre_y + radius * math.sin(angle)
            corners.append(Point(x, y, start.z + (end.z - start.z) * n / count))
        return [*corners, end]

    def _home(self, line: Line) -> Move:
        named = [axis for axis in range(3) if "XYZ"[axis] in line.words] or [0, 1, 2]
        home = [0.0 if axis in named else self.position[axis] for axis in range(3)]
        self._zero = Point(*(0.0 if n in named else self._zero[n] for n in range(3)))
        move = homing(self.position, Point(*home))
        self.position = move.end
        return move

    def _declare(self, line: Line) -> None:
        """G92: the present place is called what the line says; nothing moves."""
        numbers = [line.number(letter) for letter in "XYZ"]
        self._zero = Point(
            *(
                zero if value is None else here - value * self._unit_mm
                for zero, here, value in zip(self._zero, self.position, numbers, strict=True)
            )
        )
        filament = line.number("E")
        if filament is not None:
            self._filament_mm = filament * self._unit_mm


def homing(start: Point, end: Point) -> Move:
    """Return the way to the end stops."""
    seconds = max(math.dist(start, end) / _HOMING_MM_S, _HOMING_MIN_S)
    return Move(start, end, seconds, is_homing=True)


def travel(start: Point, end: Point, speed_mm_s: float) -> Move:
    """Return a move that does not come from G-code."""
    return Move(start, end, math.dist(start, end) / speed_mm_s)


def inside(point: Point) -> Point:
    """Return the nearest place that the head can reach."""
    limits = (BED_MM, BED_MM, HEIGHT_MM)
    return Point(*(min(max(v, 0.0), limit) for v, limit in zip(point, limits, strict=True)))


def _pieces(move: Move) -> Iterator[Move]:
    length_mm = math.dist(move.start, move.end)
    count = math.ceil(length_mm / PIECE_MM) if move.is_extruding and length_mm > PIECE_MM else 1
    count = min(count, 200)
    for n in range(count):
        yield Move(
            move.start.to(move.end, n / count) if n else move.start,
            move.start.to(move.end, (n + 1) / count) if n + 1 < count else move.end,
            move.seconds / count,
            move.filament_mm / count,
        )
