"""Smart pause: the state that is saved, and the commands that pause and restore.

The firmware runs the owner's own pause.g and resume.g, which retract and lift as the machine needs
it, and moves back to where the print was by itself. What a smart pause does beyond that is done and
undone here. A tool that is switched off keeps its temperatures.
"""

from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.print_progress import UNKNOWN_PROGRESS, PrintProgress, parse_progress
from printreach.printers.saved_state import SavedStateStore, distance_mm
from printreach.rules.printers.commands import (
    DEFAULT_LIMITS,
    MAX_TOOL_NUMBER,
    CommandLimits,
    restore_problem,
)

from . import gcode
from . import model as duet

STORE = "duet-smart-pause.json"
MAX_BED_C = 300.0
CLOSE_ENOUGH_C = 3.0
SWITCHED_ON = frozenset({"active", "standby"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The changes that a smart pause made.

    path: of the print's file. progress: of the print then. tools: the tools that were switched
    off, with their state before. bed_c: 0.0 where the bed was not changed.
    """

    path: str
    tools: dict[int, str]
    bed_c: float
    lift_mm: int
    retract_mm: int
    progress: PrintProgress = UNKNOWN_PROGRESS

    @property
    def is_empty(self) -> bool:
        return not (self.has_heat or self.has_moves or self.lift_mm)

    @property
    def has_heat(self) -> bool:
        return bool(self.tools or self.bed_c)

    @property
    def has_moves(self) -> bool:
        """Of those that a resume has to undo: the board itself moves back to the print."""
        return bool(self.retract_mm)


def plan_saved_state(
    order: Pause, path: str, model: Json, limits: CommandLimits = DEFAULT_LIMITS
) -> SavedState:
    """Return what is to be turned off; not what a resume wouldn't be allowed to heat again."""
    bed = duet.bed(model)
    tools = {
        tool.number: tool.heater.state
        for tool in duet.tools(model)
        if tool.heater.state in SWITCHED_ON and tool.heater.target_c <= limits.hotend_c
    }
    is_bed_off = bed is not None and order.disable_bed and bed.target_c <= limits.bed_c
    return SavedState(
        path=path,
        tools=tools if order.disable_hotend else {},
        bed_c=bed.target_c if bed is not None and is_bed_off else 0.0,
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def pause_commands(saved: SavedState) -> list[str]:
    """Return the commands of a smart pause: retract while hot, then lift, then turn off heaters."""
    retract = [f"G1 E-{saved.retract_mm} F{gcode.RETRACT_MM_PER_MIN}"] if saved.retract_mm else []
    lift = [f"G1 Z{saved.lift_mm} F{gcode.MOVE_MM_PER_MIN['Z']}"] if saved.lift_mm else []
    moves = gcode.relatively(*retract, *lift) if retract or lift else []
    tools = [gcode.switch_tool(number, "off") for number in saved.tools]
    return [*moves, *tools, *([gcode.heat_bed(0)] if saved.bed_c else [])]


def heat_commands(saved: SavedState) -> list[str]:
    """Return the commands that heat everything again, and don't wait for it: a board that waits
    takes no cancel, and carries out what is queued behind."""
    tools = [gcode.switch_tool(number, state) for number, state in saved.tools.items()]
    return [*tools, *([gcode.heat_bed(saved.bed_c)] if saved.bed_c else [])]


def move_back_commands(saved: SavedState) -> list[str]:
    """Return the commands that unretract, for when it is warm."""
    if not saved.retract_mm:
        return []
    return gcode.relatively(f"G1 E{saved.retract_mm} F{gcode.RETRACT_MM_PER_MIN}")


def is_warm(saved: SavedState, model: Json) -> bool:
    """Return whether the board has taken the targets, and reached them."""
    heaters = {tool.number: tool.heater for tool in duet.tools(model)}
    is_hot = [
        number in heaters and heaters[number].state == state and _has_reached(heaters[number])
        for number, state in saved.tools.items()
    ]
    bed = duet.bed(model)
    if saved.bed_c:
        is_hot.append(bed is not None and bed.target_c >= saved.bed_c and _has_reached(bed))
    return all(is_hot)


def limit_problem(saved: SavedState, model: Json, limits: CommandLimits) -> str | None:
    """The tools' temperatures are the board's own, and may have been changed there since."""
    hotends = [duet.set_target_c(model, number, state) for number, state in saved.tools.items()]
    return restore_problem(
        limits,
        hotend_c=max(hotends, default=0.0),
        bed_c=saved.bed_c,
        lift_mm=saved.lift_mm,
        retract_mm=saved.retract_mm,
    )


def _has_reached(heater: duet.Heater) -> bool:
    return heater.actual_c is not None and heater.actual_c >= heater.target_c - CLOSE_ENOUGH_C


def parse_saved_state(stored: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    path = loose.text(stored, "path")
    if path is None:
        return None
    states = {number: loose.text(loose.obj(stored, "tools"), number) for number in _numbers(stored)}
    bed_c = loose.number(stored, "bed_c") or 0.0
    return SavedState(
        path=path,
        tools={int(number): state for number, state in states.items() if state in SWITCHED_ON},
        bed_c=bed_c if 0.0 <= bed_c <= MAX_BED_C else 0.0,
        lift_mm=distance_mm(stored, "lift_mm"),
        retract_mm=distance_mm(stored, "retract_mm"),
        progress=parse_progress(stored),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)


def _numbers(stored: object) -> list[str]:
    """Return the tools' numbers, which are strings in JSON."""
    written = {str(number) for number in range(MAX_TOOL_NUMBER + 1)}
    return [number for number in loose.obj(stored, "tools") if number in written]
