"""The command API: its path, its header fields, its envelope, status codes and arguments.

Header fields stand here as they are written; look them up in lower case.
"""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import UNSET, Struct, UnsetType, field

COMMAND_PREFIX: Final = b"/service-command-api"
"""The path in front of every command, on each host that leads to a printer."""
OPEN_PATH: Final = COMMAND_PREFIX + b"/open"
"""Signs a browser in to the host of a connection. The relay answers it; agents never see it."""

COMMAND_ID_FIELD: Final = b"X-Service-Command-Id"
"""The same for one command however often it is sent. The relay adds it."""
COMMAND_EXPIRES_FIELD: Final = b"X-Service-Command-Expires"
"""Milliseconds since 1970: a command that comes later is not carried out. The relay adds it."""
PERMISSIONS_FIELD: Final = b"X-Service-Permissions"
"""The operations allowed on a stream, where that isn't all of them. The relay adds it."""
CAMERAS_FIELD: Final = b"X-Service-Cameras"
"""The owner's choices for cameras, where a command lists them. The relay adds it."""
ERROR_FIELD: Final = b"X-Service-Error"
"""The code of a failure that the service answers itself, so it isn't taken for the printer's."""


class CommandStatus(IntEnum):
    """`Status` of the envelope. Command-specific ones may be 400 to 599."""

    OK = 200
    NOT_FOUND = 404
    TIMED_OUT = 504
    UNKNOWN_FAILURE = 750
    BAD_ARGUMENTS = 751
    EXECUTION_FAILED = 752
    NOT_SERIALIZED = 753
    UNKNOWN_COMMAND = 754
    NOT_CONNECTED = 785
    INVALID_STATE = 786
    TOO_MANY_CLIENTS = 787
    NOT_SUPPORTED = 788
    NOT_AUTHORIZED = 789


MEANINGS: Final[Mapping[CommandStatus, str]] = MappingProxyType(
    {
        CommandStatus.NOT_FOUND: "The file or the camera doesn't exist.",
        CommandStatus.TIMED_OUT: "The printer gave no answer in time, or the command came too late"
        " and was not carried out.",
        CommandStatus.UNKNOWN_FAILURE: "The agent failed in a way it does not know.",
        CommandStatus.BAD_ARGUMENTS: "An argument is missing, of a wrong type or out of range; the"
        " text names it.",
        CommandStatus.EXECUTION_FAILED: "The printer was asked and said no; the text is its own"
        " where it gave one.",
        CommandStatus.NOT_SERIALIZED: "The command was carried out, but what the printer answered"
        " can't be written as JSON.",
        CommandStatus.UNKNOWN_COMMAND: "There is no such command, or not with this method.",
        CommandStatus.NOT_CONNECTED: "The printer can't be reached.",
        CommandStatus.INVALID_STATE: "The command has no place in the printer's present state.",
        CommandStatus.TOO_MANY_CLIENTS: "The printer serves as many clients as it can.",
        CommandStatus.NOT_SUPPORTED: "This printer can't do that.",
        CommandStatus.NOT_AUTHORIZED: "The printer refuses the agent's credentials.",
    }
)
"""The meaning of each failure in the documents; `Error` itself is more exact."""


class Axis(StrEnum):
    X = "X"
    Y = "Y"
    Z = "Z"


class SpeedLevel(StrEnum):
    """How fast a printer prints that knows levels and no percentage, the slowest first."""

    SILENT = "silent"
    STANDARD = "standard"
    SPORT = "sport"
    LUDICROUS = "ludicrous"


class Pause(Struct, frozen=True, kw_only=True, rename="pascal"):
    """suppress_notification: left out, it has the value of smart_pause."""

    smart_pause: bool = False
    disable_hotend: bool = True
    disable_bed: bool = False
    z_lift_mm: int = 0
    retract_filament_mm: int = 0
    suppress_notification: bool | UnsetType = UNSET
    show_smart_pause_popup: bool = True

    @property
    def is_silent(self) -> bool:
        """Whether no notification is sent for this pause."""
        if self.suppress_notification is UNSET:
            return self.smart_pause
        return bool(self.suppress_notification)


class SetLight(Struct, frozen=True, kw_only=True, rename="pascal"):
    name: str
    on: bool


class MoveAxis(Struct, frozen=True, kw_only=True, rename="pascal"):
    axis: Axis
    distance_mm: float


class Extrude(Struct, frozen=True, kw_only=True, rename="pascal"):
    """distance_mm: positive extrudes, negative retracts."""

    extruder: int
    distance_mm: float


class SetTemp(Struct, frozen=True, kw_only=True, rename="pascal"):
    """Degrees Celsius; what is left out stays as it is."""

    bed_c: float | UnsetType = UNSET
    chamber_c: float | UnsetType = UNSET
    tool_c: float | UnsetType = UNSET
    tool_number: int | UnsetType = UNSET


class Home(Struct, frozen=True, kw_only=True, rename="pascal"):
    """axes: left out, all of them."""

    axes: list[Axis] | UnsetType = UNSET

    @property
    def homed(self) -> list[Axis]:
        """Each axis once, in the order X, Y, Z."""
        wanted = list(Axis) if isinstance(self.axes, UnsetType) else self.axes
        return [axis for axis in Axis if axis in wanted]


class Adjust(Struct, frozen=True, kw_only=True, rename="pascal"):
    """Changes to how a print runs; what is left out stays as it is.

    speed_percent, flow_percent: of what the file says. fan_percent: of the part cooling fan's full
    speed. z_offset_by_mm: added to the offset that is in force; positive lifts the nozzle.
    """

    speed_percent: int | UnsetType = UNSET
    flow_percent: int | UnsetType = UNSET
    fan_percent: int | UnsetType = UNSET
    z_offset_by_mm: float | UnsetType = UNSET
    speed_level: SpeedLevel | UnsetType = UNSET


class StartPrint(Struct, frozen=True, kw_only=True, rename="pascal"):
    """path: a VirtualPath under `gcode`. All but path and storage are for Bambu project files."""

    path: str
    storage: str | UnsetType = UNSET
    plate: int | UnsetType = UNSET
    use_ams: bool | UnsetType = UNSET
    ams_mapping: list[int] | UnsetType = UNSET
    flow_cali: bool | UnsetType = UNSET
    timelapse: bool | UnsetType = UNSET
    bed_leveling: bool | UnsetType = UNSET
    vibration_cali: bool | UnsetType = UNSET
    layer_inspect: bool | UnsetType = UNSET


class StatusQuery(Struct, frozen=True, kw_only=True, rename="pascal"):
    """One argument, under any of the three names that callers use; the first given one counts."""

    include_material_system: bool | UnsetType = UNSET
    in_camel_case: bool | UnsetType = field(name="includeMaterialSystem", default=UNSET)
    in_snake_case: bool | UnsetType = field(name="include_material_system", default=UNSET)

    @property
    def wants_material_system(self) -> bool:
        choices = (self.include_material_system, self.in_camel_case, self.in_snake_case)
        return bool(next((choice for choice in choices if choice is not UNSET), False))
