"""A printer's card: one state, whatever needs a person first, and readings with their age."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypedDict

from markupsafe import Markup

from printreach.contract.status import DetectorStatus, State, Temps, WebcamEntry
from printreach.contract.unset import UnsetType
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import _
from printreach.languages.values import duration
from printreach.rules.detection.detector import newest_quality, unseen_words
from printreach.rules.detection.scene import UNSEEING_VIEWS
from printreach.rules.printers.cameras import Pose, pose_at, pose_of
from printreach.rules.printers.commands import MAX_BED_C, MAX_CHAMBER_C, MAX_TOOL_C
from printreach.rules.printers.members import Role
from printreach.rules.watch.choices import Look
from printreach.web.printer_state import Alarm, PrinterState, print_times, state_of
from printreach.web.wording import heater, moment

_YOUNG_S: Final = 60.0
_AGE_STEP_S: Final = 5.0


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
    pose: Pose


NO_WEBCAM: Final = Webcam(picture="", state="none", age="", pose=Pose())


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """The data of parts/printer_card.html, where each member is explained."""

    id: str
    name: str
    href: str
    shown: PrinterState
    file: str
    progress: float | None
    time_left_s: int | None
    started_at: datetime | None
    ready_at: datetime | None
    temps: Sequence[Temp]
    webcam: Webcam
    looks: Sequence[Look] | None
    quality: int | None
    look_age: str
    can_pause: bool
    can_resume: bool
    can_stop: bool
    shared_by: str

    @property
    def state(self) -> str:
        return self.shown.badge

    @property
    def attention(self) -> str:
        return self.shown.attention

    @property
    def emphasis(self) -> str:
        return self.shown.emphasis

    @property
    def alarm(self) -> Alarm:
        return self.shown.alarm

    @property
    def sentence(self) -> str:
        return self.shown.sentence


def card_of(seen: SeenPrinter, at: datetime, looks: Sequence[Look] = ()) -> Card:
    """Return the card. looks: the newest at the print under way, oldest first."""
    printer, status, state = seen.printer, seen.reading.status, state_of(seen, at)
    job, times = state.job, print_times(status, seen.reading.seen_at)
    is_running = times is not None and state.is_here
    detector = status.service_status.detector if status is not None and state.is_here else None
    may_control = seen.role.includes(Role.CONTROL)
    is_unlocked = not seen.is_locked_by_owner
    return Card(
        id=printer.printer_id,
        name=printer.name,
        href=f"/printers/{printer.printer_id}",
        shown=state,
        file=_file(state),
        progress=times.progress if times is not None else None,
        time_left_s=times.time_left_s if times is not None and is_running else None,
        started_at=times.started_at if times is not None else None,
        ready_at=times.ready_at if times is not None and is_running else None,
        temps=temps_of(job.current_print.temps) if job is not None and state.is_here else [],
        webcam=webcam_of(seen, 0, state, still=True),
        looks=[look for look in looks if look.view not in UNSEEING_VIEWS]
        if detector is not None and detector.score_history and is_running
        else None,
        quality=newest_quality(detector) if detector is not None else None,
        look_age=_look_age(detector) if detector is not None else "",
        can_pause=may_control and state.badge == State.PRINTING,
        can_resume=may_control and is_unlocked and state.badge == State.PAUSED,
        can_stop=may_control and is_unlocked and is_running,
        shared_by=seen.shared_by,
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
        label=heater(name),
        icon=icon,
        actual=actual,
        target=target,
        maximum=int(maximum),
    )


def webcam_of(seen: SeenPrinter, index: int, state: PrinterState, *, still: bool) -> Webcam:
    """Return a camera of the printer; its picture is served by us."""
    status, base = seen.reading.status, f"/printers/{seen.printer.printer_id}/webcam"
    cameras = status.list_webcams.webcams if status is not None else []
    if not state.is_here:
        return _last_picture(seen)
    if not 0 <= index < len(cameras):
        return NO_WEBCAM
    camera = cameras[index]
    if not camera.enabled:
        return Webcam(picture="", state="off", age="", pose=Pose())
    picture = f"{base}/{'still' if still else 'stream'}?index={index}"
    return Webcam(picture=picture, state="live", age="", pose=pose_of(camera))


def camera_label(camera: WebcamEntry) -> str:
    """Return the label by which a person chooses it."""
    return camera.name if camera.enabled else _("%(name)s, switched off", name=camera.name)


def default_pose(seen: SeenPrinter) -> Pose:
    """Return the pose of the default camera, which takes the pictures of events; unrotated while
    the printer's cameras are unknown.
    """
    status = seen.reading.status
    return pose_at(status.list_webcams.webcams if status is not None else [], 0)


def _last_picture(seen: SeenPrinter) -> Webcam:
    """Return the last picture of its default camera that anybody viewed, with its time."""
    at = seen.pictured_at
    address = f"/printers/{seen.printer.printer_id}/webcam/last"
    return Webcam(
        picture=f"{address}?at={int(at.timestamp())}" if at is not None else "",
        state="gone",
        age=Markup(_("Last picture %(time)s", time=moment(at)))  # noqa: S704 - our own message
        if at is not None
        else "",
        pose=default_pose(seen),
    )


def _file(state: PrinterState) -> str:
    if state.job is None:
        return ""
    name = state.job.current_print.file_name
    if not state.is_here:
        return _("Was printing %(name)s", name=name) if state.is_under_way and name else ""
    return name if state.badge != State.IDLE else ""


def _look_age(detector: DetectorStatus) -> str:
    """Return the age of a look, in steps of some seconds while it is young, so that the page is not
    drawn again every second (scripts let it go on, see times.ts); of one that saw nothing, why.
    """
    if detector.is_suppressed:
        return _("Off for this print")
    if unseen_words(detector):
        return unseen_words(detector)
    since_s = detector.time_since_last_score_sec
    if since_s < _YOUNG_S:
        since_s -= since_s % _AGE_STEP_S
    ago = _("seen %(since_s)s ago", since_s="{}")
    shown = ago.format(duration(since_s)) if since_s >= 1 else _("seen just now")
    return Markup('<span data-age="{}" data-ago="{}">{}</span>').format(int(since_s), ago, shown)
