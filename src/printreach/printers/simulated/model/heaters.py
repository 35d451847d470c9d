"""A heater that behaves: it rises at its rate, and cools the slower the nearer the room it is.

Both are solved exactly, so that the length of the steps in which time passes doesn't matter.
"""

import math
from dataclasses import dataclass

ROOM_C = 22.0
_NEAR_C = 0.05
"""So close to the room's temperature counts as there; cooling alone would take for ever."""


@dataclass(slots=True, kw_only=True)
class Heater:
    """cooling_s: after this time without heat, 37 % of the difference to the room are left."""

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
