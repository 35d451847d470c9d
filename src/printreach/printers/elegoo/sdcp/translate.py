"""Translates an SDCP printer's messages into the types of the contract. Pure.

Field names (`CurrenCoord`, `Wi-fi`...) are the protocol's own, spelling included.
"""

from dataclasses import dataclass, field

from printreach.contract.commands import SpeedLevel
from printreach.contract.materials import MaterialSystem, Source, Tool
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
from printreach.contract.unset import UNSET, UnsetType
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import View
from printreach.rules.prints.materials import spool_at_each_tool

LIGHT = "chamber_light"
HOMING, PRINTING = 9, 1

_STATES = {
    0: State.IDLE,
    **dict.fromkeys((1, 15, 16, 18, 19, 20, 21), State.WARMING_UP),
    **dict.fromkeys((7, 13), State.PRINTING),
    # Dropping, exposing and lifting: what resin printers do in turn, as SDCP's document has it.
    **dict.fromkeys((2, 3, 4), State.PRINTING),
    **dict.fromkeys((5, 6), State.PAUSED),
    **dict.fromkeys((8, 14), State.CANCELLED),
    9: State.COMPLETE,
}
_SUB_STATES = {5: N_("Pausing"), 20: N_("Bed Leveling")}
_FAULTS = {
    1: N_("the file arrived damaged"),
    2: N_("the file can't be read"),
    3: N_("the file is for another resolution"),
    4: N_("the file's format is not known"),
    5: N_("the file is for another printer"),
}
"""Faults by ErrorNumber, from SDCP's document."""
SPEED_LEVELS = {
    SpeedLevel.SILENT: 50,
    SpeedLevel.STANDARD: 100,
    SpeedLevel.SPORT: 150,
    SpeedLevel.LUDICROUS: 200,
}
"""The PrintSpeedPct of each. Its own page offers these, and calls the second one Balanced."""
_ENDED = frozenset({State.IDLE, State.CANCELLED, State.COMPLETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """All that was reported. status, attributes: the latest. board: the mainboard's id, or ""."""

    status: Json = field(default_factory=dict)
    attributes: Json = field(default_factory=dict)
    board: str = ""

    @property
    def is_fdm(self) -> bool:
        """Resin printers have no nozzle."""
        return "TempOfNozzle" in self.status

    @property
    def has_camera(self) -> bool:
        """CameraStatus is 0 for one that isn't plugged in."""
        return bool(self.status) and loose.whole(self.attributes, "CameraStatus") != 0


def with_message(known: KnownState, message: object) -> KnownState:
    """Return the state after one more message; only status and attributes change it."""
    data = loose.obj(message, "Data")
    status = loose.obj(message, "Status") or loose.obj(data, "Status")
    attributes = loose.obj(message, "Attributes") or loose.obj(data, "Attributes")
    board = loose.text(message, "MainboardID") or loose.text(data, "MainboardID")
    return KnownState(
        status={**known.status, **status} if status else known.status,
        attributes=attributes or known.attributes,
        board=board or known.board,
    )


def view_of(known: KnownState) -> View:
    status = known.status
    state = state_of(status)
    return View(
        trouble=None,
        job=JobStatus(
            state=state,
            sub_state=_sub_state(status),
            error=_error(status),
            lights=_lights(status),
            current_print=_print(known, state),
            adjustments=_adjustments(known),
        ),
        features=_features(known),
        platform_version=loose.text(known.attributes, "FirmwareVersion") or "",
        materials=_materials(status) if known.is_fdm else None,
        error_code=str(loose.whole(loose.obj(status, "PrintInfo"), "ErrorNumber") or ""),
    )


def _adjustments(known: KnownState) -> Adjustments | UnsetType:
    if not known.is_fdm:
        return UNSET
    percent = loose.whole(loose.obj(known.status, "PrintInfo"), "PrintSpeedPct")
    fan = loose.number(loose.obj(known.status, "CurrentFanSpeed"), "ModelFan")
    level = next((level for level, of_level in SPEED_LEVELS.items() if of_level == percent), None)
    return Adjustments(
        fan_percent=UNSET if fan is None else round(loose.percent(fan)),
        speed_level=loose.known(level),
    )


def print_id_of(status: Json) -> str:
    """The printer's own id of the print; "" where it has none."""
    return loose.text(loose.obj(status, "PrintInfo"), "TaskId") or ""


def state_of(status: Json) -> State:
    """ErrorNumber counts once the print has ended; a paused one can still be resumed."""
    if _is_homing(status):
        return State.IDLE
    number = loose.whole(loose.obj(status, "PrintInfo"), "Status")
    state = _STATES.get(-1 if number is None else number)
    if state is None:
        state = State.PRINTING if PRINTING in _current(status) else State.IDLE
    return State.ERROR if state in _ENDED and _error(status) is not None else state


def _sub_state(status: Json) -> str | None:
    if _is_homing(status):
        return N_("Homing")
    number = loose.whole(loose.obj(status, "PrintInfo"), "Status")
    return _SUB_STATES.get(-1 if number is None else number)


def _is_homing(status: Json) -> bool:
    return _current(status)[:1] == [HOMING]


def _current(status: Json) -> list[object]:
    return [*loose.items(status, "CurrentStatus")]


def _error(status: Json) -> str | None:
    number = loose.whole(loose.obj(status, "PrintInfo"), "ErrorNumber")
    if not number:
        return None
    words = _FAULTS.get(number)
    if words is None:
        return in_english("The printer reports error %(number)s.", number=number)
    return in_english("The printer reports error %(number)s: %(why)s.", number=number, why=words)


def _features(known: KnownState) -> Feature:
    features = Feature.PRINT_START
    if _lights(known.status) is not None:
        features |= Feature.LIGHT_CONTROL
    if known.is_fdm:
        features |= Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.TEMPERATURE_CONTROL
        features |= Feature.FAN_CONTROL | Feature.SPEED_LEVELS
    return features


def _lights(status: Json) -> list[Light] | None:
    """Return the light; its value is 0 or 1, in some versions true and false."""
    reported = loose.obj(status, "LightStatus")
    is_on = loose.flag(reported, "SecondLight")
    number = loose.number(reported, "SecondLight")
    if is_on is None and number is None:
        return None
    return [Light(name=LIGHT, on=is_on is True or bool(number))]


def _print(known: KnownState, state: State) -> CurrentPrint:
    info = loose.obj(known.status, "PrintInfo")
    ticks_a_second = 1 if known.is_fdm else 1000
    passed, total = loose.number(info, "CurrentTicks"), loose.number(info, "TotalTicks")
    passed_s = _seconds(passed, ticks_a_second) or 0
    total_s = _seconds(total, ticks_a_second)
    left_s = max(0, total_s - passed_s) if total_s and state in UNDER_WAY else None
    has_job = state is not State.IDLE
    return CurrentPrint(
        progress=100.0 if state is State.COMPLETE else _progress(info) if has_job else 0.0,
        duration_sec=passed_s,
        time_left_sec=left_s,
        file_name=(loose.text(info, "Filename") or "").rpartition("/")[2],
        current_layer=loose.count(info, "CurrentLayer") if has_job else None,
        total_layers=(loose.count(info, "TotalLayer") or None) if has_job else None,
        temps=_temps(known.status),
    )


def _seconds(ticks: float | None, ticks_a_second: int) -> int | None:
    if ticks is None:
        return None
    return int(min(loose.MAX_INT, max(0.0, ticks / ticks_a_second)))


def _progress(info: Json) -> float:
    """Return the progress as reported; by layers where it isn't, as on resin printers."""
    reported = loose.number(info, "Progress")
    if reported is not None:
        return loose.percent(reported)
    layer, layers = loose.count(info, "CurrentLayer"), loose.count(info, "TotalLayer")
    return loose.percent(100.0 * layer / layers) if layer is not None and layers else 0.0


def _temps(status: Json) -> Temps:
    box, box_target = loose.number(status, "TempOfBox"), loose.number(status, "TempTargetBox")
    return Temps(
        bed_actual=loose.number(status, "TempOfHotbed") or 0.0,
        bed_target=loose.number(status, "TempTargetHotbed") or 0.0,
        hotend_actual=loose.number(status, "TempOfNozzle") or 0.0,
        hotend_target=loose.number(status, "TempTargetNozzle") or 0.0,
        chamber_actual=loose.known(box),
        chamber_target=UNSET if box is None or box_target is None else box_target,
    )


def _materials(status: Json) -> MaterialSystem:
    """Return one nozzle, and a spool of which the printer knows nothing."""
    actual_c = loose.number(status, "TempOfNozzle")
    target_c = loose.number(status, "TempTargetNozzle")
    tool = Tool(
        id="elegoo-tool-0",
        index=0,
        name="Nozzle",
        is_active=True,
        actual_celsius=loose.known(actual_c),
        target_celsius=loose.known(target_c),
    )
    spool = Source(id="elegoo-external", index=0, name="External spool")
    return spool_at_each_tool([spool], [tool])
