"""The printer's body: heaters, head, fan, light and the plastic on the bed. It knows of no job."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from .motion import Move, Point
from .program import Dwell, HeaterName, SetFan, SetHeat
from .strands import Spaghetti, Strand, Strands

COLD_BELOW_C = 170.0
"""No extruding below this, as common firmware has it: cold plastic would strip or jam."""

_PARKED = Point(30.0, 180.0, 70.0)
_CONSOLE_LINES = 100
ROOM_C = 22.0
_NEAR_C = 0.05
"""So close to the room's temperature counts as there; cooling alone would take for ever."""


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


def hotend() -> Heater:
    return Heater(heats_c_per_s=12.0, cooling_s=70.0, max_c=300.0)


def bed() -> Heater:
    return Heater(heats_c_per_s=10.0, cooling_s=240.0, max_c=120.0)


def chamber() -> Heater:
    return Heater(heats_c_per_s=10.0, cooling_s=400.0, max_c=75.0)


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
        self.heaters: Mapping[HeaterName, Heater] = {
            HeaterName.HOTEND: hotend(),
            HeaterName.BED: bed(),
            HeaterName.CHAMBER: chamber(),
        }
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
