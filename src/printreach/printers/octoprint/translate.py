"""Translates OctoPrint's messages into the types of the contract.

OctoPrint sends its state twice a second over the push channel (or when it is polled), and events.
The state alone doesn't distinguish a cancelled print from none, so both are kept in KnownState.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple

from printreach.contract.status import (
    NO_FEATURES,
    UNDER_WAY,
    CurrentPrint,
    Feature,
    JobStatus,
    State,
    Temps,
)
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.loose import EMPTY, Json
from printreach.printers.port import View, view_without_firmware
from printreach.rules.prints import Need, NeedKind

from .profile import Profile, materials_of

COMPLETE_PERCENT = 99.9
EVENTS = (
    *("PrintStarted", "PrintPaused", "PrintCancelled", "PrintFailed", "PrintDone"),
    *("FileSelected", "FileDeselected", "Connected"),
    *("FilamentChange", "Waiting"),
)
"""The events that with_event handles."""

_NEEDS = {
    "FilamentChange": Need(kind=NeedKind.FILAMENT, text="The print wants its filament changed."),
    "Waiting": Need(kind=NeedKind.ATTENTION, text="The print waits for a person."),
}
"""OctoPrint has sent M600 or its like, or M0 or its like. It does not say when that is over."""
NEED_SHOWS = 4
"""Messages, of which two come a second."""

_USUAL_TEXTS = frozenset({"Operational", "Printing", "Paused", "Printing from SD"})


class Ending(Enum):
    """The end of the latest print, which OctoPrint's state doesn't always tell."""

    UNKNOWN = auto()
    DONE = auto()
    CANCELLED = auto()
    FAILED = auto()
    CLEARED = auto()  # however it ended, OctoPrint has cleared it since


class Latest(NamedTuple):
    """The latest print, as far as it was seen."""

    name: str = ""
    progress: float = 0.0
    duration_s: int = 0
    filament_mm: int = 0


NO_PRINT = Latest()


class Condition(NamedTuple):
    """state: None while OctoPrint is not connected to the printer."""

    state: State | None
    sub_state: str | None = None
    error: str | None = None


UNKNOWN_CONDITION = Condition(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """now: the latest `current` message, and the condition it told of. temps: the latest
    temperatures, by heater. ending: by what has happened since.

    paused_tool: the number of the tool that the paused print goes on with, where it is known.
    need: what the print last asked for; shown for need_left messages more. was_cleared_early:
    OctoPrint has cleared the print before its end was shown.
    """

    now: Json = field(default_factory=dict)
    condition: Condition = UNKNOWN_CONDITION
    temps: Json = field(default_factory=dict)
    ending: Ending = Ending.UNKNOWN
    ending_words: str | None = None
    latest: Latest = NO_PRINT
    paused_tool: int | None = None
    need: Need | None = None
    need_left: int = 0
    was_cleared_early: bool = False


def with_current(known: KnownState, current: Json, *, assume_cancelled: bool = False) -> KnownState:
    """Return the state after a `current` or `history` message.

    assume_cancelled: OctoPrint has to be asked, which brings no events, and was within reach since
    it was asked before. A print that is gone then was cancelled.
    """
    before = known.condition.state
    temps, left = _newest_temps(current) or known.temps, max(0, known.need_left - 1)
    after = replace(known, now=current, temps=temps, need_left=left)
    state = _condition(after).state
    if state in UNDER_WAY and before not in UNDER_WAY:
        after = replace(after, ending=Ending.UNKNOWN, ending_words=None, latest=NO_PRINT)
        after = replace(after, was_cleared_early=False)
    elif (
        assume_cancelled
        and state is State.IDLE
        and before in UNDER_WAY
        and after.ending is Ending.UNKNOWN
    ):
        after = replace(after, ending=Ending.CANCELLED)
    elif _is_closed(current) or _is_all_done(current):
        after = _cleared(after)
    elif after.was_cleared_early and before not in UNDER_WAY:
        after = _cleared(after)  # its end was shown
    after = replace(after, latest=_latest_of(after, state))
    return replace(after, condition=_condition(after))


def with_event(known: KnownState, kind: str, payload: Json) -> KnownState:
    """Return the state after an event.

    A start shows at once, for a print may be over before the next `current` message. An end shows
    with that message, since OctoPrint still has things to do, or with_end.
    """
    match kind:
        case "FilamentChange" | "Waiting":
            return replace(known, need=_NEEDS[kind], need_left=NEED_SHOWS)
        case "PrintStarted":
            return _with_start(known, payload)
        case "PrintPaused":
            return replace(known, paused_tool=loose.count(loose.obj(payload, "position"), "t"))
        case "PrintDone":
            latest = known.latest._replace(progress=100.0)
            return replace(known, ending=Ending.DONE, ending_words=None, latest=latest)
        case "PrintFailed" if loose.text(payload, "reason") == "error":
            words = loose.text(payload, "error")
            return replace(known, ending=Ending.FAILED, ending_words=words)
        case "PrintCancelled" | "PrintFailed":
            return replace(known, ending=Ending.CANCELLED, ending_words=None)
        case "FileSelected" | "FileDeselected" | "Connected":
            return (
                replace(known, was_cleared_early=True) if has_hidden_end(known) else _cleared(known)
            )
        case _:
            return known


def has_hidden_end(known: KnownState) -> bool:
    """OctoPrint has said how the print ended, and the condition doesn't show it yet."""
    is_known = known.ending not in (Ending.UNKNOWN, Ending.CLEARED)
    return is_known and known.condition.state in UNDER_WAY


def with_end(known: KnownState) -> KnownState:
    """Show the hidden end: where another print begins, no `current` message will show it."""
    return replace(known, condition=_at_rest(known, None))


def _with_start(known: KnownState, payload: Json) -> KnownState:
    """Return the state after the start of a print. payload: its file, as in `current` messages."""
    started = replace(known, ending=Ending.UNKNOWN, ending_words=None, was_cleared_early=False)
    if not known.now:
        return started
    name = loose.text(payload, "name") or ""
    job = loose.obj(known.now, "job")
    if loose.text(loose.obj(job, "file"), "path") != loose.text(payload, "path"):
        job = {"file": payload}
    state: Json = {"text": "Starting", "flags": {"operational": True, "printing": True}}
    now = {**known.now, "state": state, "job": job, "progress": EMPTY}
    started = replace(started, now=now, latest=NO_PRINT._replace(name=name))
    started = replace(started, latest=_latest_of(started, State.WARMING_UP))
    return replace(started, condition=_condition(started))


def _cleared(known: KnownState) -> KnownState:
    return replace(known, ending=Ending.CLEARED, ending_words=None, was_cleared_early=False)


def is_fully_paused(known: KnownState) -> bool:
    """Whether the print is fully paused: OctoPrint ignores a resume while it is pausing."""
    flags = loose.obj(known.now, "state", "flags")
    return bool(loose.flag(flags, "paused")) and not loose.flag(flags, "pausing")


def job_path(known: KnownState) -> str | None:
    """Return the path of the file that is selected or printed."""
    return loose.text(loose.obj(known.now, "job", "file"), "path")


def view_of(
    known: KnownState, profile: Profile, version: str, features: Feature, where: str
) -> View:
    """where: this OctoPrint's address, for messages."""
    condition = known.condition
    if condition.state is None:
        sentence = (
            in_english(
                "%(where)s is not connected to its printer (%(words)s).",
                where=where,
                words=condition.sub_state,
            )
            if condition.sub_state
            else in_english("%(where)s is not connected to its printer.", where=where)
        )
        return view_without_firmware(sentence, version)
    return View(
        trouble=None,
        job=JobStatus(
            state=condition.state,
            sub_state=condition.sub_state,
            error=condition.error,
            current_print=_print_of(known, condition.state, profile),
        ),
        features=features,
        platform_version=version,
        materials=materials_of(known.temps, profile),
        need=known.need if known.need_left else None,
        height_mm=loose.number(known.now, "currentZ"),
    )


def features_of(roles: frozenset[str]) -> Feature:
    """Return what the API key may do; an OctoPrint that names no roles lets it do everything."""
    features = NO_FEATURES
    if "control" in roles or not roles:
        features |= Feature.AXIS_MOVEMENT | Feature.HOMING | Feature.EXTRUSION
        features |= Feature.TEMPERATURE_CONTROL | Feature.AXIS_HOMING
        features |= Feature.SPEED_CONTROL | Feature.FLOW_CONTROL | Feature.FAN_CONTROL
        features |= Feature.EMERGENCY_STOP | Feature.FIRMWARE_RESTART
    if "print" in roles or not roles:
        features |= Feature.PRINT_START
    return features


def targets_of(known: KnownState) -> dict[str, float]:
    """Return the targets in °C of heaters that are on, by OctoPrint's names."""
    targets = {name: loose.number(loose.obj(known.temps, name), "target") for name in known.temps}
    return {name: target for name, target in targets.items() if target}


def _condition(known: KnownState) -> Condition:
    """Return the state and the words that go with it. Source: facts on flags of 1.11.8."""
    state = loose.obj(known.now, "state")
    flags = loose.obj(state, "flags")
    text = loose.text(state, "text") or ""
    error = loose.text(state, "error")
    sub_state = text if text and text not in _USUAL_TEXTS else None
    if _is_closed(known.now):
        if error or "error" in text.lower():
            return Condition(State.ERROR, None, error or text)
        return Condition(None, sub_state)
    if loose.flag(flags, "resuming"):
        return Condition(State.RESUMING)
    if loose.flag(flags, "paused") or loose.flag(flags, "pausing"):
        return Condition(State.PAUSED, sub_state)
    if loose.flag(flags, "printing") or loose.flag(flags, "cancelling"):
        if known.condition.state is State.PAUSED and loose.flag(flags, "cancelling"):
            return Condition(State.PAUSED, sub_state)  # it was not resumed
        # A print that is being cancelled still runs: a new one has to wait for its end.
        has_begun = _seconds(known.now, "printTime") or known.latest.duration_s
        is_printing = has_begun or loose.flag(flags, "finishing")
        return Condition(State.PRINTING if is_printing else State.WARMING_UP, sub_state)
    if not loose.flag(flags, "operational"):
        return Condition(None, sub_state)
    return _at_rest(known, sub_state)


def _at_rest(known: KnownState, sub_state: str | None) -> Condition:
    if _is_all_done(known.now):
        return Condition(State.COMPLETE, sub_state)
    match known.ending:
        case Ending.DONE:
            return Condition(State.COMPLETE, sub_state)
        case Ending.CANCELLED:
            return Condition(State.CANCELLED, sub_state)
        case Ending.FAILED:
            return Condition(State.ERROR, None, known.ending_words or N_("The print failed."))
        case Ending.UNKNOWN | Ending.CLEARED:
            return Condition(State.IDLE, sub_state)


def _is_closed(now: Json) -> bool:
    """There is no connection to the printer, or none that works."""
    flags = loose.obj(now, "state", "flags")
    return bool(loose.flag(flags, "closedOrError") or loose.flag(flags, "error"))


def _is_all_done(now: Json) -> bool:
    return _completion(now) == 100.0


def _newest_temps(current: Json) -> Json:
    """`temps` is a list of what came since the last message; each has a time and heaters."""
    for entry in reversed(loose.items(current, "temps")):
        heaters = {name: heat for name, heat in loose.obj(entry).items() if loose.obj(heat)}
        if heaters:
            return heaters
    return EMPTY


def _latest_of(known: KnownState, state: State | None) -> Latest:
    """Update the latest print.

    Missing values keep their last one, as while a print is cancelled.
    """
    latest, now = known.latest, known.now
    if state not in UNDER_WAY and state is not State.COMPLETE:
        return latest
    completion, duration_s = _completion(now), _seconds(now, "printTime")
    return Latest(
        name=loose.text(loose.obj(now, "job", "file"), "name") or latest.name,
        progress=latest.progress if completion is None else completion,
        duration_s=latest.duration_s if duration_s is None else duration_s,
        filament_mm=_filament_mm(now) or latest.filament_mm,
    )


def _print_of(known: KnownState, state: State, profile: Profile) -> CurrentPrint:
    is_current = state is not State.IDLE
    latest = known.latest
    return CurrentPrint(
        progress=latest.progress if is_current else 0.0,
        duration_sec=latest.duration_s if is_current else 0,
        time_left_sec=_time_left_s(known.now, state),
        file_name=latest.name,
        est_total_fil_used_mm=latest.filament_mm if is_current else 0,
        temps=_temps_of(known.temps, profile),
    )


def _time_left_s(now: Json, state: State) -> int | None:
    """OctoPrint's own estimate, else what the analysis of the file leaves to do."""
    if state not in UNDER_WAY:
        return 0 if state is State.COMPLETE else None
    left = _seconds(now, "printTimeLeft")
    if left is not None:
        return left
    total_s = loose.count(loose.obj(now, "job"), "estimatedPrintTime")
    return None if total_s is None else max(0, total_s - (_seconds(now, "printTime") or 0))


def _completion(now: Json) -> float | None:
    done = loose.number(loose.obj(now, "progress"), "completion")
    if done is None:
        return None
    return 100.0 if done > COMPLETE_PERCENT else loose.percent(done)


def _seconds(now: Json, key: str) -> int | None:
    return loose.count(loose.obj(now, "progress"), key)


def _filament_mm(now: Json) -> int:
    """Return the length over all tools; 0 before the file has been analysed."""
    tools = loose.obj(now, "job", "filament")
    return loose.length_mm(loose.number(tool, "length") for tool in tools.values()) or 0


def _temps_of(temps: Json, profile: Profile) -> Temps:
    bed, hotend, chamber = (loose.obj(temps, name) for name in ("bed", "tool0", "chamber"))
    has_chamber = profile.has_chamber and loose.number(chamber, "actual") is not None
    return Temps(
        bed_actual=loose.number(bed, "actual") or 0.0,
        bed_target=loose.number(bed, "target") or 0.0,
        hotend_actual=loose.number(hotend, "actual") or 0.0,
        hotend_target=loose.number(hotend, "target") or 0.0,
        chamber_actual=(loose.number(chamber, "actual") or 0.0) if has_chamber else UNSET,
        chamber_target=(loose.number(chamber, "target") or 0.0) if has_chamber else UNSET,
    )
