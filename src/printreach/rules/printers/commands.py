"""The rules for commands: which are allowed in which state, and within which bounds.

Each check returns None, or a sentence that names the argument. Orders that people gave on a
printer's pages are kept for its history.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from math import isfinite
from types import MappingProxyType
from typing import Final

from printreach.contract.commands import Adjust, Extrude, Home, MoveAxis, Pause, SetTemp
from printreach.contract.status import AT_WORK, UNDER_WAY, Feature, State
from printreach.contract.unset import UnsetType
from printreach.languages import N_, in_english

MAX_BED_C = 75.0
MAX_CHAMBER_C = 75.0
MAX_TOOL_C = 260.0
HOTTER_AT_THE_PRINTER = N_("For safety, more can only be set at the printer itself.")
"""Why a page or an app can't heat further; these limits are the service's, whatever the printer
takes."""
MAX_DISTANCE_MM = 500.0
MAX_PAUSE_MM = 50.0
"""The most that a smart pause may lift the nozzle, or draw filament back. No pause needs more."""
MAX_TOOL_NUMBER = 15
MIN_SPEED_PERCENT, MAX_SPEED_PERCENT = 10, 300
MIN_FLOW_PERCENT, MAX_FLOW_PERCENT = 50, 150
MAX_FAN_PERCENT = 100
MAX_Z_OFFSET_STEP_MM = 1.0
"""In one order. More is no correction of a first layer, and drives the nozzle into the bed."""
COMMAND_LIFETIME_S = 30.0

MAX_OF_A_PRINTER: Final = 500
"""The newest that are kept."""
MAX_SUBJECT: Final = 300
STOP_EVERYTHING: Final = "/stop-everything"
"""A given order, as a path like those of commands: several commands to every printer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLimits:
    """The largest values of one command. The defaults are those of the command API.

    The owner of an agent may lower them. move_mm: of an axis, in either direction, of the Z lift
    in a pause, and of a step of the Z offset. extrude_mm: of filament, forth or back. A pause has
    MAX_PAUSE_MM besides, a step of the Z offset MAX_Z_OFFSET_STEP_MM.
    """

    hotend_c: float = MAX_TOOL_C
    bed_c: float = MAX_BED_C
    chamber_c: float = MAX_CHAMBER_C
    move_mm: float = MAX_DISTANCE_MM
    extrude_mm: float = MAX_DISTANCE_MM


DEFAULT_LIMITS = CommandLimits()


class Action(Enum):
    """A command that depends on the printer's state."""

    PAUSE = auto()
    RESUME = auto()
    CANCEL = auto()
    START = auto()
    MOVE = auto()
    EXTRUDE = auto()
    HOME = auto()
    RESTART_FIRMWARE = auto()


_IN_WORDS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.IDLE: N_("the printer is idle"),
        State.WARMING_UP: N_("the printer is warming up"),
        State.PRINTING: N_("the printer is printing"),
        State.PAUSED: N_("the print is paused"),
        State.RESUMING: N_("the print is resuming"),
        State.COMPLETE: N_("the last print is complete"),
        State.CANCELLED: N_("the last print was cancelled"),
        State.ERROR: N_("the printer reports an error"),
    }
)


def state_problem(action: Action, state: State) -> str | None:
    """Return why an action has no place in a state (786)."""
    match action:
        case Action.PAUSE if state is not State.PRINTING:
            return in_english(
                "Only a running print can be paused; %(state)s.", state=_IN_WORDS[state]
            )
        case Action.RESUME if state is not State.PAUSED:
            return in_english(
                "Only a paused print can be resumed; %(state)s.", state=_IN_WORDS[state]
            )
        case Action.CANCEL if state not in UNDER_WAY:
            return in_english("There is no print to cancel; %(state)s.", state=_IN_WORDS[state])
        case Action.START if state in UNDER_WAY:
            return in_english("Another print is under way; %(state)s.", state=_IN_WORDS[state])
        case Action.HOME | Action.RESTART_FIRMWARE if state in UNDER_WAY:
            return in_english("A print is under way; %(state)s.", state=_IN_WORDS[state])
        case Action.MOVE | Action.EXTRUDE if state in AT_WORK:
            return in_english("A print is running; %(state)s.", state=_IN_WORDS[state])
        case _:
            return None


def shows_effect(action: Action, state: State) -> bool:
    """Whether a printer in this state may have carried out an action that changes it."""
    match action:
        case Action.START:
            return state in UNDER_WAY
        case Action.PAUSE:
            return state is State.PAUSED or state not in UNDER_WAY
        case Action.RESUME:
            return state is not State.PAUSED
        case Action.CANCEL:
            return state not in UNDER_WAY
        case _:
            return True


def move_problem(order: MoveAxis, limits: CommandLimits = DEFAULT_LIMITS) -> str | None:
    return _distance_problem(order.distance_mm, limits.move_mm)


def extrude_problem(order: Extrude, limits: CommandLimits = DEFAULT_LIMITS) -> str | None:
    if not 0 <= order.extruder <= MAX_TOOL_NUMBER:
        return in_english("Extruder must be 0 to %(most)s.", most=MAX_TOOL_NUMBER)
    return _distance_problem(order.distance_mm, limits.extrude_mm)


def pause_problem(order: Pause, limits: CommandLimits = DEFAULT_LIMITS) -> str | None:
    for name, value, owner_most in (
        ("ZLiftMm", order.z_lift_mm, limits.move_mm),
        ("RetractFilamentMm", order.retract_filament_mm, limits.extrude_mm),
    ):
        most = min(MAX_PAUSE_MM, owner_most)
        if not 0 <= value <= most:
            if most < MAX_PAUSE_MM:
                return in_english(
                    "%(argument)s must be 0 to %(most)s, as the owner of this printer's agent"
                    " has set it.",
                    argument=name,
                    most=f"{most:g}",
                )
            return in_english(
                "%(argument)s must be 0 to %(most)s.", argument=name, most=f"{most:g}"
            )
    return None


def restore_problem(
    limits: CommandLimits,
    *,
    hotend_c: float = 0.0,
    bed_c: float = 0.0,
    lift_mm: int = 0,
    retract_mm: int = 0,
) -> str | None:
    """Return why a resume may not restore a smart pause: a limit was lowered since."""
    moves = Pause(z_lift_mm=lift_mm, retract_filament_mm=retract_mm)
    heat = SetTemp(tool_c=hotend_c, bed_c=bed_c)
    return pause_problem(moves, limits) or set_temp_problem(heat, limits)


def plain_pause(order: Pause) -> Pause:
    """Return the pause without smart options, as allowed while remote control is locked.

    It is silent if the order says so, and not because it was a smart one.
    """
    return Pause(suppress_notification=order.suppress_notification)


def set_temp_problem(order: SetTemp, limits: CommandLimits = DEFAULT_LIMITS) -> str | None:
    targets = (
        ("BedC", order.bed_c, limits.bed_c, MAX_BED_C),
        ("ChamberC", order.chamber_c, limits.chamber_c, MAX_CHAMBER_C),
        ("ToolC", order.tool_c, limits.hotend_c, MAX_TOOL_C),
    )
    if all(isinstance(target, UnsetType) for _, target, _, _ in targets):
        return N_("At least one of BedC, ChamberC and ToolC must be given.")
    for name, target, most, usual in targets:
        if not isinstance(target, UnsetType) and not (isfinite(target) and 0 <= target <= most):
            if most < usual:
                return in_english(
                    "%(argument)s must be 0 to %(most)s degrees Celsius, as the owner of this"
                    " printer's agent has set it.",
                    argument=name,
                    most=f"{most:g}",
                )
            return in_english(
                "%(argument)s must be 0 to %(most)s degrees Celsius.",
                argument=name,
                most=f"{most:g}",
            )
    number = order.tool_number
    if isinstance(number, int) and not 0 <= number <= MAX_TOOL_NUMBER:
        return in_english("ToolNumber must be 0 to %(most)s.", most=MAX_TOOL_NUMBER)
    return None


def home_problem(order: Home) -> str | None:
    return None if order.homed else N_("Axes must name X, Y or Z.")


def adjust_problem(order: Adjust, limits: CommandLimits = DEFAULT_LIMITS) -> str | None:
    most_mm = min(MAX_Z_OFFSET_STEP_MM, limits.move_mm)
    changes = (
        ("SpeedPercent", order.speed_percent, MIN_SPEED_PERCENT, MAX_SPEED_PERCENT),
        ("FlowPercent", order.flow_percent, MIN_FLOW_PERCENT, MAX_FLOW_PERCENT),
        ("FanPercent", order.fan_percent, 0, MAX_FAN_PERCENT),
        ("ZOffsetByMm", order.z_offset_by_mm, -most_mm, most_mm),
    )
    is_empty = all(isinstance(value, UnsetType) for _, value, _, _ in changes)
    if is_empty and isinstance(order.speed_level, UnsetType):
        names = ", ".join(name for name, _, _, _ in changes)
        return in_english("At least one of %(names)s and SpeedLevel must be given.", names=names)
    for name, value, least, most in changes:
        if not isinstance(value, UnsetType) and not (isfinite(value) and least <= value <= most):
            values = {
                "argument": name,
                "least": f"{least:g}",
                "most": f"{most:g}",
                "given": f"{value:g}",
            }
            if name == "ZOffsetByMm" and most_mm < MAX_Z_OFFSET_STEP_MM:
                return in_english(
                    "%(argument)s must be %(least)s to %(most)s, as the owner of this printer's"
                    " agent has set it, not %(given)s.",
                    **values,
                )
            return in_english(
                "%(argument)s must be %(least)s to %(most)s, not %(given)s.", **values
            )
    return None


def not_adjustable(order: Adjust, features: Feature) -> list[str]:
    """Return the arguments of an order that a printer with these features can't carry out."""
    arguments = (
        ("SpeedPercent", order.speed_percent, Feature.SPEED_CONTROL),
        ("FlowPercent", order.flow_percent, Feature.FLOW_CONTROL),
        ("FanPercent", order.fan_percent, Feature.FAN_CONTROL),
        ("ZOffsetByMm", order.z_offset_by_mm, Feature.Z_OFFSET_CONTROL),
        ("SpeedLevel", order.speed_level, Feature.SPEED_LEVELS),
    )
    return [
        name
        for name, value, feature in arguments
        if not isinstance(value, UnsetType) and feature not in features
    ]


def _distance_problem(distance_mm: float, most: float) -> str | None:
    if not isfinite(distance_mm) or abs(distance_mm) > most:
        if most < MAX_DISTANCE_MM:
            return in_english(
                "DistanceMm must be -%(most)s to %(most)s, as the owner of this printer's agent"
                " has set it.",
                most=f"{most:g}",
            )
        return in_english("DistanceMm must be -%(most)s to %(most)s.", most=f"{most:g}")
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenOrder:
    """An order that the printer accepted.

    account_id: of the owner at that time. person_id: who gave it; None once their account is
    deleted. command: its path in the command API, or STOP_EVERYTHING. subject: a file's path; ""
    where there is none.
    """

    account_id: str
    printer_id: str
    person_id: str | None
    at: datetime
    command: str
    subject: str = ""
