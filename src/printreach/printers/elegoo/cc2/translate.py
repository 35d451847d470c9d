"""Translates a Centauri Carbon 2's messages into the types of the contract. Pure.

Its full status comes once and then what has changed. The codes are of the vendor's SDK, corrected
by a live trace where that disagrees.
"""

from dataclasses import dataclass, field, replace

from printreach.contract.commands import SpeedLevel
from printreach.contract.status import (
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
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.loose import Json, merged
from printreach.printers.port import View

from .canvas import materials_of

LIGHT = "chamber_light"
ATTRIBUTES, STATUS, CANVAS = 1001, 1002, 2005
NEWS, NEW_ATTRIBUTES = 6000, 6008

# Guessed: the words are undocumented, but the firmware descends from Klipper. What is not here is
# decided by the codes.
_WORDS = {
    "printing": State.PRINTING,
    "paused": State.PAUSED,
    "complete": State.COMPLETE,
    "completed": State.COMPLETE,
    "cancelled": State.CANCELLED,
    "stopped": State.CANCELLED,
    "error": State.ERROR,
}
_STATUS_INITIALIZING, _STATUS_PRINTING, _STATUS_CLOSING = 0, 2, 3
_STATUS_LEVELLING, _STATUS_HOMING, _STATUS_HALTED = 5, 10, 14
_CLOSING = range(1150, 1158)
_WARMING_UP = frozenset({1045, 1096, 1405, 1906, 2801, 2802, 2901, 2902})
_PAUSED, _RESUMING = frozenset({2501, 2502, 2505}), frozenset({2401, 2402})
_COMPLETE, _CANCELLED = 2077, frozenset({2503, 2504})
_SUB_STATES = {
    1045: N_("Heating the nozzle"),
    1096: N_("Heating the nozzle"),
    1405: N_("Heating the bed"),
    1906: N_("Heating the bed"),
    2501: N_("Pausing"),
    2503: N_("Stopping"),
    2801: N_("Leveling the bed"),
    2802: N_("Leveling the bed"),
    2901: N_("Heating"),
    2902: N_("Heating"),
}
SPEED_LEVELS = (
    SpeedLevel.SILENT,
    SpeedLevel.STANDARD,
    SpeedLevel.SPORT,
    SpeedLevel.LUDICROUS,
)
"""At the number of each, which its orders call a mode."""
FULL_FAN = 255
_HARMLESS = frozenset({803})
"""Codes that may be in the list when a print has ended normally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """number: of the latest news, None before the first. has_gap: some were missed since the full
    status."""

    status: Json = field(default_factory=dict)
    attributes: Json = field(default_factory=dict)
    canvas: Json = field(default_factory=dict)
    number: int | None = None
    has_gap: bool = False


def with_message(known: KnownState, message: object) -> KnownState:
    """Return the state after one more message; changes are of no use before the full status."""
    method, result = loose.whole(message, "method"), loose.obj(message, "result")
    if loose.whole(result, "error_code"):
        return known
    if method == STATUS and loose.obj(result, "machine_status"):
        return replace(known, status=result, has_gap=False)
    if method == NEWS:
        return _with_news(known, loose.whole(message, "id"), result)
    if method in (ATTRIBUTES, NEW_ATTRIBUTES) and result:
        return replace(known, attributes=merged(known.attributes, result))
    if method == CANVAS:
        return replace(known, canvas=loose.obj(result, "canvas_info") or known.canvas)
    return known


def _with_news(known: KnownState, number: int | None, changes: Json) -> KnownState:
    if not known.status or not changes:
        return known
    follows = known.number is None or number is None or number == known.number + 1
    canvas = loose.obj(changes, "canvas_info")
    return replace(
        known,
        status=merged(known.status, changes),
        canvas=merged(known.canvas, canvas) if canvas else known.canvas,
        number=number,
        has_gap=known.has_gap or not follows,
    )


def view_of(known: KnownState) -> View:
    status = known.status
    state = state_of(status)
    return View(
        trouble=None,
        job=JobStatus(
            state=state,
            sub_state=_sub_state(status, state),
            error=_error(status),
            lights=_lights(status),
            current_print=_print(status, state),
            adjustments=_adjustments(status),
        ),
        features=_features(status),
        platform_version=version_of(known.attributes),
        materials=materials_of(known.canvas or loose.obj(status, "canvas_info"), status),
        error_code=next(iter(_faults(status)), ""),
    )


def _adjustments(status: Json) -> Adjustments:
    """Return the fan and the level. Guessed: where both stand in the status."""
    fan = loose.number(loose.obj(status, "fans", "fan"), "speed")
    mode = loose.count(loose.obj(status, "gcode_move"), "speed_mode")
    is_known = mode is not None and mode < len(SPEED_LEVELS)
    return Adjustments(
        fan_percent=UNSET if fan is None else round(loose.percent(100.0 * fan / FULL_FAN)),
        speed_level=SPEED_LEVELS[mode] if mode is not None and is_known else UNSET,
    )


def version_of(attributes: Json) -> str:
    return loose.text(loose.obj(attributes, "software_version"), "ota_version") or ""


def print_id_of(status: Json) -> str:
    """The printer's own id of the print; "" where it has none."""
    return loose.text(loose.obj(status, "print_status"), "uuid") or ""


def state_of(status: Json) -> State:
    """print_status.state first, codes second. A pause stays one that can be resumed."""
    machine = loose.obj(status, "machine_status")
    code, sub = loose.whole(machine, "status"), loose.whole(machine, "sub_status") or 0
    word = (loose.text(loose.obj(status, "print_status"), "state") or "").lower()
    if code == _STATUS_HALTED:
        return State.ERROR
    reported = _WORDS.get(word)
    if reported is State.PAUSED:
        return State.RESUMING if sub in _RESUMING else reported
    if _faults(status):
        return State.ERROR
    if reported is State.PRINTING:
        return _printing(status, sub)
    return reported or _by_codes(status, code, sub)


def _by_codes(status: Json, code: int | None, sub: int) -> State:
    if code == _STATUS_LEVELLING:
        return State.WARMING_UP
    if code == _STATUS_CLOSING and sub in _CLOSING:
        return State.PRINTING
    if code != _STATUS_PRINTING:
        return State.IDLE
    if sub in _PAUSED:
        return State.PAUSED
    if sub == _COMPLETE:
        return State.COMPLETE
    if sub in _CANCELLED:
        return State.CANCELLED
    return _printing(status, sub)


def _printing(status: Json, sub: int) -> State:
    """Heating in the middle of a print is a change of filament."""
    if sub in _RESUMING:
        return State.RESUMING
    has_begun = bool(loose.count(loose.obj(status, "print_status"), "current_layer"))
    return State.WARMING_UP if sub in _WARMING_UP and not has_begun else State.PRINTING


def _sub_state(status: Json, state: State) -> str | None:
    machine = loose.obj(status, "machine_status")
    code, sub = loose.whole(machine, "status"), loose.whole(machine, "sub_status") or 0
    if state is State.IDLE:
        return {_STATUS_INITIALIZING: N_("Initializing"), _STATUS_HOMING: N_("Homing")}.get(
            code or 0
        )
    if code == _STATUS_LEVELLING:
        return N_("Leveling the bed")
    return _SUB_STATES.get(sub) if code == _STATUS_PRINTING else None


def _faults(status: Json) -> list[str]:
    codes = loose.items(loose.obj(status, "machine_status"), "exception_status")
    known = [code for code in codes if isinstance(code, int | str) and code not in _HARMLESS]
    return [loose.sendable(str(code)[:20]) for code in known if not isinstance(code, bool)]


def _error(status: Json) -> str | None:
    faults = _faults(status)
    if faults:
        return in_english("The printer reports error %(number)s.", number=", ".join(faults[:3]))
    if state_of(status) is State.ERROR:
        return N_("The printer reports an error.")
    return None


def _features(status: Json) -> Feature:
    features = (
        Feature.AXIS_MOVEMENT
        | Feature.HOMING
        | Feature.TEMPERATURE_CONTROL
        | Feature.PRINT_START
        | Feature.FAN_CONTROL
        | Feature.SPEED_LEVELS
    )
    return features | Feature.LIGHT_CONTROL if _lights(status) is not None else features


def _lights(status: Json) -> list[Light] | None:
    reported = loose.number(loose.obj(status, "led"), "status")
    return None if reported is None else [Light(name=LIGHT, on=bool(reported))]


def _print(status: Json, state: State) -> CurrentPrint:
    reported = loose.obj(status, "print_status")
    progress = loose.percent(loose.number(loose.obj(status, "machine_status"), "progress"))
    has_job = state is not State.IDLE
    return CurrentPrint(
        progress=100.0 if state is State.COMPLETE else progress if has_job else 0.0,
        duration_sec=loose.count(reported, "print_duration") or 0,
        time_left_sec=loose.count(reported, "remaining_time_sec") if state in UNDER_WAY else None,
        file_name=(loose.text(reported, "filename") or "").rpartition("/")[2],
        current_layer=loose.count(reported, "current_layer") if has_job else None,
        total_layers=(loose.count(reported, "total_layer") or None) if has_job else None,
        temps=_temps(status),
    )


def _temps(status: Json) -> Temps:
    extruder, bed = loose.obj(status, "extruder"), loose.obj(status, "heater_bed")
    chamber = loose.number(loose.obj(status, "ztemperature_sensor"), "temperature")
    return Temps(
        bed_actual=loose.number(bed, "temperature") or 0.0,
        bed_target=loose.number(bed, "target") or 0.0,
        hotend_actual=loose.number(extruder, "temperature") or 0.0,
        hotend_target=loose.number(extruder, "target") or 0.0,
        chamber_actual=loose.known(chamber),
    )
