"""The operations of a printer, and which a platform lacks: data for docs/platforms.md.

A kind of printer says so in its folder's `__init__.py`, as `PLATFORMS`; most kinds are one
platform. The contract suite holds what is written there to what the adapter does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Operation(StrEnum):
    """Rows of the table, by the words that people read there."""

    STATUS = "Status"
    MATERIAL_SYSTEM = "Material system"
    PAUSE = "Pause"
    PAUSE_HEATERS = "Smart pause: turn heaters off"
    PAUSE_LIFT = "Smart pause: lift the nozzle"
    PAUSE_RETRACT = "Smart pause: retract filament"
    RESUME = "Resume"
    CANCEL = "Cancel"
    START = "Start a print"
    SET_LIGHT = "Set a light"
    MOVE_AXIS = "Move an axis"
    HOME = "Home"
    HOME_AXIS = "Home a single axis"
    EXTRUDE = "Extrude"
    HEAT_TOOL = "Set the hotend's temperature"
    HEAT_BED = "Set the bed's temperature"
    HEAT_CHAMBER = "Set the chamber's temperature"
    PRESETS = "Presets of its own"
    SET_SPEED = "Set the speed"
    SET_SPEED_LEVEL = "Choose a speed level"
    SET_FLOW = "Set the flow"
    SET_FAN = "Set the fan"
    SET_Z_OFFSET = "Change the Z offset"
    EMERGENCY_STOP = "Emergency stop"
    RESTART_FIRMWARE = "Restart the firmware"
    LIST_FILES = "List files"
    FILE_DETAILS = "Details of a file"
    THUMBNAIL = "Thumbnail of a file"
    UPLOAD = "Upload"
    UPLOAD_INTO_FOLDER = "Upload into a folder"
    DOWNLOAD = "Download"
    DELETE = "Delete a file"
    CONFIG_FILES = "Configuration files"
    LOG_FILES = "The platform's logs"
    WEBCAM_LIST = "Webcam list"
    WEBCAM_SNAPSHOT = "Webcam snapshot"
    WEBCAM_STREAM = "Webcam stream"
    AGENT_LOG = "The agent's log"
    MQTT_PROXY = "MQTT proxy"
    HOST_API_KEY = "API key for an app"


SMART_PAUSE: Final = frozenset(
    {Operation.PAUSE_HEATERS, Operation.PAUSE_LIFT, Operation.PAUSE_RETRACT}
)
"""Nothing of it is ever refused: a print is paused even where the rest can't be done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Platform:
    """One column of the table. All printers can do the operations in neither mapping.

    title: as its makers write it. cannot: why no printer of the platform can, a sentence.
    only_where: what it takes, the end of "where …"; which printer can is told by `Features`, or by
    a refusal with 788.
    """

    title: str
    cannot: Mapping[Operation, str] = field(default_factory=dict)
    only_where: Mapping[Operation, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert not self.cannot.keys() & self.only_where.keys()
