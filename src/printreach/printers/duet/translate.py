"""Translates a Duet's object model into the types of the contract: its state, and its tools."""

from printreach.contract.materials import (
    MAX_TOOLS,
    Capabilities,
    Material,
    MaterialSystem,
    Route,
    Source,
)
from printreach.contract.materials import Tool as ContractTool
from printreach.contract.sizes import MAX_TEXT_CHARS
from printreach.contract.status import (
    UNDER_WAY,
    Adjustments,
    CurrentPrint,
    Feature,
    JobStatus,
    State,
    Temps,
)
from printreach.contract.unset import UNSET, UnsetType
from printreach.languages import in_english
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import View, view_without_firmware
from printreach.rules.prints import Need, need_of_words

from . import model as duet
from .known_state import ERRORS, NO_MACHINE, KnownState
from .model import Tool

WAITING_BOX = 2

HAS_FILAMENT = {"ok": False, "noFilament": True}
"""Words of a filament monitor, and whether the source is empty then."""


def view_of(known: KnownState, where: str) -> View:
    """where: this board's address, for messages."""
    model, condition = known.model, known.condition
    version = _version(model)
    if condition.state is None:
        sentence = condition.sub_state or NO_MACHINE[""]
        return view_without_firmware(in_english(sentence, where=where), version)
    return View(
        trouble=None,
        job=JobStatus(
            state=condition.state,
            sub_state=_question(model) or condition.sub_state,
            error=_error(model),
            current_print=_print_of(known, condition.state),
            adjustments=Adjustments(
                speed_percent=loose.known(duet.speed_percent(model)),
                flow_percent=loose.known(duet.flow_percent(model)),
                fan_percent=loose.known(duet.fan_percent(model)),
                z_offset_mm=loose.known(duet.z_offset_mm(model)),
            ),
        ),
        features=features_of(model),
        platform_version=version,
        materials=materials_of(model),
        need=_need(model),
    )


def features_of(model: Json) -> Feature:
    """Return what this machine has."""
    features = Feature.PRINT_START | Feature.EMERGENCY_STOP | Feature.FIRMWARE_RESTART
    if duet.has_axes(model):
        features |= Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.AXIS_HOMING
        features |= Feature.SPEED_CONTROL | Feature.Z_OFFSET_CONTROL
    tools = duet.tools(model)
    if any(tool.extruders for tool in tools):
        features |= Feature.EXTRUSION | Feature.FLOW_CONTROL
    if duet.has_fan(model):
        features |= Feature.FAN_CONTROL
    has_heat = duet.bed(model) or duet.chamber(model) or any(tool.heater.state for tool in tools)
    return features | Feature.TEMPERATURE_CONTROL if has_heat else features


def _print_of(known: KnownState, state: State) -> CurrentPrint:
    latest, is_current = known.latest, state is not State.IDLE
    return CurrentPrint(
        progress=latest.progress if is_current else 0.0,
        duration_sec=latest.duration_s if is_current else 0,
        time_left_sec=_time_left_s(known, state),
        file_name=latest.name,
        est_total_fil_used_mm=latest.filament_mm if is_current else 0,
        current_layer=latest.layer if is_current else None,
        total_layers=latest.layers if is_current else None,
        temps=_temps_of(known.model),
    )


def _time_left_s(known: KnownState, state: State) -> int | None:
    """Return the slicer's estimate, else the firmware's, else a simulation's or the file's."""
    if state is State.COMPLETE:
        return 0
    if state not in UNDER_WAY:
        return None
    job = duet.job(known.model)
    reported = loose.obj(job, "timesLeft")
    for key in ("slicer", "filament", "file"):
        left_s = loose.count(reported, key)
        if left_s is not None:
            return left_s
    file = loose.obj(job, "file")
    whole_s = loose.count(file, "simulatedTime") or loose.count(file, "printTime")
    return max(0, whole_s - known.latest.duration_s) if whole_s else None


def _temps_of(model: Json) -> Temps:
    bed, chamber, hotend = duet.bed(model), duet.chamber(model), _hotend(model)
    return Temps(
        bed_actual=(bed.actual_c or 0.0) if bed else 0.0,
        bed_target=bed.target_c if bed else 0.0,
        hotend_actual=hotend.actual_c or 0.0,
        hotend_target=hotend.target_c,
        chamber_actual=(chamber.actual_c or 0.0) if chamber else UNSET,
        chamber_target=chamber.target_c if chamber else UNSET,
    )


def _hotend(model: Json) -> duet.Heater:
    """Return the heater of the tool in use, else of the first tool that has one."""
    heated = [tool for tool in duet.tools(model) if tool.heater.state]
    current = duet.current_tool(model)
    heated.sort(key=lambda tool: tool.number != current)
    return heated[0].heater if heated else duet.NO_HEATER


def _question(model: Json) -> str | None:
    """Return what the machine asks the person before it (M291)."""
    box = loose.obj(model, "state", "messageBox")
    words = [loose.text(box, key) for key in ("title", "message")]
    return ": ".join(word for word in words if word)[:MAX_TEXT_CHARS] or None


def _need(model: Json) -> Need | None:
    """Boxes of mode 0 and 1 only tell; from 2 on the machine waits for an answer (M291, S)."""
    mode = loose.whole(loose.obj(model, "state", "messageBox"), "mode") or 0
    return need_of_words(_question(model) or "") if mode >= WAITING_BOX else None


def _error(model: Json) -> str | None:
    faults = duet.faults(model)
    if faults:
        return in_english("Heater %(faults)s has a fault.", faults=faults[0])
    return ERRORS.get(duet.status(model))


def _version(model: Json) -> str:
    boards = loose.items(model, "boards")
    return (loose.text(boards[0], "firmwareVersion") if boards else None) or ""


def materials_of(model: Json) -> MaterialSystem | None:
    """Return the materials; None before tools were reported, and for a machine without any."""
    tools = [tool for tool in duet.tools(model) if tool.extruders or tool.heater.state][:MAX_TOOLS]
    if not tools:
        return None
    has_several = len(tools) > 1
    return MaterialSystem(
        capabilities=Capabilities(
            supports_multi_material=has_several, supports_multi_tool=has_several
        ),
        sources=[_source(model, index, tool) for index, tool in enumerate(tools)],
        tools=[_tool(model, tool) for tool in tools],
        units=[],
        routes=[_route(model, tool) for tool in tools],
    )


def _source(model: Json, index: int, tool: Tool) -> Source:
    filament = _filament(model, tool)
    return Source(
        id=f"spool{tool.number}",
        index=index,
        name=f"Spool {tool.number}",
        position=tool.number,
        is_empty=_is_empty(model, tool),
        material=UNSET if filament is None else Material(name=filament),
    )


def _tool(model: Json, tool: Tool) -> ContractTool:
    current = duet.current_tool(model)
    actual_c = tool.heater.actual_c
    is_known = loose.number(loose.obj(model, "state"), "currentTool") is not None
    return ContractTool(
        id=f"tool{tool.number}",
        index=tool.number,
        name=tool.name or f"Tool {tool.number}",
        is_active=current == tool.number if is_known else UNSET,
        actual_celsius=loose.known(actual_c),
        target_celsius=tool.heater.target_c if tool.heater.state else UNSET,
    )


def _route(model: Json, tool: Tool) -> Route:
    state = UNSET if _filament(model, tool) is None else "loaded"
    return Route(source_id=f"spool{tool.number}", tool_id=f"tool{tool.number}", state=state)


def _filament(model: Json, tool: Tool) -> str | None:
    """Return what was loaded with M701: the name that the owner gave it."""
    return loose.text(_of_drive(loose.obj(model, "move"), "extruders", tool), "filament")


def _is_empty(model: Json, tool: Tool) -> bool | UnsetType:
    monitor = _of_drive(loose.obj(model, "sensors"), "filamentMonitors", tool)
    return HAS_FILAMENT.get(loose.text(monitor, "status") or "", UNSET)


def _of_drive(reported: Json, key: str, tool: Tool) -> Json:
    """Return the entry of the tool's first extruder drive."""
    entries = loose.items(reported, key)
    drive = tool.extruders[0] if tool.extruders else len(entries)
    return loose.obj(entries[drive]) if drive < len(entries) else loose.EMPTY
