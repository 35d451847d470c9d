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
from printreach.printers.saved_state import SavedStateStore, distance_mm
from printreach.rules.commands import MAX_TOOL_NUMBER

from . import gcode
from . import model as duet

STORE = "duet-smart-pause.json"
MAX_BED_C = 300.0
SWITCHED_ON = frozenset({"active", "standby"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What a smart pause changed.

    path: of the print's file. tools: the tools that were switched off, with their state before.
    bed_c: 0.0 where the bed was not changed.
    """

    path: str
    tools: dict[int, str]
    bed_c: float
    lift_mm: int
    retract_mm: int

    @property
    def is_empty(self) -> bool:
        return not (self.tools or self.bed_c or self.lift_mm or self.retract_mm)


def plan_saved_state(order: Pause, path: str, model: Json) -> SavedState:
    bed = duet.bed(model)
    tools = {
        tool.number: tool.heater.state
        for tool in duet.tools(model)
        if tool.heater.state in SWITCHED_ON
    }
    return SavedState(
        path=path,
        tools=tools if order.disable_hotend else {},
        bed_c=bed.target_c if bed is not None and order.disable_bed else 0.0,
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


def restore_commands(saved: SavedState) -> list[str]:
    """Return the commands that undo it: heat everything at once, wait, then unretract."""
    tools = [gcode.switch_tool(number, state) for number, state in saved.tools.items()]
    bed = [gcode.heat_bed(saved.bed_c)] if saved.bed_c else []
    wait = [gcode.WAIT_FOR_HEAT] if tools or bed else []
    moves = []
    if saved.retract_mm:
        moves = gcode.relatively(f"G1 E{saved.retract_mm} F{gcode.RETRACT_MM_PER_MIN}")
    return [*tools, *bed, *wait, *moves]


def parse_saved_state(told: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    path = loose.text(told, "path")
    if path is None:
        return None
    states = {number: loose.text(loose.obj(told, "tools"), number) for number in _numbers(told)}
    bed_c = loose.number(told, "bed_c") or 0.0
    return SavedState(
        path=path,
        tools={int(number): state for number, state in states.items() if state in SWITCHED_ON},
        bed_c=bed_c if 0.0 <= bed_c <= MAX_BED_C else 0.0,
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)


def _numbers(told: object) -> list[str]:
    """Return the tools' numbers, which are strings in JSON."""
    written = {str(number) for number in range(MAX_TOOL_NUMBER + 1)}
    return [number for number in loose.obj(told, "tools") if number in written]
