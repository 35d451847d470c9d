"""What is known of the simulated printer at one moment."""

from dataclasses import dataclass
from enum import Enum

from .machine import Failure
from .motion import Point
from .program import HeaterName


class State(Enum):
    IDLE = "idle"
    WARMING_UP = "warmingup"
    PRINTING = "printing"
    PAUSED = "paused"
    RESUMING = "resuming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    ERROR = "error"


RUNNING = frozenset({State.WARMING_UP, State.PRINTING})
ACTIVE = RUNNING | {State.PAUSED, State.RESUMING}
ENDED = frozenset({State.COMPLETE, State.CANCELLED, State.ERROR})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the printer doesn't do as told, as a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Temperature:
    """target_c: 0 where the heater is off."""

    actual_c: float
    target_c: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """One moment. What is unknown is None.

    progress: 0 to 100, by file position. duration_s: of the print, without pauses.
    file_name: of the current or latest print; "" where there was none. filament_mm: fed so far.
    filament_total_mm: what the whole print takes.
    """

    state: State
    sub_state: str | None
    error: str | None
    file_name: str
    progress: float
    duration_s: float
    time_left_s: float | None
    current_layer: int | None
    total_layers: int | None
    filament_mm: float
    filament_total_mm: float | None
    temperatures: dict[HeaterName, Temperature]
    position: Point
    fan_percent: int
    light_is_on: bool
    failure: Failure
