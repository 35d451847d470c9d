"""The simulated printer's status in the words of the contract. Pure."""

from typing import Any

from printreach.contract.files import EntryType, FileDetails, FileEntry
from printreach.contract.materials import MaterialSystem, Source, Tool
from printreach.contract.status import (
    Adjustments,
    CurrentPrint,
    Feature,
    JobStatus,
    Light,
    State,
    Temps,
)
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.port import View
from printreach.rules.prints import Need, need_of_words
from printreach.rules.prints.materials import spool_at_each_tool

LIGHT = "light"
FEATURES = (
    Feature.LIGHT_CONTROL
    | Feature.AXIS_MOVEMENT
    | Feature.HOMING
    | Feature.EXTRUSION
    | Feature.TEMPERATURE_CONTROL
    | Feature.PRINT_START
    | Feature.AXIS_HOMING
    | Feature.SPEED_CONTROL
    | Feature.FLOW_CONTROL
    | Feature.FAN_CONTROL
    | Feature.Z_OFFSET_CONTROL
    | Feature.EMERGENCY_STOP
    | Feature.FIRMWARE_RESTART
)

_STATES = {state.value: state for state in State}

_IN_DETAILS = set(FileEntry.__struct_fields__) & set(FileDetails.__struct_fields__)
_BY_SLICER = {
    "est_print_time_sec": "EstPrintTimeSec",
    "est_filament_used_mm": "EstFilamentUsedMm",
    "est_filament_weight_mg": "EstFilamentWeightMg",
    "layer_count": "LayerCount",
}


def view_of(status: object, version: str) -> View:
    """status: what GET /api/status and /events give."""
    return View(
        trouble=None,
        job=_job(status),
        features=FEATURES,
        platform_version=version,
        materials=_materials(loose.obj(status, "Temps")),
        need=_need(status),
    )


def entries_of(source: object, key: str) -> list[FileEntry]:
    """Return what GET /api/files lists, without what can't be read."""
    return [
        FileEntry(
            type=EntryType.FOLDER if loose.text(file, "Type") == "folder" else EntryType.FILE,
            name=name,
            virtual_path=path,
            path=path,
            platform_path=loose.text(file, "PlatformPath") or "",
            size_bytes=loose.count(file, "SizeBytes") or 0,
            modified_time_sec=loose.number(file, "ModifiedTimeSec") or 0.0,
            permissions="rw",
            children=entries_of(file, "Children") if "Children" in file else UNSET,
            **_written_by_slicer(file),
        )
        for file in loose.items(source, key)
        if (name := loose.text(file, "Name")) and (path := loose.text(file, "VirtualPath"))
    ]


def _written_by_slicer(file: object) -> dict[str, Any]:
    return {name: loose.known(loose.count(file, key)) for name, key in _BY_SLICER.items()}


def details_of(entry: FileEntry) -> FileDetails:
    same = {name: getattr(entry, name) for name in _IN_DETAILS}
    return FileDetails(file_name=entry.name, **same)


def _job(status: object) -> JobStatus:
    temps = loose.obj(status, "Temps")
    chamber = loose.number(temps, "ChamberActual")
    return JobStatus(
        state=_STATES.get(loose.text(status, "State") or "", State.IDLE),
        sub_state=loose.text(status, "SubState"),
        error=loose.text(status, "Error"),
        lights=[Light(name=LIGHT, on=loose.flag(status, "LightOn") or False)],
        current_print=CurrentPrint(
            progress=loose.percent(loose.number(status, "Progress")),
            duration_sec=loose.count(status, "DurationSec") or 0,
            time_left_sec=loose.count(status, "TimeLeftSec"),
            file_name=loose.text(status, "FileName") or "",
            est_total_fil_used_mm=loose.count(status, "FilamentTotalMm") or 0,
            current_layer=loose.count(status, "CurrentLayer"),
            total_layers=loose.count(status, "TotalLayers"),
            temps=Temps(
                bed_actual=loose.number(temps, "BedActual") or 0.0,
                bed_target=loose.number(temps, "BedTarget") or 0.0,
                hotend_actual=loose.number(temps, "HotendActual") or 0.0,
                hotend_target=loose.number(temps, "HotendTarget") or 0.0,
                chamber_actual=loose.known(chamber),
                chamber_target=loose.number(temps, "ChamberTarget") or 0.0,
            ),
        ),
        adjustments=Adjustments(
            speed_percent=loose.known(loose.count(status, "SpeedPercent")),
            flow_percent=loose.known(loose.count(status, "FlowPercent")),
            fan_percent=loose.known(loose.count(status, "FanPercent")),
            z_offset_mm=loose.known(loose.number(status, "ZOffsetMm")),
        ),
    )


def _need(status: object) -> Need | None:
    """Return why a print has paused by itself; None where a person paused it."""
    words = loose.text(status, "SubState")
    is_paused = loose.text(status, "State") == State.PAUSED.value
    return need_of_words(words) if is_paused and words else None


def _materials(temps: loose.Json) -> MaterialSystem:
    """Return one tool and one source, which is all there is."""
    actual, target = loose.number(temps, "HotendActual"), loose.number(temps, "HotendTarget")
    tool = Tool(
        id="tool0",
        index=0,
        name="Hotend",
        is_active=True,
        is_present=True,
        actual_celsius=loose.known(actual),
        target_celsius=loose.known(target),
    )
    return spool_at_each_tool([Source(id="spool", index=0, name="Spool")], [tool])
