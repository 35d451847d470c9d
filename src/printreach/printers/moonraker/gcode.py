"""Orders as G-code for Klipper. Pure.

Movements are made in a saved state, so that the modes and the speed of the print stay.
A script that Klipper refuses in the middle ends there; `RESTORE` is sent then.
"""

from collections.abc import Mapping, Sequence

from printreach.contract.commands import Adjust, Axis
from printreach.contract.unset import UnsetType

XY_MM_MIN = 6000
Z_MM_MIN = 600
EXTRUDE_MM_MIN = 300
RETRACT_MM_MIN = 2100

_STATE = "printreach"
SAVE = f"SAVE_GCODE_STATE NAME={_STATE}"
RESTORE = f"RESTORE_GCODE_STATE NAME={_STATE}"


def move(axis: Axis, distance_mm: float) -> str:
    feed = Z_MM_MIN if axis is Axis.Z else XY_MM_MIN
    return _saved("G91", f"G1 {axis.value}{_number(distance_mm)} F{feed}")


def home(axes: Sequence[Axis]) -> str:
    """Home all axes by a plain G28, which many printers have a macro for, or some of them."""
    named = "" if len(axes) == len(Axis) else "".join(f" {axis.value}" for axis in axes)
    return f"G28{named}"


def adjust(order: Adjust, *, is_homed: bool) -> str:
    """is_homed: the nozzle follows a change of the Z offset at once; else its next move does."""
    lines = []
    if not isinstance(order.speed_percent, UnsetType):
        lines.append(f"M220 S{order.speed_percent}")
    if not isinstance(order.flow_percent, UnsetType):
        lines.append(f"M221 S{order.flow_percent}")
    if not isinstance(order.fan_percent, UnsetType):
        lines.append(f"M106 S{_number(order.fan_percent * 2.55)}")
    if not isinstance(order.z_offset_by_mm, UnsetType):
        step = _number(order.z_offset_by_mm)
        lines.append(f"SET_GCODE_OFFSET Z_ADJUST={step} MOVE={int(is_homed)}")
    return "\n".join(lines)


def extrude(distance_mm: float, extruder: str, active: str) -> str:
    """extruder: the object; active: the one in use, which it is again afterwards.

    One move, however long: the printer's owner says in max_extrude_only_distance what is too long,
    and Klipper refuses it.
    """
    push = f"G1 E{_number(distance_mm)} F{EXTRUDE_MM_MIN}"
    if extruder == active:
        return _saved("M83", push)
    return _saved("M83", _activate(extruder), push, _activate(active))


def restored(active: str) -> str:
    """Restore the state after an extrusion that was refused. active: the extruder in use before."""
    return f"{RESTORE}\n{_activate(active)}"


def set_targets(targets: Mapping[str, float]) -> str:
    """targets: degrees Celsius by the names of heaters."""
    return "\n".join(
        f"SET_HEATER_TEMPERATURE HEATER={heater} TARGET={_number(target)}"
        for heater, target in targets.items()
    )


def set_pin(name: str, value: float) -> str:
    return f"SET_PIN PIN={name} VALUE={_number(value)}"


def set_led(name: str, *, on: bool) -> str:
    value = int(on)
    return f"SET_LED LED={name} RED={value} GREEN={value} BLUE={value} WHITE={value}"


def relatively(*moves: str) -> str:
    return _saved("G91", "M83", *moves)


def _activate(extruder: str) -> str:
    return f"ACTIVATE_EXTRUDER EXTRUDER={extruder}"


def _saved(*lines: str) -> str:
    return "\n".join((SAVE, *lines, RESTORE))


def _number(value: float) -> str:
    """Format a number to a thousandth, as short as possible."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
