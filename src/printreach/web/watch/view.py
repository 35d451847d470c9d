"""The failure watch of a print, as the pages of a printer show it.

Open pages read it from the store at intervals: see WatchedView.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from printreach.contract.app_answers import WatchState, WatchStatus
from printreach.contract.status import DetectorStatus, StatusResult, WebcamEntry
from printreach.hub.denied import Denied
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.watch.prints import WatchOfPrint
from printreach.rules.detection.detector import (
    DetectorOff,
    newest_quality,
    not_watching,
    unseen_words,
    watch_status,
)
from printreach.rules.detection.scene import UNSEEING_VIEWS
from printreach.rules.printers.cameras import Pose, pose_at
from printreach.rules.prints.snapshots import KEPT_FOR
from printreach.rules.watch import is_silenced
from printreach.rules.watch.choices import Look, WatchSettings
from printreach.rules.watch.why import VIEW_WORDS, Why, why
from printreach.web.printers.view import PrinterView
from printreach.web.services import Services
from printreach.web.watch.chart import EvidenceMap, QualityChart, evidence_map, quality_chart

LOOKED_UP_EVERY: Final = timedelta(seconds=5)
"""The watch itself looks no more often."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPicture:
    """A picture and its evidence. is_mapped: the evidence is still stored. shows_print: it was not
    dark, covered or frozen. pose: its orientation.
    """

    address: str
    at: datetime
    evidence: EvidenceMap | None
    is_mapped: bool
    shows_print: bool
    pose: Pose


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchView:
    """The data of parts/watch.html and of a print's chart.

    words: its state in one line. quality: None if unknown. cannot_see: why the latest look
    gave none, or "". view_note: what else was odd about it, or "". alarm: the latest look that
    warned or paused. why: its reasons, where they are shown. picture: the one that they are about,
    else the latest. was_failure: the owner's judgement of the alarm; None if there is none yet.
    is_silenced: it keeps this print, which goes on, from being warned of.
    off: why this service watches no prints, or ""; is_on: whether it watches those of this
    printer. has_camera: whether the printer has a camera for it.
    """

    print_id: str
    words: str
    quality: int | None
    off: str
    is_on: bool
    has_camera: bool
    is_off_for_print: bool
    may_pause: bool
    keeps_frames: bool
    cannot_see: str
    view_note: str
    chart: QualityChart | None
    picture: SeenPicture | None
    alarm: Look | None
    why: Why | None
    change_note: str
    was_failure: bool | None
    is_silenced: bool
    tells_nobody: bool


def watch_view(
    watch: WatchOfPrint,
    printer_path: str,
    status: StatusResult | None,
    chart: QualityChart | None,
    at: datetime,
    *,
    has_latest: bool = False,
) -> WatchView:
    """Return the view. status: the printer's while this print runs; None if it is over or the
    printer offline. has_latest: the latest picture is shown once an alarm was judged.
    """
    settings, reason = watch.settings, why(watch.looks)
    explained = None if has_latest and _answer(watch) is not None else reason
    line = _line(watch, status)
    unseen = "" if status is None else unseen_words(status.service_status.detector)
    return WatchView(
        print_id=watch.print_id,
        words=line.status,
        quality=_quality(line, status),
        off=why_off(watch.off),
        is_on=watch.off is None and settings.enabled,
        has_camera=_has_camera(watch, status),
        is_off_for_print=_is_left_alone(watch),
        may_pause=settings.pauses is not None,
        keeps_frames=settings.keeps_frames,
        cannot_see=unseen,
        view_note="" if unseen or watch.last is None else VIEW_WORDS[watch.last.look.view],
        chart=chart,
        picture=_picture(watch, printer_path, status, at, explained, has_latest=has_latest),
        alarm=None if reason is None else reason.alarm,
        why=explained,
        change_note=VIEW_WORDS[explained.change.view] if explained and explained.change else "",
        was_failure=_answer(watch),
        is_silenced=status is not None and _answer(watch) is False and is_silenced(watch.looks, at),
        tells_nobody=watch.tells_nobody,
    )


def why_off(off: DetectorOff | None) -> str:
    """Return why failure detection is off, without a full stop; "" if it runs."""
    return "" if off is None else off.value


def gives_pictures(cameras: Sequence[WebcamEntry], chosen: int | None) -> bool:
    """Whether the chosen camera, or the default one, is there and switched on."""
    index = chosen or 0
    return 0 <= index < len(cameras) and cameras[index].enabled


def format_time(at: datetime) -> str:
    """Format a time for an address."""
    return str((at - _EPOCH) // _MICROSECOND)


def parse_time(text: str) -> datetime | None:
    """Parse a time in an address; None if it is invalid."""
    if not (text.isascii() and text.isdigit() and len(text) <= 17):
        return None
    return _EPOCH + int(text) * _MICROSECOND


# --- helpers --------------------------------------------------------------------------------------


def _line(watch: WatchOfPrint, status: StatusResult | None) -> WatchStatus:
    state = None if status is None else status.job_status.state
    detector = DetectorStatus() if status is None else status.service_status.detector
    if watch.off is not None:
        return not_watching(watch.off)
    if not watch.settings.enabled:
        return watch_status(None, state, is_enabled=False)
    if _is_left_alone(watch):
        return watch_status(DetectorStatus(is_suppressed=True), state)
    # The watch was just switched on again, so an earlier suppressed status is outdated.
    return watch_status(_unsuppressed(detector), state, has_camera=_has_camera(watch, status))


def _has_camera(watch: WatchOfPrint, status: StatusResult | None) -> bool:
    """Whether there is a camera to look through; assumed while the printer can't be asked."""
    return status is None or gives_pictures(status.list_webcams.webcams, watch.settings.camera)


def _unsuppressed(status: DetectorStatus) -> DetectorStatus:
    return DetectorStatus() if status.is_suppressed else status


def _quality(line: WatchStatus, status: StatusResult | None) -> int | None:
    if status is None or line.state not in (WatchState.ACTIVE, WatchState.PAUSED):
        return None
    return newest_quality(_unsuppressed(status.service_status.detector))


def _is_left_alone(watch: WatchOfPrint) -> bool:
    return bool(watch.print_id) and watch.settings.off_for_print == watch.print_id


def _answer(watch: WatchOfPrint) -> bool | None:
    """Return the owner's judgement of the latest alarm; None if there is none yet."""
    judged, alarm = watch.judgement, watch.alarm
    if judged is None or (alarm is not None and judged.at < alarm.look.at):
        return None
    return judged.was_failure


def _picture(
    watch: WatchOfPrint,
    printer_path: str,
    status: StatusResult | None,
    at: datetime,
    explained: Why | None,
    *,
    has_latest: bool,
) -> SeenPicture | None:
    """Return the picture that the explanation is about; without one, that of the latest look.

    A picture stored with a judgement is kept longer than others.
    """
    seen = watch.last
    if explained is not None:
        alarm = watch.alarm
        seen = alarm if alarm is not None and alarm.look.at == explained.alarm.at else None
    judged, query = watch.judgement, {"print": watch.print_id}
    is_judged = not has_latest and _answer(watch) is not None
    if is_judged and judged is not None and judged.picture is not None:
        address = f"{printer_path}/detector/judged?{urlencode(query)}"
        taken_at = judged.at if seen is None else seen.look.at
    elif seen is not None and seen.picture is not None and at < seen.look.at + KEPT_FOR:
        query["at"] = format_time(seen.look.at)
        address, taken_at = f"{printer_path}/detector/picture?{urlencode(query)}", seen.look.at
    else:
        return None
    shows_print = seen is not None and seen.look.view not in UNSEEING_VIEWS
    evidence = evidence_map(seen.evidence) if seen is not None and shows_print else None
    through = judged if seen is None else seen
    camera = None if through is None else through.camera
    cameras = [] if status is None else status.list_webcams.webcams
    return SeenPicture(
        address=address,
        at=taken_at,
        evidence=evidence,
        is_mapped=seen is not None,
        shows_print=shows_print,
        pose=pose_at(cameras, camera or 0),
    )


@dataclass(slots=True)
class WatchedView:
    """The failure watch of a printer, for its open page.

    shown: the data drawn last; nothing once the printer belongs to another account.

    The store is read again after LOOKED_UP_EVERY, and when another print runs.
    """

    services: Services
    account_id: str
    shown: WatchView | None = None
    _of: str = ""
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter, view: PrinterView) -> None:
        """Bring `shown` up to date."""
        at, status = self.services.clock.now(), _last_of_print(view, seen)
        print_id = view.print_id if status is not None else ""
        if self._of == print_id and self._is_recent(at):
            return
        self._of, self._at = print_id, at
        watch = await self.services.watched_prints.of_print(
            self.account_id, seen.printer.printer_id, print_id
        )
        if isinstance(watch, Denied):
            nothing = WatchSettings(enabled=False)
            watch = WatchOfPrint(print_id="", settings=nothing, off=DetectorOff.SWITCHED_OFF)
        chart = quality_chart(
            watch.looks,
            begins_at=view.card.started_at,
            ends_at=at if view.is_here else None,
            progress=view.card.progress or 0.0,
        )
        now = status if view.is_here else None
        self.shown = watch_view(watch, view.card.href, now, chart, at, has_latest=True)

    def forget(self) -> None:
        """Read the store again at the next look."""
        self._at = None

    def _is_recent(self, at: datetime) -> bool:
        return self._at is not None and abs(at - self._at) < LOOKED_UP_EVERY


def _last_of_print(view: PrinterView, seen: SeenPrinter) -> StatusResult | None:
    """Return the last status of the current print; nothing is shown here of one that is over."""
    return seen.reading.status if view.card.progress is not None else None
