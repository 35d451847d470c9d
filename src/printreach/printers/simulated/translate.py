"""The simulated printer's status in the words of the contract. Pure."""

from collections.abc import Sequence

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


def entry_of(file: object, root: str) -> FileEntry | None:
    """Return one entry of GET /api/files; None for what can't be read."""
    name, path = loose.text(file, "Name"), loose.text(file, "Path")
    if name is None or path is None:
        return None
    is_folder = loose.text(file, "Type") == "folder"
    virtual_path = f"{root}/{path}"
    return FileEntry(
        type=EntryType.FOLDER if is_folder else EntryType.FILE,
        name=name,
        virtual_path=virtual_path,
        path=virtual_path,
        platform_path=path,
        size_bytes=loose.count(file, "SizeBytes") or 0,
        modified_time_sec=loose.number(file, "ModifiedTimeSec") or 0.0,
        permissions="rw",
        est_print_time_sec=loose.known(loose.count(file, "PrintTimeSec")),
        est_filament_used_mm=loose.known(loose.count(file, "FilamentMm")),
        est_filament_weight_mg=loose.known(loose.count(file, "FilamentMg")),
        layer_count=loose.known(loose.count(file, "Layers")),
        children=entries_of(loose.items(file, "Children"), root) if is_folder else UNSET,
    )


def entries_of(files: Sequence[object], root: str) -> list[FileEntry]:
    entries = (entry_of(file, root) for file in files)
    return [entry for entry in entries if entry is not None]


def details_of(entry: FileEntry) -> FileDetails:
    return FileDetails(
        virtual_path=entry.virtual_path,
        platform_path=entry.platform_path,
        file_name=entry.name,
        size_bytes=entry.size_bytes,
        modified_time_sec=entry.modified_time_sec,
        est_print_time_sec=entry.est_print_time_sec,
        est_filament_used_mm=entry.est_filament_used_mm,
        est_filament_weight_mg=entry.est_filament_weight_mg,
        layer_count=entry.layer_count,
    )


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
