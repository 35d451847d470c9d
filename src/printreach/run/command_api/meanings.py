"""The range and the meaning of each argument, field, state and bit of the command API."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from printreach.contract.app_answers import LiveCreated, LiveRequest
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
from printreach.contract.files import FileDetails, FileDone, FileEntry, FileList
from printreach.contract.materials import (
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
    Tool,
    Unit,
)
from printreach.contract.status import (
    Adjustments,
    CurrentPrint,
    DetectorStatus,
    Feature,
    JobStatus,
    Light,
    ReportedWebcam,
    ServiceStatus,
    State,
    StatusResult,
    Temps,
    WebcamEntry,
    WebcamList,
)
from printreach.contract.temperatures import Preset, PresetList, TemperatureHistory
from printreach.rules.printers.commands import (
    MAX_BED_C,
    MAX_CHAMBER_C,
    MAX_DISTANCE_MM,
    MAX_FAN_PERCENT,
    MAX_FLOW_PERCENT,
    MAX_PAUSE_MM,
    MAX_SPEED_PERCENT,
    MAX_TOOL_C,
    MAX_TOOL_NUMBER,
    MAX_Z_OFFSET_STEP_MM,
    MIN_FLOW_PERCENT,
    MIN_SPEED_PERCENT,
)

RANGES: Final[Mapping[type[Struct], Mapping[str, tuple[float, float]]]] = MappingProxyType(
    {
        Pause: {"ZLiftMm": (0, MAX_PAUSE_MM), "RetractFilamentMm": (0, MAX_PAUSE_MM)},
        MoveAxis: {"DistanceMm": (-MAX_DISTANCE_MM, MAX_DISTANCE_MM)},
        Extrude: {
            "Extruder": (0, MAX_TOOL_NUMBER),
            "DistanceMm": (-MAX_DISTANCE_MM, MAX_DISTANCE_MM),
        },
        SetTemp: {
            "BedC": (0, MAX_BED_C),
            "ChamberC": (0, MAX_CHAMBER_C),
            "ToolC": (0, MAX_TOOL_C),
            "ToolNumber": (0, MAX_TOOL_NUMBER),
        },
        Adjust: {
            "SpeedPercent": (MIN_SPEED_PERCENT, MAX_SPEED_PERCENT),
            "FlowPercent": (MIN_FLOW_PERCENT, MAX_FLOW_PERCENT),
            "FanPercent": (0, MAX_FAN_PERCENT),
            "ZOffsetByMm": (-MAX_Z_OFFSET_STEP_MM, MAX_Z_OFFSET_STEP_MM),
        },
    }
)
"""The least and the greatest value of arguments. The owner of an agent may have set less."""

STATE_MEANINGS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.IDLE: "nothing is printing, and no earlier print is shown",
        State.WARMING_UP: "a print has begun and heats, homes or levels; nothing is printed yet",
        State.PRINTING: "the printer is printing",
        State.PAUSED: "the print is paused",
        State.RESUMING: "the print is about to continue; some platforms never report this",
        State.COMPLETE: "the latest print was completed",
        State.CANCELLED: "the latest print was cancelled",
        State.ERROR: "the latest print failed, or the printer reports a fault",
    }
)

FEATURE_MEANINGS: Final[Mapping[Feature, str]] = MappingProxyType(
    {
        Feature.LIGHT_CONTROL: "lights can be switched",
        Feature.AXIS_MOVEMENT: "axes can be moved",
        Feature.HOMING: "all axes can be homed together",
        Feature.EXTRUSION: "filament can be fed",
        Feature.TEMPERATURE_CONTROL: "temperatures can be set",
        Feature.PRINT_START: "files can be printed",
        Feature.EMERGENCY_STOP: "the firmware can be stopped at once",
        Feature.FIRMWARE_RESTART: "the firmware can be restarted",
        Feature.SPEED_CONTROL: "`SpeedPercent` can be adjusted",
        Feature.FLOW_CONTROL: "`FlowPercent` can be adjusted",
        Feature.FAN_CONTROL: "`FanPercent` can be adjusted",
        Feature.Z_OFFSET_CONTROL: "the Z offset can be changed",
        Feature.AXIS_HOMING: "axes can be homed one by one",
        Feature.SPEED_LEVELS: "`SpeedLevel` can be adjusted",
    }
)

_BAMBU: Final = "of a Bambu project file; other platforms ignore it"

FIELDS: Final[Mapping[type[Struct], Mapping[str, str]]] = MappingProxyType(
    {
        Pause: {
            "SmartPause": "whether the heaters, lift and filament below apply",
            "DisableHotend": "switch the hotend off; a resume heats it again",
            "DisableBed": "switch the bed off; a resume heats it again",
            "ZLiftMm": "lift the nozzle",
            "RetractFilamentMm": "retract filament",
            "SuppressNotification": "send no event for this pause; by default as `SmartPause`",
            "ShowSmartPausePopup": "say on the printer's page that this was a smart pause",
        },
        StartPrint: {
            "Path": "a VirtualPath under `gcode`",
            "Storage": "the platform's own name of a storage; an unknown one is refused",
            "Plate": _BAMBU,
            "UseAms": _BAMBU,
            "AmsMapping": f"`PrintMappingValue` for each filament {_BAMBU}",
            "FlowCali": _BAMBU,
            "Timelapse": _BAMBU,
            "BedLeveling": _BAMBU,
            "VibrationCali": _BAMBU,
            "LayerInspect": _BAMBU,
        },
        SetLight: {"Name": "one of `JobStatus.Lights`", "On": "false switches it off"},
        MoveAxis: {"Axis": "", "DistanceMm": "relative to the current position"},
        Home: {"Axes": "all by default"},
        Extrude: {
            "Extruder": "counted from 0",
            "DistanceMm": "positive extrudes, negative retracts",
        },
        SetTemp: {
            "BedC": "the target of the bed",
            "ChamberC": "the target of the chamber",
            "ToolC": "the target of the hotend",
            "ToolNumber": "which hotend, counted from 0; left out, the first or the one in use, as"
            " the platform has it",
        },
        Adjust: {
            "SpeedPercent": "the speed of all moves, relative to the file",
            "FlowPercent": "the filament flow, relative to the file",
            "FanPercent": "the part cooling fan, relative to its full speed",
            "ZOffsetByMm": "added to the current Z offset; positive lifts the nozzle",
            "SpeedLevel": "for printers that have levels instead of a percentage",
        },
        StatusResult: {
            "JobStatus": "the printer and its print",
            "ServiceStatus": "what the agent and the service know about the print",
            "PlatformVersion": "of the printer's own software",
            "Features": "[bits](#features) for what this caller may do with this printer",
            "ListWebcams": "the same as `/webcam/list`",
        },
        JobStatus: {
            "State": "one of the [states](#states)",
            "SubState": "more about the state, for people",
            "Error": "what is wrong, for people",
            "Lights": "null if the platform has none",
            "CurrentPrint": "the current print, or the latest one",
            "MaterialSystem": "present if it was asked for; null if the platform reports nothing",
            "Adjustments": "left out if the platform reports none",
        },
        CurrentPrint: {
            "Progress": "0 to 100",
            "DurationSec": "since it began",
            "TimeLeftSec": "",
            "FileName": '"" where there was no print',
            "EstTotalFilUsedMm": "length of filament for the whole print; 0 if unknown",
            "EstTotalFilWeightMg": "its weight",
            "CurrentLayer": "as the platform counts",
            "TotalLayers": "",
            "Temps": "",
        },
        Temps: {
            "BedActual": "°C",
            "BedTarget": "°C; 0 is off",
            "HotendActual": "°C",
            "HotendTarget": "°C; 0 is off",
            "ChamberActual": "°C",
            "ChamberTarget": "°C",
        },
        Adjustments: {
            "SpeedPercent": "relative to the file",
            "FlowPercent": "relative to the file",
            "FanPercent": "relative to its full speed",
            "ZOffsetMm": "the whole current offset",
            "SpeedLevel": "where the printer has levels",
        },
        Light: {"Name": "its name in `/set-light`", "On": ""},
        ServiceStatus: {
            "MostRecentPrintIdStr": 'the id of the latest print; "" where there was none',
            "PrintStartTimeSec": "when it began, as Unix time; 0 if unknown",
            "Detector": "what failure detection says of the print",
            "ShowSmartPausePopup": "true during a smart pause whose caller asked for it",
        },
        DetectorStatus: {
            "LastScore": "0 to 100; 0 is best",
            "ScoreHistory": "the oldest first",
            "TimeSinceLastScoreSec": "",
            "IntervalSec": "between two looks",
            "IsSuppressed": "it doesn't look at this print",
            "TimeSinceLastWarnSec": "null if it has not warned",
            "TimeSinceLastPauseSec": "null if it has not paused the print",
            "CannotSee": "why the latest image gave no score: `dark`, `blocked` or `frozen`",
        },
        WebcamList: {
            "DefaultIndex": "always 0",
            "Webcams": "a camera's place here is its `index`",
        },
        WebcamEntry: {
            "Name": "as its owner chose, otherwise from the platform; likewise the next three",
            "FlipH": "mirror the picture left to right",
            "FlipV": "mirror the picture top to bottom",
            "Rotation": "then turn it clockwise, by 0, 90, 180 or 270 degrees; not applied",
            "Enabled": "false: switched off at the printer, and gives no pictures (404)",
            "SnapshotUrl": "an address within the printer's own network, for programs there;"
            " not for apps elsewhere",
            "StreamUrl": "likewise",
            "Reported": "what the platform itself reports, if the printer's owner chose otherwise",
        },
        ReportedWebcam: {
            "Name": "",
            "FlipH": "as of a webcam",
            "FlipV": "as of a webcam",
            "Rotation": "as of a webcam",
        },
        FileList: {"Root": "what is at the top of the root"},
        FileEntry: {
            "Type": "",
            "Name": "",
            "VirtualPath": "what other commands take as `path`",
            "Path": "the same as `VirtualPath`",
            "PlatformPath": "the printer's own name of it",
            "SizeBytes": "0 if unknown",
            "ModifiedTimeSec": "Unix time; 0 if unknown",
            "Permissions": '`r`, `rw` or "", as the platform tells it',
            "Metadata": "what else the platform tells, in its own words",
            "EstPrintTimeSec": "of the slicer",
            "EstFilamentUsedMm": "of the slicer",
            "EstFilamentWeightMg": "of the slicer",
            "LayerCount": "",
            "ThumbnailCount": "pictures in the file; left out, ask `/files/thumbnail`",
            "Children": "of a folder",
        },
        FileDetails: {
            "VirtualPath": "",
            "PlatformPath": "the printer's own name of it",
            "FileName": "",
            "SizeBytes": "",
            "ModifiedTimeSec": "Unix time",
            "EstPrintTimeSec": "of the slicer",
            "EstFilamentUsedMm": "of the slicer",
            "EstFilamentWeightMg": "of the slicer",
            "LayerCount": "",
            "LayerHeightMm": "",
            "FirstLayerHeightMm": "",
            "ObjectHeightMm": "",
            "NozzleDiameterMm": "the one it was sliced for",
            "FilamentType": "such as `PLA`",
            "FilamentName": "",
            "BedTempC": "of the first layer, where the file tells several",
            "HotendTempC": "of the first layer, where the file tells several",
            "ChamberTempC": "",
            "Slicer": "",
            "SlicerVersion": "",
            "ThumbnailCount": "pictures in the file; left out, ask `/files/thumbnail`",
            "PlatformDetails": "what else the platform tells, in its own words",
        },
        FileDone: {
            "VirtualPath": "",
            "PlatformPath": "the printer's own name of it",
            "SizeBytes": "of an upload",
            "PrinterResponse": "what the platform answered, in its own words",
        },
        TemperatureHistory: {
            "AgeSec": "the seconds since each reading, the oldest first",
            "BedActual": "°C",
            "BedTarget": "°C",
            "HotendActual": "°C",
            "HotendTarget": "°C",
            "ChamberActual": "°C; null where unknown",
            "ChamberTarget": "°C; null where unknown",
        },
        PresetList: {"Presets": "in their order"},
        Preset: {
            "Name": "as the printer's software has it",
            "ToolC": "of the hotend; left out, it stays as it is, and so with the others",
            "BedC": "0 switches it off",
            "ChamberC": "",
        },
        MaterialSystem: {
            "Capabilities": "",
            "Sources": "where filament comes from",
            "Tools": "what extrudes it",
            "Units": "what holds several sources",
            "Routes": "which source feeds which tool; nothing else tells it",
            "PlatformDetails": "in the platform's own words",
        },
        LiveRequest: {
            "AppToken": "in place of the header",
            "ExpirationHours": "how long the page works",
            "EndWhenCurrentPrintIsComplete": "the page ends with the print, if that is sooner;"
            " without a print under way it is answered 613",
        },
        LiveCreated: {
            "LiveId": "",
            "Url": "the page",
            "ShortUrl": "the same page by a shorter address",
        },
        Capabilities: {
            "SupportsMultiMaterial": "it can select among sources",
            "SupportsMultiTool": "it can select among tools",
            "SupportsSourceRouting": "`Routes` tell what is joined in fact",
            "SupportsDrying": "a unit can dry filament",
        },
        Source: {
            "Id": "of this answer alone",
            "Index": "its place in `Sources`, for nothing else",
            "Name": "for people",
            "UnitId": "left out of one that stands alone",
            "Position": "the slot as the platform counts",
            "PrintMappingValue": "what `AmsMapping` takes",
            "IsEmpty": "",
            "Material": "",
            "PlatformDetails": "in the platform's own words",
        },
        Material: {
            "Type": "such as `PETG`",
            "Name": "for people",
            "ColorHex": "RRGGBB",
            "RemainingPercent": "0 to 100",
            "Manufacturer": "",
        },
        Tool: {
            "Id": "of this answer alone",
            "Index": "counted from 0",
            "Name": "for people",
            "IsActive": "it is the one in use",
            "IsPresent": "",
            "ActualCelsius": "",
            "TargetCelsius": "0 is off",
            "NozzleDiameterMm": "",
            "PlatformDetails": "in the platform's own words",
        },
        Unit: {
            "Id": "of this answer alone",
            "Index": "its place in `Units`",
            "Name": "for people",
            "HumidityPercent": "measured, 0 to 100",
            "TemperatureCelsius": "",
            "IsDrying": "",
            "PlatformDetails": "in the platform's own words",
        },
        Route: {
            "SourceId": "an `Id` of `Sources`",
            "ToolId": "an `Id` of `Tools`",
            "State": "such as `loaded`",
        },
    }
)
"""The meaning of each argument and field; "" where the name says it all."""
