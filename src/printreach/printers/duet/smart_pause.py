"""Smart pause: what a print needs no more while it rests, and how it gets it back.

Firmware runs the owner's own pause.g and resume.g, which retract and lift as the machine needs it,
and moves back to where the print was by itself. What comes on top is taken and given back here.
A tool that is switched off keeps the temperatures it had.
"""

from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.rests import RestStore, distance_mm
from printreach.rules.commands import MAX_TOOL_NUMBER

from . import gcode
from . import model as duet

STORE = "duet-smart-pause.json"
MAX_BED_C = 300.0
SWITCHED_ON = frozenset({"active", "standby"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What was taken from a print.

    path: of its file. tools: those that were switched off, and as what they were on. bed_c: 0.0
    where the bed was left as it is.
    """

    path: str
    tools: dict[int, str]
    bed_c: float
    lift_mm: int
    retract_mm: int

    @property
    def is_nothing(self) -> bool:
        return not (self.tools or self.bed_c or self.lift_mm or self.retract_mm)


def plan_rest(order: Pause, path: str, model: Json) -> Rest:
    bed = duet.bed(model)
    tools = {
        tool.number: tool.heater.state
        for tool in duet.tools(model)
        if tool.heater.state in SWITCHED_ON
    }
    return Rest(
        path=path,
        tools=tools if order.disable_hotend else {},
        bed_c=bed.target_c if bed is not None and order.disable_bed else 0.0,
        lift_mm=order.z_lift_mm,
        retract_mm=order.retract_filament_mm,
    )


def commands_to_rest(rest: Rest) -> list[str]:
    """Retract while it is hot, then lift, then let it cool."""
    retract = [f"G1 E-{rest.retract_mm} F{gcode.RETRACT_MM_PER_MIN}"] if rest.retract_mm else []
    lift = [f"G1 Z{rest.lift_mm} F{gcode.MOVE_MM_PER_MIN['Z']}"] if rest.lift_mm else []
    moves = gcode.relatively(*retract, *lift) if retract or lift else []
    tools = [gcode.switch_tool(number, "off") for number in rest.tools]
    return [*moves, *tools, *([gcode.heat_bed(0)] if rest.bed_c else [])]


def commands_to_wake(rest: Rest) -> list[str]:
    """Heat everything at once, wait for it, then give the filament back."""
    tools = [gcode.switch_tool(number, state) for number, state in rest.tools.items()]
    bed = [gcode.heat_bed(rest.bed_c)] if rest.bed_c else []
    wait = [gcode.WAIT_FOR_HEAT] if tools or bed else []
    moves = []
    if rest.retract_mm:
        moves = gcode.relatively(f"G1 E{rest.retract_mm} F{gcode.RETRACT_MM_PER_MIN}")
    return [*tools, *bed, *wait, *moves]


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    path = loose.text(told, "path")
    if path is None:
        return None
    states = {number: loose.text(loose.obj(told, "tools"), number) for number in _numbers(told)}
    bed_c = loose.number(told, "bed_c") or 0.0
    return Rest(
        path=path,
        tools={int(number): state for number, state in states.items() if state in SWITCHED_ON},
        bed_c=bed_c if 0.0 <= bed_c <= MAX_BED_C else 0.0,
        lift_mm=distance_mm(told, "lift_mm"),
        retract_mm=distance_mm(told, "retract_mm"),
    )


def rest_store(folder: Path) -> RestStore[Rest]:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""
    return RestStore(folder / STORE, rest_of)


def _numbers(told: object) -> list[str]:
    """Tools' numbers, as JSON has them."""
    written = {str(number) for number in range(MAX_TOOL_NUMBER + 1)}
    return [number for number in loose.obj(told, "tools") if number in written]
