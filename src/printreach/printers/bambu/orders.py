"""Orders to a printer, as messages and as lines of G-code. Pure.

An order is the name of its part ("print", "system"...) and its arguments; the sequence number
is added where it is sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import splitext

from printreach.contract.commands import Axis, SetTemp, SpeedLevel, StartPrint
from printreach.contract.files import JsonObject
from printreach.contract.unset import UnsetType
from printreach.languages import in_english

COLDEST_EXTRUSION_C = 170.0
MAX_PLATE = 100
MAX_FILAMENTS = 64
MAX_SLOT = 255
_MM_PER_MIN = {Axis.X: 3000, Axis.Y: 3000, Axis.Z: 900}
_EXTRUDE_MM_PER_MIN = 300
"""Slow enough for any filament. The others are what the maker's own program sends."""


@dataclass(frozen=True, slots=True)
class Order:
    part: str
    command: str
    arguments: Mapping[str, object] = field(default_factory=dict)


PRINT_ORDERS = {
    action: Order("print", command, {"param": ""})
    for action, command in (("pause", "pause"), ("resume", "resume"), ("cancel", "stop"))
}
GET_VERSION = Order("info", "get_version")
PUSH_ALL = Order("pushing", "pushall", {"version": 1, "push_target": 1})


def gcode(*lines: str) -> Order:
    return Order("print", "gcode_line", {"param": "".join(f"{line}\n" for line in lines)})


HOME = gcode("G28")


def light(node: str, *, on: bool) -> Order:
    arguments = {
        "led_node": node,
        "led_mode": "on" if on else "off",
        "led_on_time": 500,
        "led_off_time": 500,
        "loop_times": 0,
        "interval_time": 0,
    }
    return Order("system", "ledctrl", arguments)


SPEED_LEVELS = {
    SpeedLevel.SILENT: 1,
    SpeedLevel.STANDARD: 2,
    SpeedLevel.SPORT: 3,
    SpeedLevel.LUDICROUS: 4,
}
"""By the numbers that the order takes, and that `spd_lvl` of the report tells."""


def speed(level: SpeedLevel) -> Order:
    return Order("print", "print_speed", {"param": str(SPEED_LEVELS[level])})


def move_lines(axis: Axis, distance_mm: float) -> list[str]:
    """Relative, within the soft limits, and back in the mode that was in force before."""
    return [
        "M211 S",
        "M211 X1 Y1 Z1",
        "M1002 push_ref_mode",
        "G91",
        f"G1 {axis.value}{_decimal(distance_mm)} F{_MM_PER_MIN[axis]}",
        "M1002 pop_ref_mode",
        "M211 R",
    ]


def extrude_lines(distance_mm: float) -> list[str]:
    """Prints give filament in relative lengths too, so there is no mode to go back to."""
    return ["M83", f"G1 E{_decimal(distance_mm)} F{_EXTRUDE_MM_PER_MIN}"]


def temp_lines(order: SetTemp, *, extruders: int, waits: bool = False) -> list[str]:
    """extruders: how many the printer has. One of several is named by its number.

    waits: the form in which the printer waits for the heat. Some firmware takes no other from the
    network (P1 from 01.06, A1 from 01.04, as a public client has it).
    """
    hotend, bed = ("M109", "M190") if waits else ("M104", "M140")
    lines = []
    if not isinstance(order.tool_c, UnsetType):
        number = order.tool_number if isinstance(order.tool_number, int) else 0
        tool = f" T{number}" if extruders > 1 else ""
        lines.append(f"{hotend}{tool} S{_decimal(order.tool_c)}")
    if not isinstance(order.bed_c, UnsetType):
        lines.append(f"{bed} S{_decimal(order.bed_c)}")
    return lines


def start(order: StartPrint, inside: str) -> Order:
    """inside: the file's path on the card. A project is printed by its plates, G-code as it is."""
    if splitext(inside)[1].lower() != ".3mf":
        return Order("print", "gcode_file", {"param": f"/{inside}"})
    plate = order.plate if isinstance(order.plate, int) else 1
    mapping = [] if isinstance(order.ams_mapping, UnsetType) else order.ams_mapping
    arguments: JsonObject = {
        "param": f"Metadata/plate_{plate}.gcode",
        "url": f"ftp:///{inside}",
        "file": inside,
        "subtask_name": inside.rpartition("/")[2],
        "project_id": "0",
        "profile_id": "0",
        "task_id": "0",
        "subtask_id": "0",
        "bed_type": "auto",
        "use_ams": _given(order.use_ams, bool(mapping)),
        "ams_mapping": list(mapping),
        "timelapse": _given(order.timelapse, False),
        "bed_levelling": _given(order.bed_leveling, True),
        "flow_cali": _given(order.flow_cali, False),
        "vibration_cali": _given(order.vibration_cali, False),
        "layer_inspect": _given(order.layer_inspect, False),
    }
    return Order("print", "project_file", arguments)


def start_problem(order: StartPrint) -> str | None:
    """Return why these arguments can't be (751)."""
    if isinstance(order.plate, int) and not 1 <= order.plate <= MAX_PLATE:
        return in_english("Plate must be 1 to %(most)s.", most=MAX_PLATE)
    mapping = [] if isinstance(order.ams_mapping, UnsetType) else order.ams_mapping
    if len(mapping) > MAX_FILAMENTS or any(not -1 <= slot <= MAX_SLOT for slot in mapping):
        return in_english(
            "AmsMapping must be %(most)s numbers at most, each -1 to %(slot)s.",
            most=MAX_FILAMENTS,
            slot=MAX_SLOT,
        )
    return None


def _given(value: bool | UnsetType, default: bool) -> bool:
    return default if isinstance(value, UnsetType) else value


def _decimal(value: float) -> str:
    """Never in scientific notation, which printers don't read."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
