"""The known state of a Duet: its condition, and how the latest job ended. Pure.

Firmware by itself doesn't tell how a job ended. A job can be cancelled only while it is paused, so
the state before its end does; DSF says it, some moments later. Source: PrintMonitor.cpp and
GCodes2.cpp of RepRapFirmware, and its web page.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple

from printreach.contract.status import UNDER_WAY, State
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.print_progress import PrintProgress, PrintReport, positions

from . import model as duet

READ_AHEAD_BYTES = 64 * 1024
"""A job with no more than this left of its file has come to its end: firmware reads ahead."""

NO_MACHINE = {
    "": N_("%(where)s tells no state."),
    "starting": N_("%(where)s is starting."),
    "updating": N_("%(where)s is updating its firmware."),
    "disconnected": N_("%(where)s is not connected to its board."),
}
ERRORS = {
    "halted": N_("It was stopped in an emergency and has to be reset."),
    "off": N_("Its power is off."),
}
_JOB = {
    "pausing": (State.PAUSED, N_("Pausing")),
    "paused": (State.PAUSED, None),
    "cancelling": (State.PAUSED, N_("Cancelling")),
    "resuming": (State.RESUMING, None),
    "simulating": (State.PRINTING, N_("Simulating")),
}
_BETWEEN = {"busy": N_("Busy"), "changingTool": N_("Changing tool")}
_STOPPING = frozenset({"pausing", "paused", "cancelling"})


class Ending(Enum):
    """The end of the latest job. CLEARED: the board reports none, or it was not observed."""

    CLEARED = auto()
    DONE = auto()
    CANCELLED = auto()


class Latest(NamedTuple):
    """The latest job as far as it was observed. bytes_left: of its file; None where unknown."""

    name: str = ""
    progress: float = 0.0
    duration_s: int = 0
    filament_mm: int = 0
    layer: int | None = None
    layers: int | None = None
    bytes_left: int | None = None


NO_JOB = Latest()


class Condition(NamedTuple):
    """state: None while the board isn't ready for anything."""

    state: State | None
    sub_state: str | None = None


UNKNOWN_CONDITION = Condition(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """is_cancelling: an order to cancel is under way, for which the job is paused first."""

    model: Json = field(default_factory=dict)
    condition: Condition = UNKNOWN_CONDITION
    ending: Ending = Ending.CLEARED
    latest: Latest = NO_JOB
    is_cancelling: bool = False


def with_model(known: KnownState, model: Json) -> KnownState:
    """Return the state after the board has reported its whole model."""
    before = known.condition.state
    now = _job_condition(model, known)
    if now is not None:
        is_new = before not in UNDER_WAY or _is_another_file(model, known.latest)
        latest = _latest_of(model, NO_JOB if is_new else known.latest)
        return replace(
            known,
            model=model,
            condition=now,
            ending=Ending.CLEARED,
            latest=latest,
            is_cancelling=known.is_cancelling and not is_new,
        )
    ending = _ending(known, model) if before in UNDER_WAY else _ending_at_rest(known, model)
    after = replace(known, model=model, ending=ending, latest=_ended(known.latest, model, ending))
    return replace(after, condition=_rest_condition(after), is_cancelling=False)


def after_gap(known: KnownState) -> KnownState:
    """Return the state after a gap, in which anything may have happened."""
    return replace(known, condition=UNKNOWN_CONDITION, is_cancelling=False)


def is_fully_paused(known: KnownState) -> bool:
    """Whether the print is fully paused; before that, commands for a pause are refused."""
    return duet.status(known.model) == "paused"


def is_pausing(known: KnownState) -> bool:
    """Whether it is pausing, or paused already: an order to pause is refused then."""
    return duet.status(known.model) in ("pausing", "paused")


def job_path(known: KnownState) -> str | None:
    """Return the path of the file that is printed."""
    return loose.text(loose.obj(duet.job(known.model), "file"), "fileName")


def print_report(known: KnownState) -> PrintReport | None:
    """The print as it is now; None while the board isn't ready for anything."""
    if known.condition.state is None:
        return None
    job = duet.job(known.model)
    return PrintReport(
        state=known.condition.state,
        is_paused=is_fully_paused(known),
        path=job_path(known) or "",
        progress=PrintProgress(
            duration_s=loose.number(job, "duration"),
            began_s=_began_s(known.model),
            position=positions(loose.number(job, "filePosition")),
        ),
    )


def _began_s(model: Json) -> float | None:
    """Return when the job began, in seconds since the board was started.

    A job's duration leaves out its pauses. Source: PrintMonitor.cpp.
    """
    job = duet.job(model)
    up_s = loose.number(loose.obj(model, "state"), "upTime")
    printed_s, paused_s = loose.number(job, "duration"), loose.number(job, "pauseDuration")
    if up_s is None or printed_s is None or paused_s is None:
        return None
    return up_s - printed_s - paused_s


def _job_condition(model: Json, known: KnownState) -> Condition | None:
    """Return the condition of the job under way; None without a job."""
    status = duet.status(model)
    if known.is_cancelling and known.condition.state in UNDER_WAY and status in _STOPPING:
        return Condition(known.condition.state, N_("Cancelling"))
    if status in _JOB:
        return Condition(*_JOB[status])
    duration_s = loose.number(duet.job(model), "duration")
    is_job = duration_s is not None and status not in ERRORS and status not in NO_MACHINE
    if status == "processing" or (is_job and status != "idle"):
        state = State.WARMING_UP if _is_warming_up(model) else State.PRINTING
        return Condition(state, _BETWEEN.get(status))
    return None


def _is_warming_up(model: Json) -> bool:
    """Whether all of the time so far went into heating."""
    job = duet.job(model)
    duration_s = loose.number(job, "duration") or 0.0
    return duration_s - (loose.number(job, "warmUpDuration") or 0.0) <= 0.0


def _rest_condition(known: KnownState) -> Condition:
    status = duet.status(known.model)
    if status in NO_MACHINE:
        return Condition(None, NO_MACHINE[status])
    if status in ERRORS:
        return Condition(State.ERROR)
    sub_state = _BETWEEN.get(status) or (status if status != "idle" else None)
    match known.ending:
        case Ending.DONE:
            return Condition(State.COMPLETE, sub_state)
        case Ending.CANCELLED:
            return Condition(State.CANCELLED, sub_state)
        case Ending.CLEARED:
            return Condition(State.IDLE, sub_state)


def _ending(known: KnownState, model: Json) -> Ending:
    """Tell how the job ended that was under way before."""
    status = duet.status(model)
    if status in NO_MACHINE or duet.status(known.model) == "simulating":
        return Ending.CLEARED
    if status in ERRORS or loose.text(duet.job(model), "lastFileName") is None:
        return Ending.CLEARED  # a fault ended it, or the board was reset: it was not cancelled
    was_stopping = known.condition.state is State.PAUSED or known.is_cancelling
    left = known.latest.bytes_left
    if was_stopping or _is_reported_cancelled(model) or (left or 0) > READ_AHEAD_BYTES:
        return Ending.CANCELLED
    return Ending.DONE


def _ending_at_rest(known: KnownState, model: Json) -> Ending:
    """Tell how the last job ended, where none was under way at the last poll."""
    job = duet.job(model)
    if duet.status(model) in NO_MACHINE:
        return known.ending
    if loose.text(job, "lastFileName") is None or loose.flag(job, "lastFileSimulated"):
        return Ending.CLEARED
    if known.ending is Ending.CANCELLED or _is_reported_cancelled(model):
        return Ending.CANCELLED
    return Ending.DONE if loose.flag(job, "lastFileCancelled") is not None else known.ending


def _is_reported_cancelled(model: Json) -> bool:
    """Whether the model says that the job was cancelled; only DSF reports it."""
    job = duet.job(model)
    return bool(loose.flag(job, "lastFileCancelled") or loose.flag(job, "lastFileAborted"))


def _latest_of(model: Json, before: Latest) -> Latest:
    job = duet.job(model)
    file = loose.obj(job, "file")
    duration_s = loose.count(job, "duration")
    latest = before._replace(
        name=_base_name(loose.text(file, "fileName")) or before.name,
        duration_s=before.duration_s if duration_s is None else duration_s,
        filament_mm=_filament_mm(file) or before.filament_mm,
        layer=loose.count(job, "layer") or before.layer,
        layers=loose.count(file, "numLayers") or before.layers,
    )
    size, position = loose.size(file, "size"), loose.size(job, "filePosition")
    if not size or position is None:
        return latest
    progress = loose.percent(100.0 * position / size)
    return latest._replace(progress=progress, bytes_left=size - position)


def _is_another_file(model: Json, latest: Latest) -> bool:
    """Whether a job has started the next one (M32 in a file), with no idle state in between."""
    name = _base_name(loose.text(loose.obj(duet.job(model), "file"), "fileName"))
    return bool(name and latest.name) and name != latest.name


def _ended(latest: Latest, model: Json, ending: Ending) -> Latest:
    """Return the latest job, with the facts reported after its end."""
    job = duet.job(model)
    name = _base_name(loose.text(job, "lastFileName")) or latest.name
    duration_s = loose.count(job, "lastDuration") or latest.duration_s
    progress = 100.0 if ending is Ending.DONE else latest.progress
    return latest._replace(name=name, duration_s=duration_s, progress=progress)


def _filament_mm(file: Json) -> int:
    """Return the length over all extruders; 0 where the file doesn't say."""
    return loose.length_mm(map(loose.as_number, loose.items(file, "filament"))) or 0


def _base_name(path: str | None) -> str | None:
    return path.rpartition("/")[2] if path else None
