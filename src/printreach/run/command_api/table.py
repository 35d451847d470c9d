"""The commands of the command API, as its reference describes them.

Types, defaults, permissions, bits and states come from the code itself, so they don't stand here.
A test refuses a command that the agent knows and this table doesn't.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from printreach.contract.commands import (
    Adjust,
    Extrude,
    Home,
    MoveAxis,
    Pause,
    SetLight,
    SetTemp,
    StartPrint,
)
from printreach.contract.files import FileDetails, FileDone, FileList
from printreach.contract.status import Feature, StatusResult, WebcamList
from printreach.contract.temperatures import KEPT_S, PresetList, TemperatureHistory
from printreach.rules.printers.commands import Action
from printreach.rules.thumbnails import MAX_EDGE_PX, MIN_SIZE_PX, USUAL_SIZE_PX


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryArgument:
    """kind: as a JSON schema has it. default: None where it is left out, or must be given."""

    kind: str = "string"
    default: int | bool | None = None
    least: int | None = None
    most: int | None = None
    is_required: bool = False
    meaning: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One command.

    arguments: its JSON body. body: what else is sent. query: its arguments in the query. result: of
    its envelope; None where that is an empty object. raw: what is answered in place of an envelope.
    media: the types of that; none where it is no HTTP body.
    also_post: the same question may be asked by POST, with the query's arguments as JSON.
    """

    method: str
    path: str
    meaning: str
    arguments: type[Struct] | None = None
    body: str | None = None
    query: Mapping[str, QueryArgument] = field(default_factory=dict)
    result: type[Struct] | None = None
    raw: str | None = None
    media: tuple[str, ...] = ()
    features: tuple[Feature, ...] = ()
    action: Action | None = None
    also_post: bool = False

    @property
    def is_order(self) -> bool:
        """Whether it changes something, and a repeat may be known by its Idempotency-Key."""
        return self.method == "POST"


_PATH: Final = QueryArgument(
    is_required=True, meaning="a VirtualPath, such as `gcode/vases/tall.gcode`"
)
_INDEX: Final = QueryArgument(
    kind="integer",
    default=0,
    least=0,
    meaning="the camera's place in the webcam list, from 0. Cameras are chosen by nothing else",
)

COMMANDS: Final = (
    Command(
        method="GET",
        path="/status",
        meaning="What the printer is and does now.",
        query={
            "IncludeMaterialSystem": QueryArgument(
                kind="boolean",
                default=False,
                meaning="whether to tell `JobStatus.MaterialSystem`; also as"
                " `includeMaterialSystem` and `include_material_system`",
            )
        },
        result=StatusResult,
        also_post=True,
    ),
    Command(
        method="GET",
        path="/temperatures",
        meaning="The temperatures of up to two hours, also while the printer is offline.",
        query={
            "SinceSec": QueryArgument(
                kind="integer",
                default=KEPT_S,
                least=0,
                meaning="how many seconds old a reading may be",
            )
        },
        result=TemperatureHistory,
    ),
    Command(
        method="GET",
        path="/presets",
        meaning="Temperatures to heat to, as the printer's own software keeps them by name"
        " (OctoPrint, Mainsail, Fluidd). Those that `/set-temp` would refuse are left out.",
        result=PresetList,
    ),
    Command(
        method="POST",
        path="/pause",
        meaning="Pauses the running print. `Result` is empty, or has `Note` (string) where remote"
        " control is locked and a smart pause became a plain one.",
        arguments=Pause,
        action=Action.PAUSE,
    ),
    Command(
        method="POST",
        path="/resume",
        meaning="Resumes the paused print. What a smart pause changed is restored before.",
        action=Action.RESUME,
    ),
    Command(
        method="POST",
        path="/cancel",
        meaning="Ends the print for good.",
        action=Action.CANCEL,
    ),
    Command(
        method="POST",
        path="/start",
        meaning="Prints a file that is on the printer.",
        arguments=StartPrint,
        result=FileDone,
        features=(Feature.PRINT_START,),
        action=Action.START,
    ),
    Command(
        method="POST",
        path="/set-light",
        meaning="Switches a light.",
        arguments=SetLight,
        features=(Feature.LIGHT_CONTROL,),
    ),
    Command(
        method="POST",
        path="/move-axis",
        meaning="Moves an axis from where it is.",
        arguments=MoveAxis,
        features=(Feature.AXIS_MOVEMENT,),
        action=Action.MOVE,
    ),
    Command(
        method="POST",
        path="/home",
        meaning="Homes all axes, or those that are named. One or two of them need `AXIS_HOMING`,"
        " all of them `HOMING`.",
        arguments=Home,
        features=(Feature.HOMING, Feature.AXIS_HOMING),
        action=Action.HOME,
    ),
    Command(
        method="POST",
        path="/extrude",
        meaning="Feeds filament, or draws it back. The hotend has to be hot enough already.",
        arguments=Extrude,
        features=(Feature.EXTRUSION,),
        action=Action.EXTRUDE,
    ),
    Command(
        method="POST",
        path="/set-temp",
        meaning="Sets targets of heaters; 0 switches one off. At least one of `BedC`, `ChamberC`"
        " and `ToolC` must be given. A heater that the printer lacks is answered 788.",
        arguments=SetTemp,
        features=(Feature.TEMPERATURE_CONTROL,),
    ),
    Command(
        method="POST",
        path="/adjust",
        meaning="Changes how a print runs, at once. At least one argument must be given, and each"
        " needs its bit.",
        arguments=Adjust,
        features=(
            Feature.SPEED_CONTROL,
            Feature.FLOW_CONTROL,
            Feature.FAN_CONTROL,
            Feature.Z_OFFSET_CONTROL,
            Feature.SPEED_LEVELS,
        ),
    ),
    Command(
        method="POST",
        path="/emergency-stop",
        meaning="Stops the firmware at once, whatever it does. It takes nothing afterwards.",
        features=(Feature.EMERGENCY_STOP,),
    ),
    Command(
        method="POST",
        path="/restart-firmware",
        meaning="Brings the printer back after an emergency stop or a fault of the firmware, also"
        " where the status is answered 785.",
        features=(Feature.FIRMWARE_RESTART,),
        action=Action.RESTART_FIRMWARE,
    ),
    Command(
        method="GET",
        path="/files/list",
        meaning="All files of one root, with folders in folders.",
        query={
            "root": QueryArgument(
                meaning="`gcode`, `config` or `logs`, where the platform has it; `gcode` unless"
                " given. Another one is answered 751"
            ),
            "path": QueryArgument(
                meaning="its first segment is the root, where `root` isn't given; the rest is"
                " ignored"
            ),
        },
        result=FileList,
    ),
    Command(
        method="GET",
        path="/files/details",
        meaning="File Details: what is known of one file.",
        query={"path": _PATH},
        result=FileDetails,
    ),
    Command(
        method="GET",
        path="/files/thumbnail",
        meaning="The picture that the slicer wrote into a file.",
        query={
            "path": _PATH,
            "size": QueryArgument(
                kind="integer",
                default=USUAL_SIZE_PX,
                least=MIN_SIZE_PX,
                most=MAX_EDGE_PX,
                meaning="the longer edge in pixels: of several pictures the smallest that is large"
                " enough, else the largest",
            ),
        },
        raw="PNG or JPEG, as `Content-Type` says",
        media=("image/png", "image/jpeg"),
    ),
    Command(
        method="GET",
        path="/files/download",
        meaning="A whole file. It takes no `Range`.",
        query={"path": _PATH},
        raw="the file, `application/octet-stream`",
        media=("application/octet-stream",),
    ),
    Command(
        method="PUT",
        path="/files/upload",
        meaning="Stores a file, in place of one of that name. Folders on the way are made where the"
        " platform can. It takes no form, no POST and no `Content-Encoding`.",
        query={"path": _PATH},
        body="the bytes of the file as they are",
        result=FileDone,
    ),
    Command(
        method="POST",
        path="/files/delete",
        meaning="Deletes a file, or a folder that is empty.",
        query={"path": _PATH},
        result=FileDone,
    ),
    Command(
        method="GET",
        path="/webcam/list",
        meaning="The printer's cameras, the default one first and switched-off ones last.",
        result=WebcamList,
    ),
    Command(
        method="GET",
        path="/webcam/snapshot",
        meaning="One picture of a camera.",
        query={"index": _INDEX},
        raw="JPEG, `image/jpeg`",
        media=("image/jpeg",),
    ),
    Command(
        method="GET",
        path="/webcam/stream",
        meaning="Pictures as they come, until the caller leaves or the limit of the owner's account"
        " ends it. A slow reader misses some.",
        query={"index": _INDEX},
        raw="MJPEG, `multipart/x-mixed-replace`",
        media=("multipart/x-mixed-replace",),
    ),
    Command(
        method="GET",
        path="/logs/agent",
        meaning="The latest lines of the agent's log.",
        raw="text",
        media=("text/plain",),
    ),
    Command(
        method="GET",
        path="/proxy/mqtt",
        meaning="A WebSocket on which the printer's own broker speaks MQTT 3.1.1.",
        raw="101, then MQTT",
    ),
)
