"""The plastic on the bed: what a camera would see of a print, failed ones included."""

import math
from array import array
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from .motion import BED_MM, Point

MAX_STRANDS = 60_000
"""1.4 MB. A print with more of them keeps every second one, again and again."""

_FIELDS = 7


class Strand(NamedTuple):
    """A straight bit of plastic. is_loose: it hangs in the air instead of lying on a layer."""

    start: Point
    end: Point
    is_loose: bool


class Strands:
    """All strands in the order in which to paint them.

    generation: another number means that what was painted so far is no longer true.
    """

    def __init__(self, at_most: int = MAX_STRANDS) -> None:
        self.generation = 0
        self._at_most = at_most
        self._values = array("f")

    def __len__(self) -> int:
        return len(self._values) // _FIELDS

    def add(self, strand: Strand) -> None:
        if len(self) >= self._at_most:
            self._thin()
        self._values.extend((*strand.start, *strand.end, strand.is_loose))

    def between(self, first: int, last: int) -> Iterator[Strand]:
        """Return the strands from one number up to another, or to the end."""
        values = self._values[first * _FIELDS : last * _FIELDS]
        for at in range(0, len(values), _FIELDS):
            x0, y0, z0, x1, y1, z1, is_loose = values[at : at + _FIELDS]
            yield Strand(Point(x0, y0, z0), Point(x1, y1, z1), bool(is_loose))

    def clear(self) -> None:
        self._replace([])

    def come_loose(self) -> None:
        """Shift what stands there aside, turned and leaning, as a head does that catches on it."""
        strands = self.between(0, len(self))
        self._replace([Strand(_shifted(s.start), _shifted(s.end), s.is_loose) for s in strands])

    def _thin(self) -> None:
        self._replace(list(self.between(0, len(self)))[::2])

    def _replace(self, strands: list[Strand]) -> None:
        # A new array: the thread that paints may still hold the old one.
        self._values = array("f")
        for strand in strands:
            self._values.extend((*strand.start, *strand.end, strand.is_loose))
        self.generation += 1


_MIDDLE_MM = BED_MM / 2
_TURN, _LEAN = math.radians(28), math.radians(11)
_ASIDE_MM = (-42.0, 14.0)


def _shifted(point: Point) -> Point:
    """Turned about the bed's middle, leaning to the right, moved left and back."""
    x, y = point.x - _MIDDLE_MM, point.y - _MIDDLE_MM
    turned_x = x * math.cos(_TURN) - y * math.sin(_TURN)
    turned_y = x * math.sin(_TURN) + y * math.cos(_TURN)
    # The edge on the left is lifted; the one on the right stays on the bed.
    lift = max(_MIDDLE_MM * 0.35 - turned_x, 0.0) * math.sin(_LEAN)
    return Point(
        _MIDDLE_MM + turned_x + _ASIDE_MM[0] + point.z * math.sin(_LEAN),
        _MIDDLE_MM + turned_y + _ASIDE_MM[1],
        point.z + lift,
    )


class Spaghetti:
    """Filament with nothing under it: it curls about the nozzle and heaps up.

    Pure but for its random numbers, which come from the seed: the same print fails the same way.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a picture, no secret
        self._end: Point | None = None
        self._heading = 0.0
        self._bend_per_mm = 0.2
        self._climb = 0.3
        self._heap_mm = 0.5

    def lay(self, nozzle: Point, length_mm: float) -> Iterator[Strand]:
        """Return what becomes of this much of a line that ends at the nozzle."""
        self._heap_mm = min(self._heap_mm + length_mm * 0.004, nozzle.z + 22.0)
        for _ in range(max(1, round(length_mm / 2.0))):
            start = self._end or nozzle
            self._end = self._next_end(start, nozzle)
            yield Strand(start, self._end, is_loose=True)

    def _next_end(self, at: Point, nozzle: Point) -> Point:
        draw = self._random
        if draw.random() < 0.06:  # it sticks to something and turns elsewhere
            self._bend_per_mm = draw.choice((-1, 1)) * draw.uniform(0.07, 0.38)
            self._climb = draw.uniform(-0.9, 0.9)
        self._heading += self._bend_per_mm * 2.0 + draw.gauss(0.0, 0.15)
        x = at.x + 2.0 * math.cos(self._heading) + (nozzle.x - at.x) * 0.022
        y = at.y + 2.0 * math.sin(self._heading) + (nozzle.y - at.y) * 0.022
        z = at.z + self._climb
        if not 0.3 < z < self._heap_mm:
            self._climb = -self._climb
            z = min(max(z, 0.3), self._heap_mm)
        return Point(min(max(x, 3.0), BED_MM - 3.0), min(max(y, 3.0), BED_MM - 3.0), z)
