"""A printer's card: one state, whatever needs a person first, and readings with their age."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypedDict

from markupsafe import Markup

from printreach.contract.errors import ErrorCode
from printreach.contract.status import AT_WORK, UNDER_WAY, State, StatusResult, Temps, WebcamEntry
from printreach.contract.unset import UnsetType
from printreach.hub.printers.own import SeenPrinter
from printreach.rules.detection.detector import is_paused_by_it
from printreach.rules.printers.commands import MAX_BED_C, MAX_CHAMBER_C, MAX_TOOL_C
from printreach.web.printers.materials import Look, looks_of, newest_quality
from printreach.web.wording import duration, moment

OFFLINE: Final = "offline"
RECENT_S: Final = 600.0
"""A warning of the detector stays on the card for this time."""
_YOUNG_S: Final = 60.0
_AGE_STEP_S: Final = 5.0
_AWAY: Final = frozenset({ErrorCode.PRINTER_NOT_CONNECTED, ErrorCode.PRINTER_TIMED_OUT})


class Temp(TypedDict):
    """The type `temp` of the templates. name: of the field that heats it. icon: a name in the
    sprite. maximum: the highest target, in °C.
    """

    name: str
    label: str
    icon: str
    actual: float
    target: float
    maximum: int


class Webcam(TypedDict):
    """state: live, stale, gone or none. picture: its address, or "" if there is none.

    age: the label's text, markup if it contains a time.
    """

    picture: str
    state: str
    age: str
    flip_h: bool
    flip_v: bool
    rotation: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CardText:
    """The text of a card. attention: "", "needs-you" or "is-broken"."""

    attention: str = ""
    emphasis: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """The data of parts/printer_card.html, where each member is explained."""

    id: str
    name: str
    href: str
    state: str
    file: str
    sentence: str
    emphasis: str
    attention: str
    progress: float | None
    time_left_s: int | None
    ready_at: datetime | None
    temps: Sequence[Temp]
    webcam: Webcam
    looks: Sequence[Look] | None
    quality: int | None
    look_age: str
    can_pause: bool
    can_resume: bool
    can_stop: bool


def state_of(seen: SeenPrinter) -> str:
    """Return the state to show. Offline overrides all others, since earlier readings are old."""
    reading = seen.reading
    if not seen.is_online or reading.status is None or reading.refusal is not None:
        return OFFLINE
    return reading.status.job_status.state.value


def is_warned(seen: SeenPrinter) -> bool:
    """Return whether the detector recently warned of a print that still runs."""
    status = seen.reading.status
    if status is None or state_of(seen) not in AT_WORK:
        return False
    warned_ago = status.service_status.detector.time_since_last_warn_sec
    return warned_ago is not None and warned_ago < RECENT_S


def card_of(seen: SeenPrinter, at: datetime) -> Card:
    printer, status, state = seen.printer, seen.reading.status, state_of(seen)
    job = status.job_status if status is not None else None
    print_ = job.current_print if job is not None and job.state in UNDER_WAY else None
    text = _text_of(seen, state, at)
    here = state != OFFLINE
    detector = status.service_status.detector if status is not None and here else None
    return Card(
        id=printer.printer_id,
        name=printer.name,
        href=f"/printers/{printer.printer_id}",
        state=state,
        file=_file(status, state),
        sentence=text.sentence,
        emphasis=text.emphasis,
        attention=text.attention,
        progress=print_.progress if print_ is not None else None,
        time_left_s=print_.time_left_sec if print_ is not None and here else None,
        ready_at=_ready_at(seen) if print_ is not None and here else None,
        temps=temps_of(job.current_print.temps) if job is not None and here else [],
        webcam=webcam_of(seen, 0, still=True),
        looks=looks_of(detector) if detector is not None and print_ is not None else None,
        quality=newest_quality(detector) if detector is not None else None,
        look_age=_look_age(detector.time_since_last_score_sec, detector.is_suppressed)
        if detector is not None
        else "",
        can_pause=state == State.PRINTING,
        can_resume=state == State.PAUSED,
        can_stop=here and print_ is not None,
    )


def temps_of(temps: Temps) -> list[Temp]:
    """Return hotend and bed, and the chamber if it is reported."""
    hotend = _temp("hotend", "nozzle", temps.hotend_actual, temps.hotend_target, MAX_TOOL_C)
    bed = _temp("bed", "heat", temps.bed_actual, temps.bed_target, MAX_BED_C)
    if isinstance(temps.chamber_actual, UnsetType):
        return [hotend, bed]
    target = 0.0 if isinstance(temps.chamber_target, UnsetType) else temps.chamber_target
    return [hotend, bed, _temp("chamber", "chamber", temps.chamber_actual, target, MAX_CHAMBER_C)]


def _temp(name: str, icon: str, actual: float, target: float, maximum: float) -> Temp:
    return Temp(
        name=name,
        label=name.capitalize(),
        icon=icon,
        actual=actual,
        target=target,
        maximum=int(maximum),
    )


def webcam_of(seen: SeenPrinter, index: int, *, still: bool) -> Webcam:
    """Return a camera of the printer; its picture is served by us."""
    status, base = seen.reading.status, f"/printers/{seen.printer.printer_id}/webcam"
    cameras = status.list_webcams.webcams if status is not None else []
    if state_of(seen) == OFFLINE:
        return _last_picture(seen, cameras)
    if not 0 <= index < len(cameras):
        return Webcam(picture="", state="none", age="", flip_h=False, flip_v=False, rotation=0)
    camera = cameras[index]
    if not camera.enabled:
        return Webcam(picture="", state="off", age="", flip_h=False, flip_v=False, rotation=0)
    picture = f"{base}/{'still' if still else 'stream'}?index={index}"
    return Webcam(
        picture=picture,
        state="live",
        age="",
        flip_h=camera.flip_h,
        flip_v=camera.flip_v,
        rotation=quarters_of(camera),
    )


def camera_label(camera: WebcamEntry) -> str:
    """Return the label by which a person chooses it."""
    return camera.name if camera.enabled else f"{camera.name}, switched off"


def _last_picture(seen: SeenPrinter, cameras: Sequence[WebcamEntry]) -> Webcam:
    """Return the last picture of its default camera that anybody viewed, with its time."""
    at, camera = seen.pictured_at, cameras[0] if cameras else None
    address = f"/printers/{seen.printer.printer_id}/webcam/last"
    return Webcam(
        picture=f"{address}?at={int(at.timestamp())}" if at is not None else "",
        state="gone",
        age=Markup("Last picture {}").format(moment(at)) if at is not None else "",
        flip_h=camera is not None and camera.flip_h,
        flip_v=camera is not None and camera.flip_v,
        rotation=0 if camera is None else quarters_of(camera),
    )


def quarters_of(camera: WebcamEntry) -> int:
    """Return the rotation in quarters; other angles that a printer reports are ignored."""
    return camera.rotation if camera.rotation in (90, 180, 270) else 0


def _text_of(seen: SeenPrinter, state: str, at: datetime) -> CardText:
    status = seen.reading.status
    if state == OFFLINE or status is None:
        return _offline_text(seen, at)
    job, detector = status.job_status, status.service_status.detector
    paused_ago, warned_ago = detector.time_since_last_pause_sec, detector.time_since_last_warn_sec
    if job.state is State.ERROR:
        return CardText(attention="is-broken", emphasis="Error.", sentence=job.error or "")
    if paused_ago is not None and is_paused_by_it(detector, job.state):
        quality = newest_quality(detector)
        seen_then = f", at quality {quality} of 10" if quality is not None else ""
        when = f"{duration(paused_ago)} ago{seen_then}. Look before you resume."
        return CardText(
            attention="needs-you", emphasis="Paused by failure detection", sentence=when
        )
    if job.state is State.PAUSED:
        detail = job.sub_state or job.error or "It waits for you."
        return CardText(attention="needs-you", emphasis="Paused.", sentence=detail)
    if warned_ago is not None and is_warned(seen):
        when = f"seen {duration(warned_ago)} ago. Look at the picture."
        return CardText(attention="needs-you", emphasis="Possible failure", sentence=when)
    return CardText(sentence=job.error or job.sub_state or "")


def _offline_text(seen: SeenPrinter, at: datetime) -> CardText:
    reading, printer = seen.reading, seen.printer
    refusal = reading.refusal
    if seen.is_online and refusal is not None and refusal.code not in _AWAY:
        return CardText(
            emphasis="Its computer is here, the printer isn't.", sentence=refusal.sentence
        )
    if seen.is_online and reading.status is None:
        return CardText(sentence="It has not answered yet.")
    since = printer.disconnected_at or reading.seen_at
    emphasis = f"No contact for {duration((at - since).total_seconds())}." if since else ""
    was_printing = reading.status is not None and reading.status.job_status.state in UNDER_WAY
    if was_printing:
        sentence = "The print may still be running. It can't be seen or stopped from here."
    elif since:
        sentence = "Check that its computer is switched on and reaches the internet."
    else:
        sentence = "It has not connected yet."
    return CardText(emphasis=emphasis, sentence=sentence)


def _file(status: StatusResult | None, state: str) -> str:
    if status is None:
        return ""
    job = status.job_status
    name = job.current_print.file_name
    if state == OFFLINE:
        return f"Was printing {name}" if job.state in UNDER_WAY and name else ""
    return name if job.state is not State.IDLE else ""


def _ready_at(seen: SeenPrinter) -> datetime | None:
    reading = seen.reading
    if reading.status is None or reading.seen_at is None:
        return None
    left_s = reading.status.job_status.current_print.time_left_sec
    if left_s is None or not 0 <= left_s < 10 * 365 * 86400:
        return None
    return reading.seen_at + timedelta(seconds=left_s)


def _look_age(since_s: float, suppressed: bool) -> str:
    """Return the age of a look, in steps of some seconds while it is young, so that the page is not
    drawn again every second.
    """
    if suppressed:
        return "Off for this print"
    if since_s < _YOUNG_S:
        since_s -= since_s % _AGE_STEP_S
    return f"seen {duration(since_s)} ago" if since_s >= 1 else "seen just now"
