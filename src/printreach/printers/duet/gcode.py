"""Orders to a Duet as G-code. Pure. Source: the dictionary of G-codes of RepRapFirmware 3.6."""

from collections.abc import Sequence

from printreach.contract.commands import Adjust, Axis
from printreach.contract.unset import UnsetType

MOVE_MM_PER_MIN = {"X": 3000, "Y": 3000, "Z": 300}  # Z slow enough for threaded rods
EXTRUDE_MM_PER_MIN = 300
RETRACT_MM_PER_MIN = 1200
PAUSE = ["M25"]
RESUME = ["M24"]
CANCEL = ["M0"]
EMERGENCY_STOP = ["M112"]
RESTART = ["M999"]


def quoted(text: str) -> str:
    """Quote a text as a parameter.

    A single quote is doubled, or it would change the next letter.
    """
    doubled = text.replace('"', '""').replace("'", "''")
    return f'"{doubled}"'


def start(path: str) -> list[str]:
    return [f"M32 {quoted(path)}"]


def relatively(*moves: str) -> list[str]:
    """Moves by distances, with the modes of this channel as they were afterwards."""
    return ["M120", "G91", "M83", *moves, "M121"]


def move(axis: str, distance_mm: float) -> list[str]:
    return relatively(f"G1 {axis}{_number(distance_mm)} F{MOVE_MM_PER_MIN[axis]}")


def home(axes: Sequence[Axis]) -> list[str]:
    """Home all axes as the board's owner has it, or each by itself."""
    named = "" if len(axes) == len(Axis) else "".join(f" {axis.value}" for axis in axes)
    return [f"G28{named}"]


def adjust(order: Adjust, extruders: Sequence[int]) -> list[str]:
    """extruders: the numbers of all drives, which have a flow each."""
    lines = []
    if not isinstance(order.speed_percent, UnsetType):
        lines.append(f"M220 S{order.speed_percent}")
    if not isinstance(order.flow_percent, UnsetType):
        lines += [f"M221 D{number} S{order.flow_percent}" for number in extruders]
    if not isinstance(order.fan_percent, UnsetType):
        lines.append(f"M106 S{_number(order.fan_percent / 100)}")
    if not isinstance(order.z_offset_by_mm, UnsetType):
        lines.append(f"M290 R1 S{_number(order.z_offset_by_mm)}")
    return lines


def extrude(distance_mm: float) -> list[str]:
    return relatively(f"G1 E{_number(distance_mm)} F{EXTRUDE_MM_PER_MIN}")


def select_tool(number: int) -> list[str]:
    return [f"T{number}"]


def heat_tool(number: int, target_c: float) -> str:
    """Set a tool's active temperature and switch it on, or off for 0."""
    return f"M568 P{number} S{_number(target_c)} A{2 if target_c else 0}"


def switch_tool(number: int, state: str) -> str:
    """active, standby or off: its temperatures stay as they were set."""
    return f"M568 P{number} A{ {'active': 2, 'standby': 1}.get(state, 0) }"


def heat_bed(target_c: float) -> str:
    return f"M140 S{_number(target_c)}"


def heat_chamber(target_c: float) -> str:
    return f"M141 S{_number(target_c)}"


def refusal_in(reply: str) -> str | None:
    """Return the refusal in a reply; None where the order was carried out."""
    for line in reply.splitlines():
        kind, colon, words = line.strip().partition(":")
        if colon and kind.lower() == "error" and words.strip():
            return words.strip()
    return None


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
