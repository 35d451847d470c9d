"""What may be commanded, when, and within which bounds.

Each check returns None, or a sentence that names the argument.
"""

from enum import Enum, auto
from math import isfinite

from printreach.contract.commands import Extrude, MoveAxis, Pause, SetTemp
from printreach.contract.status import State
from printreach.contract.unset import UnsetType

MAX_BED_C = 75.0
MAX_CHAMBER_C = 75.0
MAX_TOOL_C = 260.0
MAX_DISTANCE_MM = 500.0
MAX_TOOL_NUMBER = 15
COMMAND_LIFETIME_S = 30.0

UNDER_WAY = frozenset({State.WARMING_UP, State.PRINTING, State.PAUSED, State.RESUMING})
MOVING = frozenset({State.WARMING_UP, State.PRINTING, State.RESUMING})


class Action(Enum):
    """What changes a printer's state, or must not disturb it."""

    PAUSE = auto()
    RESUME = auto()
    CANCEL = auto()
    START = auto()
    MOVE = auto()
    EXTRUDE = auto()
    HOME = auto()


def state_problem(action: Action, state: State) -> str | None:
    """Why an action has no place in a state (786)."""
    match action:
        case Action.PAUSE if state is not State.PRINTING:
            return f"Only a running print can be paused; the printer is {state}."
        case Action.RESUME if state is not State.PAUSED:
            return f"Only a paused print can be resumed; the printer is {state}."
        case Action.CANCEL if state not in UNDER_WAY:
            return f"There is no print to cancel; the printer is {state}."
        case Action.START if state in UNDER_WAY:
            return f"Another print is under way; the printer is {state}."
        case Action.HOME if state in UNDER_WAY:
            return f"A print is under way; the printer is {state}."
        case Action.MOVE | Action.EXTRUDE if state in MOVING:
            return f"A print is running; the printer is {state}."
        case _:
            return None


def move_problem(order: MoveAxis) -> str | None:
    return _distance_problem(order.distance_mm)


def extrude_problem(order: Extrude) -> str | None:
    if not 0 <= order.extruder <= MAX_TOOL_NUMBER:
        return f"Extruder must be 0 to {MAX_TOOL_NUMBER}."
    return _distance_problem(order.distance_mm)


def pause_problem(order: Pause) -> str | None:
    for name, value in (
        ("ZLiftMm", order.z_lift_mm),
        ("RetractFilamentMm", order.retract_filament_mm),
    ):
        if not 0 <= value <= MAX_DISTANCE_MM:
            return f"{name} must be 0 to {MAX_DISTANCE_MM:.0f}."
    return None


def set_temp_problem(order: SetTemp) -> str | None:
    targets = (
        ("BedC", order.bed_c, MAX_BED_C),
        ("ChamberC", order.chamber_c, MAX_CHAMBER_C),
        ("ToolC", order.tool_c, MAX_TOOL_C),
    )
    if all(isinstance(target, UnsetType) for _, target, _ in targets):
        return "At least one of BedC, ChamberC and ToolC must be given."
    for name, target, most in targets:
        if not isinstance(target, UnsetType) and not (isfinite(target) and 0 <= target <= most):
            return f"{name} must be 0 to {most:.0f} degrees Celsius."
    number = order.tool_number
    if isinstance(number, int) and not 0 <= number <= MAX_TOOL_NUMBER:
        return f"ToolNumber must be 0 to {MAX_TOOL_NUMBER}."
    return None


def _distance_problem(distance_mm: float) -> str | None:
    if not isfinite(distance_mm) or abs(distance_mm) > MAX_DISTANCE_MM:
        return f"DistanceMm must be -{MAX_DISTANCE_MM:.0f} to {MAX_DISTANCE_MM:.0f}."
    return None
