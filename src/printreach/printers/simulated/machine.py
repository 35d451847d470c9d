"""The printer's body: heaters, head, fan, light and the plastic on the bed. It knows of no job.

The plastic is what a camera would see of a print, failed ones included.
"""

import math
from array import array
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from random import Random
from typing import NamedTuple, assert_never

from .motion import BED_MM, Move, Point
from .program import Dwell, HeaterName, SetFan, SetHeat

COLD_BELOW_C = 170.0
"""No extruding below this, as common firmware has it: cold plastic would strip or jam."""

_PARKED = Point(30.0, 180.0, 70.0)
_CONSOLE_LINES = 100
ROOM_C = 22.0
_NEAR_C = 0.05
"""So close to the room's temperature counts as there; cooling alone would take for ever."""

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


class Failure(Enum):
    """The failures that can be ordered, visible to the camera."""

    NONE = "none"
    SPAGHETTI = "spaghetti"
    DETACH = "detach"


@dataclass(frozen=True, slots=True)
class Message:
    """A line of the printer's console. number: counts all lines since the start."""

    number: int
    text: str
    is_error: bool


@dataclass(slots=True, kw_only=True)
class Heater:
    """Rises at its rate, and cools the slower the nearer the room it is.

    Both are solved exactly, so that the length of the steps in which time passes doesn't matter.
    cooling_s: after this time without heat, 37 % of the difference to the room are left."""

    heats_c_per_s: float
    cooling_s: float
    max_c: float
    actual_c: float = ROOM_C
    target_c: float = 0.0

    def set_target(self, target_c: float) -> None:
        """Aim at a temperature, kept between off (0) and the heater's maximum."""
        self.target_c = min(max(target_c, 0.0), self.max_c)

    @property
    def is_heating(self) -> bool:
        return self.actual_c < self.target_c

    @property
    def is_settled(self) -> bool:
        """Nothing changes until the target does."""
        return self.actual_c == self._end_c

    def advance(self, seconds: float) -> None:
        if self.is_heating:
            self.actual_c = min(self.actual_c + self.heats_c_per_s * seconds, self.target_c)
            return
        left_c = (self.actual_c - ROOM_C) * math.exp(-seconds / self.cooling_s)
        cooled_c = ROOM_C + (left_c if left_c > _NEAR_C else 0.0)
        self.actual_c = max(cooled_c, self._end_c)

    def seconds_to_target(self) -> float:
        """0 when there, and when the target is below what the room allows."""
        if self.is_heating:
            return (self.target_c - self.actual_c) / self.heats_c_per_s
        if self.is_settled:
            return 0.0
        left_c = max(self._end_c - ROOM_C, _NEAR_C)
        return self.cooling_s * math.log(max((self.actual_c - ROOM_C) / left_c, 1.0))

    @property
    def _end_c(self) -> float:
        return max(self.target_c, ROOM_C)


def heaters() -> Mapping[HeaterName, Heater]:
    """Return those of the machine, at the room's temperature."""
    return {
        HeaterName.HOTEND: Heater(heats_c_per_s=12.0, cooling_s=70.0, max_c=300.0),
        HeaterName.BED: Heater(heats_c_per_s=10.0, cooling_s=240.0, max_c=120.0),
        HeaterName.CHAMBER: Heater(heats_c_per_s=10.0, cooling_s=400.0, max_c=75.0),
    }


@dataclass(slots=True)
class HeaterWait:
    """Until a heater is where it should be; its time passes in the heater."""

    heater: Heater
    cooling_too: bool

    @property
    def remaining_s(self) -> float:
        if self.heater.is_heating or self.cooling_too:
            return self.heater.seconds_to_target()
        return 0.0


Activity = Move | HeaterWait | Dwell
"""The steps that take time. Each has remaining_s."""


class Machine:
    """Does one activity at a time while its heaters go on."""

    def __init__(self, seed: int) -> None:
        self.heaters = heaters()
        self.position = _PARKED
        self.fan_percent = 0
        self.speed_percent = 100
        self.flow_percent = 100
        self.z_offset_mm = 0.0
        self.light_is_on = True
        self.filament_mm = 0.0
        self.strands = Strands()
        self.console: deque[Message] = deque(maxlen=_CONSOLE_LINES)
        self.failure = Failure.NONE
        self._seed = seed
        self._spaghetti = Spaghetti(seed)
        self._message_count = 0
        self._reported_cold = False

    @property
    def is_heating(self) -> bool:
        return any(heater.is_heating for heater in self.heaters.values())

    @property
    def is_settled(self) -> bool:
        """Time alone changes nothing."""
        return all(heater.is_settled for heater in self.heaters.values())

    def fail(self, failure: Failure) -> None:
        """Begin or end a failure."""
        if failure is Failure.DETACH and self.failure is not Failure.DETACH:
            self.strands.come_loose()
        self.failure = failure

    def clear_bed(self) -> None:
        """Take away what was printed, and what went wrong with it."""
        self.failure = Failure.NONE
        self._spaghetti = Spaghetti(self._seed)
        self.strands.clear()
        self.filament_mm = 0.0

    def switch_off_heat(self) -> None:
        for heater in self.heaters.values():
            heater.set_target(0.0)

    def report(self, text: str, *, is_error: bool = False) -> None:
        """Write a line on the console."""
        self._message_count += 1
        self.console.append(Message(self._message_count, text, is_error))

    def begin(self, step: Move | Dwell | SetHeat | SetFan) -> Activity | None:
        """Return what now takes time; None for what is done at once."""
        match step:
            case Move():
                return self._begin_move(step)
            case Dwell():
                return step
            case SetHeat():
                heater = self.heaters[step.heater]
                heater.set_target(step.target_c)
                return HeaterWait(heater, step.cooling_too) if step.waits else None
            case SetFan():
                self.fan_percent = step.percent
                return None
            case _:
                assert_never(step)

    def advance(self, seconds: float, activity: Activity | None) -> None:
        """Let time pass, no longer than the activity lasts."""
        for heater in self.heaters.values():
            heater.advance(seconds)
        match activity:
            case Move():
                self._advance_move(activity, seconds)
            case Dwell():
                activity.remaining_s -= seconds
            case HeaterWait() | None:
                pass

    def _begin_move(self, move: Move) -> Move | None:
        if move.filament_mm == 0:
            return move
        if self.heaters[HeaterName.HOTEND].actual_c >= COLD_BELOW_C:
            self._reported_cold = False
            return move
        if not self._reported_cold:
            self._reported_cold = True
            self.report(f"Cold extrusion prevented: below {COLD_BELOW_C:.0f} °C", is_error=True)
        return None if move.start == move.end else replace(move, filament_mm=0.0)

    def _advance_move(self, move: Move, seconds: float) -> None:
        before_s = move.elapsed_s
        move.advance(seconds)
        self.position = move.position
        share = (move.elapsed_s - before_s) / move.seconds if move.seconds else 1.0
        self.filament_mm += move.filament_mm * share
        if move.is_extruding and move.elapsed_s >= move.seconds:
            self._lay(move)

    def _lay(self, move: Move) -> None:
        if self.failure is Failure.NONE:
            self.strands.add(Strand(move.start, move.end, is_loose=False))
            return
        for strand in self._spaghetti.lay(move.end, math.dist(move.start, move.end)):
            self.strands.add(strand)
