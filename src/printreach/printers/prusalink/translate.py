"""Translates PrusaLink's answers into the types of the contract. Pure.

It is polled for its state (/api/v1/status) and, once for each print, for the file (/api/v1/job).
When a print has ended, 0.8.1 reports it for eleven seconds and then nothing more, so the latest
print is kept in KnownState.
"""

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from printreach.contract.materials import MaterialSystem, Source, Tool
from printreach.contract.status import (
    UNDER_WAY,
    Adjustments,
    CurrentPrint,
    Feature,
    JobStatus,
    State,
    Temps,
)
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import View, view_without_firmware
from printreach.rules.prints import need_of_words
from printreach.rules.prints.materials import spool_at_each_tool

from .entries import filament_mg, filament_mm, print_time_s

PI_STORAGE = "local"
BUDDY_STORAGE = "usb"
MAX_NOZZLE_MM = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """storage: where prints are put, by its name in addresses. nozzle_mm: where it is told."""

    version: str = ""
    storage: str = PI_STORAGE
    nozzle_mm: float | None = None

    @property
    def is_pi(self) -> bool:
        """PrusaLink itself, on a Raspberry Pi; else Buddy's firmware."""
        return self.storage == PI_STORAGE

    @property
    def features(self) -> Feature:
        """Orders to axes and heaters stand in `web/controls.py`; Buddy's firmware takes none."""
        if not self.is_pi:
            return Feature.PRINT_START
        motion = Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.AXIS_HOMING | Feature.EXTRUSION
        motion |= Feature.SPEED_CONTROL | Feature.FLOW_CONTROL
        return motion | Feature.TEMPERATURE_CONTROL | Feature.PRINT_START


def is_introduction(version: object, storages: object) -> bool:
    """Something else may answer in place of /api/version and /api/v1/storage."""
    has_list = isinstance(loose.obj(storages).get("storage_list"), list)
    return loose.text(version, "server") is not None and has_list


def machine_of(version: object, info: object, storages: object) -> Machine:
    """Read /api/version, /api/v1/info and /api/v1/storage."""
    nozzle_mm = loose.number(info, "nozzle_diameter")
    is_nozzle = nozzle_mm is not None and 0 < nozzle_mm <= MAX_NOZZLE_MM
    return Machine(
        version=loose.text(version, "server") or "",
        storage=_storage(storages, has_sdk=loose.text(version, "sdk") is not None),
        nozzle_mm=nozzle_mm if is_nozzle else None,
    )


def _storage(storages: object, *, has_sdk: bool) -> str:
    """Return the first writable storage that is one of the two known; else the program's usual one.

    Without a USB drive, Buddy's firmware has none at the moment.
    """
    for reported in loose.items(storages, "storage_list"):
        name = (loose.text(reported, "path") or "").strip("/")
        if name in (PI_STORAGE, BUDDY_STORAGE) and loose.flag(reported, "read_only") is not True:
            return name
    return PI_STORAGE if has_sdk else BUDDY_STORAGE


MAX_GAP_S = 10.0
"""A longer silence isn't taken for time that was printed."""
MAX_AHEAD_S = 30.0
"""PrusaLink's time replaces the measured one when it is further ahead than this."""
NEARLY_DONE_PERCENT = 98.0

_AT_REST: Final = frozenset({State.IDLE, State.COMPLETE, State.CANCELLED})
_STATES: Final = {
    "IDLE": State.IDLE,
    "READY": State.IDLE,
    "BUSY": State.WARMING_UP,
    "PRINTING": State.PRINTING,
    "PAUSED": State.PAUSED,
    "FINISHED": State.COMPLETE,
    "STOPPED": State.CANCELLED,
    "ERROR": State.ERROR,
}
_ATTENTION: Final = "ATTENTION"
"""The printer waits for a person before its display. In the middle of a print that is a pause:
0.8.1 ends no print for it (`const.py`), and starts no other (`command_handlers.py`)."""
_NO_BOARD: Final = frozenset({"Serial device does not exist", "RPi port is not enabled"})
"""`status_printer.message` while the cable is out. Source: `conditions.py` of 0.8.1."""
_USUAL_MESSAGES: Final = frozenset({"", "OK"})


class Latest(NamedTuple):
    """The latest print, as far as it was seen.

    reported_s: print time as last reported. passed_s: measured here since then.
    """

    job_id: int | None = None
    name: str = ""
    progress: float = 0.0
    reported_s: int = 0
    passed_s: float = 0.0
    estimate_s: int | None = None
    filament_mm: int = 0
    filament_mg: int | None = None

    @property
    def duration_s(self) -> int:
        return min(loose.MAX_INT, int(self.reported_s + self.passed_s))


NO_PRINT: Final = Latest()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """status: the latest answer. at_s: when, of a steady clock. state: None before the first
    answer, and while PrusaLink is not connected to its printer."""

    status: Json = field(default_factory=dict)
    at_s: float = 0.0
    state: State | None = None
    latest: Latest = NO_PRINT

    @property
    def word(self) -> str:
        """PrusaLink's own word for the state."""
        return loose.text(loose.obj(self.status, "printer"), "state") or ""

    @property
    def waits_for_person(self) -> bool:
        return self.word == _ATTENTION

    @property
    def job_id(self) -> int | None:
        """Of the print that is under way."""
        return loose.count(loose.obj(self.status, "job"), "id")

    @property
    def has_print(self) -> bool:
        """False also while the printer is busy with something else than a print."""
        return self.state is not State.WARMING_UP or self.job_id is not None


def is_status(answer: object) -> bool:
    """Something else than a status may answer in its place."""
    return loose.text(loose.obj(answer, "printer"), "state") is not None


def wants_job(known: KnownState, status: Json) -> bool:
    """Whether the print's file isn't known yet."""
    job_id = loose.count(loose.obj(status, "job"), "id")
    return job_id is not None and (job_id != known.latest.job_id or not known.latest.name)


def with_status(known: KnownState, status: Json, job: Json, now_s: float) -> KnownState:
    """job: the answer of /api/v1/job, where it was asked for."""
    state = _state_of(status)
    if loose.text(loose.obj(status, "printer"), "state") == _ATTENTION:
        has_print = bool(loose.obj(status, "job")) or _is_printing(known)
        state = State.PAUSED if has_print else State.ERROR
    after = KnownState(status=status, at_s=now_s, state=state, latest=known.latest)
    if _is_another(known, after):
        after = replace(after, latest=NO_PRINT)
    elif known.state is State.PRINTING:
        passed_s = known.latest.passed_s + min(MAX_GAP_S, max(0.0, now_s - known.at_s))
        after = replace(after, latest=known.latest._replace(passed_s=passed_s))
    return replace(after, latest=_with_file(_with_figures(after), job))


def view_of(known: KnownState, machine: Machine, where: str) -> View:
    """where: this PrusaLink's address, for messages."""
    printer = loose.obj(known.status, "printer")
    message = loose.text(loose.obj(printer, "status_printer"), "message") or ""
    if known.state is None:
        sentence = (
            in_english(
                "%(where)s is not connected to its printer (%(words)s).",
                where=where,
                words=message,
            )
            if message not in _USUAL_MESSAGES
            else in_english("%(where)s is not connected to its printer.", where=where)
        )
        return view_without_firmware(sentence, machine.version)
    return View(
        trouble=None,
        job=JobStatus(
            state=known.state,
            sub_state=_sub_state(known, message),
            error=_error(known, message) if known.state is State.ERROR else None,
            current_print=_print_of(known, known.state, printer),
            adjustments=Adjustments(
                speed_percent=loose.known(loose.count(printer, "speed")),
                flow_percent=loose.known(loose.count(printer, "flow")),
            ),
        ),
        features=machine.features,
        platform_version=machine.version,
        materials=materials_of(printer, machine.nozzle_mm),
        need=need_of_words(_error(known, message)) if known.waits_for_person else None,
        height_mm=loose.number(printer, "axis_z"),
    )


def _state_of(status: Json) -> State | None:
    """Return the state. An unknown word is no error: with a job it prints, without it is idle."""
    printer = loose.obj(status, "printer")
    word = loose.text(printer, "state") or ""
    message = loose.text(loose.obj(printer, "status_printer"), "message")
    if word == "ERROR" and message in _NO_BOARD:
        return None
    return _STATES.get(word) or (State.PRINTING if loose.obj(status, "job") else State.IDLE)


def _is_printing(known: KnownState) -> bool:
    return known.state in UNDER_WAY and known.has_print


def _is_another(before: KnownState, after: KnownState) -> bool:
    """Return whether it is another print; a busy printer may have no print at all."""
    if after.state not in UNDER_WAY or not after.has_print:
        return False
    return before.state in _AT_REST or after.job_id != before.latest.job_id


def _with_figures(known: KnownState) -> Latest:
    """Return the latest print, with what the status tells of it."""
    latest, job = known.latest, loose.obj(known.status, "job")
    if known.state is State.COMPLETE:
        return latest._replace(progress=100.0)
    if known.state not in UNDER_WAY or known.job_id is None:
        return latest
    reported_s = loose.count(job, "time_printing")
    if reported_s is not None and reported_s != latest.reported_s:
        # 0.8.1 counts only with each hundredth line, so what was measured may be ahead of it.
        ahead_s = latest.reported_s + latest.passed_s - reported_s
        latest = latest._replace(
            reported_s=reported_s, passed_s=ahead_s if 0.0 < ahead_s <= MAX_AHEAD_S else 0.0
        )
    return latest._replace(job_id=known.job_id, progress=_progress(latest, job))


def _progress(latest: Latest, job: Json) -> float:
    """Before 0.8.1 has counted a second of a print, it still tells the progress of the one
    before."""
    done = loose.number(job, "progress")
    return latest.progress if done is None or not latest.reported_s else loose.percent(done)


def _with_file(latest: Latest, job: Json) -> Latest:
    file = loose.obj(job, "file")
    name = loose.text(file, "display_name") or loose.text(file, "name")
    if name is None:
        return latest
    meta = loose.obj(file, "meta")
    return latest._replace(
        name=name,
        estimate_s=print_time_s(meta),
        filament_mm=filament_mm(meta) or 0,
        filament_mg=filament_mg(meta),
    )


def _sub_state(known: KnownState, message: str) -> str | None:
    if known.word == "BUSY":
        return N_("Busy")
    if known.waits_for_person:
        return _error(known, message) if known.state is State.PAUSED else N_("Attention")
    return None


def _error(known: KnownState, message: str) -> str:
    if message not in _USUAL_MESSAGES:
        return message
    if known.waits_for_person:
        return N_("The printer wants attention: see its display.")
    return N_("The printer reports an error: see its display.")


def _print_of(known: KnownState, state: State, printer: Json) -> CurrentPrint:
    is_current = state is not State.IDLE and known.has_print
    latest = known.latest if known.has_print else NO_PRINT
    return CurrentPrint(
        progress=latest.progress if is_current else 0.0,
        duration_sec=latest.duration_s if is_current else 0,
        time_left_sec=_time_left_s(known, state),
        file_name=latest.name,
        est_total_fil_used_mm=latest.filament_mm if is_current else 0,
        est_total_fil_weight_mg=(
            UNSET if latest.filament_mg is None or not is_current else latest.filament_mg
        ),
        temps=Temps(
            bed_actual=loose.number(printer, "temp_bed") or 0.0,
            bed_target=loose.number(printer, "target_bed") or 0.0,
            hotend_actual=loose.number(printer, "temp_nozzle") or 0.0,
            hotend_target=loose.number(printer, "target_nozzle") or 0.0,
        ),
    )


def _time_left_s(known: KnownState, state: State) -> int | None:
    """PrusaLink's own, else what the slicer expected to be left. 0 stands for not known, too."""
    if state is State.COMPLETE:
        return 0
    if state not in UNDER_WAY:
        return None
    left_s = loose.count(loose.obj(known.status, "job"), "time_remaining")
    if left_s or (left_s == 0 and known.latest.progress >= NEARLY_DONE_PERCENT):
        return left_s
    whole_s = known.latest.estimate_s
    return None if whole_s is None else max(0, whole_s - known.latest.duration_s)


def materials_of(printer: Json, nozzle_mm: float | None) -> MaterialSystem:
    """printer: of /api/v1/status."""
    actual, target = loose.number(printer, "temp_nozzle"), loose.number(printer, "target_nozzle")
    tool = Tool(
        id="tool0",
        index=0,
        name="Tool 1",
        actual_celsius=loose.known(actual),
        target_celsius=loose.known(target),
        nozzle_diameter_mm=loose.known(nozzle_mm),
    )
    return spool_at_each_tool([Source(id="spool0", index=0, name="Spool 1")], [tool])
