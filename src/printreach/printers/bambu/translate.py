"""Translates a Bambu printer's report into the types of the contract. Pure."""

from printreach.contract.commands import SpeedLevel
from printreach.contract.status import (
    NO_FEATURES,
    UNDER_WAY,
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
from printreach.printers.loose import Json
from printreach.printers.port import View

from .known_state import KnownState, model_of, version_of
from .materials import extruders_of, materials_of
from .orders import SPEED_LEVELS
from .project import NOTHING, SlicerFacts
from .states import code_of, error_of, need_of, state_of, sub_state_of
from .stopwatch import Stopwatch

LIGHT = "chamber_light"

# All of them are G-code or orders that every printer takes.
_ALWAYS = (
    Feature.AXIS_MOVEMENT
    | Feature.HOMING
    | Feature.EXTRUSION
    | Feature.TEMPERATURE_CONTROL
    | Feature.PRINT_START
)
_WITH_PROGRESS = frozenset({State.PRINTING, State.PAUSED, State.RESUMING, State.ERROR})


def view_of(
    known: KnownState,
    stopwatch: Stopwatch,
    now: float,
    sliced: SlicerFacts = NOTHING,
) -> View:
    """now: of the stopwatch's clock. sliced: what the slicer said of this print."""
    report = known.report
    state = state_of(report)
    lights = _lights(report)
    features = _ALWAYS | (Feature.LIGHT_CONTROL if lights else NO_FEATURES)
    level = _speed_level(report)
    if level is not None:
        features |= Feature.SPEED_LEVELS
    if len(extruders_of(report)) > 1:
        features &= ~Feature.EXTRUSION  # which nozzle is in use is not told
    return View(
        trouble=None,
        job=JobStatus(
            state=state,
            sub_state=sub_state_of(report, state),
            error=error_of(report),
            lights=lights,
            current_print=_print(known, state, stopwatch, now, sliced),
            adjustments=UNSET if level is None else Adjustments(speed_level=level),
        ),
        features=features,
        platform_version=version_of(known.modules),
        materials=materials_of(report, known.modules),
        need=need_of(report, state),
        error_code=code_of(report),
    )


def _speed_level(report: Json) -> SpeedLevel | None:
    number = loose.whole(report, "spd_lvl")
    return next((level for level, of_level in SPEED_LEVELS.items() if of_level == number), None)


def _print(
    known: KnownState, state: State, stopwatch: Stopwatch, now: float, sliced: SlicerFacts
) -> CurrentPrint:
    """Progress and layers are those of the print before until this one runs."""
    report = known.report
    is_complete = state is State.COMPLETE
    tells = state in _WITH_PROGRESS or is_complete or state is State.CANCELLED
    progress = loose.percent(loose.number(report, "mc_percent")) if tells else 0.0
    total = loose.count(report, "total_layer_num") if tells else None
    return CurrentPrint(
        progress=100.0 if is_complete else progress,
        duration_sec=stopwatch.duration_s(now),
        time_left_sec=_left_s(state, stopwatch, now, sliced),
        file_name=_file_name(report),
        current_layer=loose.count(report, "layer_num") if tells else None,
        total_layers=total or sliced.layers,
        est_total_fil_used_mm=sliced.filament_mm or 0,
        est_total_fil_weight_mg=UNSET if sliced.filament_mg is None else sliced.filament_mg,
        temps=_temps(known),
    )


def _left_s(state: State, stopwatch: Stopwatch, now: float, sliced: SlicerFacts) -> int | None:
    """Return the time left as the printer reports it; before it does, as the slicer estimated."""
    reported_s = stopwatch.left_s(now)
    if reported_s is None and sliced.time_s is not None and state in UNDER_WAY:
        return max(0, sliced.time_s - stopwatch.duration_s(now))
    return reported_s


def _file_name(report: Json) -> str:
    name = loose.text(report, "subtask_name") or loose.text(report, "gcode_file") or ""
    return name.rpartition("/")[2]


def _temps(known: KnownState) -> Temps:
    report = known.report
    hotend = (loose.number(report, "nozzle_temper"), loose.number(report, "nozzle_target_temper"))
    extruders = extruders_of(report)
    if hotend == (None, None) and extruders:
        hotend = (extruders[0].actual_c, extruders[0].target_c)
    chamber = loose.number(report, "chamber_temper")
    is_measured = chamber is not None and model_of(known.modules).measures_chamber
    return Temps(
        bed_actual=loose.number(report, "bed_temper") or 0.0,
        bed_target=loose.number(report, "bed_target_temper") or 0.0,
        hotend_actual=hotend[0] or 0.0,
        hotend_target=hotend[1] or 0.0,
        chamber_actual=chamber if is_measured and chamber is not None else UNSET,
    )


def _lights(report: Json) -> list[Light] | None:
    for light in loose.items(report, "lights_report"):
        if loose.text(light, "node") == LIGHT:
            return [Light(name=LIGHT, on=loose.text(light, "mode") in ("on", "flashing"))]
    return None
