"""What a printer is: its badge, filter, count, card and title all read this one value.

How far a print has come has one answer for every page, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from printreach.contract.errors import ErrorCode
from printreach.contract.status import (
    AT_WORK,
    UNDER_WAY,
    DetectorStatus,
    JobStatus,
    State,
    StatusResult,
)
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.printers.readings import Reading
from printreach.languages import _, translate
from printreach.languages.values import duration
from printreach.rules.detection.detector import POSSIBLE_FAILURE, is_paused_by_it, newest_quality
from printreach.rules.printers.members import Role
from printreach.store.printers.given_orders import SignedOrder

OFFLINE: Final = "offline"
RECENT_S: Final = 600.0
"""A warning of the detector stays on the pages for this time."""
KNOWN_FOR: Final = timedelta(minutes=2)
"""What a printer answered longer ago tells nothing of now; pages ask once a minute or more."""
_AWAY: Final = frozenset({ErrorCode.PRINTER_NOT_CONNECTED, ErrorCode.PRINTER_TIMED_OUT})

_LONGEST_S = 10 * 365 * 86400
"""A longer time is a printer's mistake."""


class Alarm(StrEnum):
    """What came of the last alarm of failure detection about the print that runs.

    Pages call a low quality a possible failure until there is an alarm; then the alarm says it, or
    its owner has said otherwise, and the quality is a number alone.
    """

    NONE = "none"
    STANDS = "stands"
    DISMISSED = "dismissed"


class Show(StrEnum):
    """The filter of the list."""

    ALL = "all"
    ATTENTION = "attention"
    WORKING = "working"
    OFFLINE = "offline"


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterState:
    """badge: a state of parts/badges.html. attention: "", "needs-you" or "is-broken".

    emphasis, sentence: what is to be said of it. alarm: see Alarm. is_warned: the detector recently
    warned of the print that runs. agent_is_away: its computer is not connected. job: the latest
    that is known, which is old while the printer is offline. What of it shows on a page is in the
    page's own values, so it makes no two states different.
    """

    badge: str
    attention: str = ""
    emphasis: str = ""
    sentence: str = ""
    alarm: Alarm = Alarm.NONE
    is_warned: bool = False
    agent_is_away: bool = False
    job: JobStatus | None = field(default=None, compare=False)

    @property
    def is_here(self) -> bool:
        return self.badge != OFFLINE

    @property
    def is_at_work(self) -> bool:
        return self.badge in AT_WORK

    @property
    def is_under_way(self) -> bool:
        """Whether a print has begun and has not ended, as far as is known."""
        return self.job is not None and self.job.state in UNDER_WAY

    def is_shown(self, show: Show) -> bool:
        """Return whether a filter of the list selects it."""
        match show:
            case Show.ALL:
                return True
            case Show.ATTENTION:
                return bool(self.attention)
            case Show.WORKING:
                return self.is_at_work
            case Show.OFFLINE:
                return not self.is_here


def state_of(seen: SeenPrinter, at: datetime) -> PrinterState:
    """Return what the printer is."""
    reading, badge = seen.reading, badge_of(seen.reading, is_online=seen.is_online)
    job = reading.status.job_status if reading.status is not None else None
    if badge == OFFLINE or reading.status is None:
        emphasis, sentence = _offline_words(seen, at)
        return PrinterState(
            badge=badge,
            emphasis=emphasis,
            sentence=sentence,
            agent_is_away=_is_agent_away(seen),
            job=job,
        )
    return _state_here(seen, reading.status, badge, at)


def badge_of(reading: Reading, *, is_online: bool) -> str:
    """Return the badge. Offline overrides all others, since earlier readings are old."""
    if not is_online or reading.status is None or reading.refusal is not None:
        return OFFLINE
    return reading.status.job_status.state.value


def counts_of(states: Iterable[PrinterState]) -> dict[str, int]:
    """Return how many printers each filter selects, by the values of Show."""
    counted = list(states)
    return {show.value: sum(state.is_shown(show) for state in counted) for show in Show}


def known_state_of(seen: SeenPrinter, at: datetime) -> PrinterState | None:
    """Return what the printer is without asking it; None if its last answer is too old to tell."""
    asked_at = seen.reading.asked_at
    is_recent = asked_at is not None and abs(at - asked_at) < KNOWN_FOR
    return state_of(seen, at) if is_recent or not seen.is_online else None


def count_in_need(printers: Iterable[SeenPrinter], at: datetime) -> int:
    """Return how many printers need somebody, as far as that is known."""
    states = [known_state_of(seen, at) for seen in printers]
    return sum(state is not None and bool(state.attention) for state in states)


# --- helpers --------------------------------------------------------------------------------------


def _state_here(seen: SeenPrinter, status: StatusResult, badge: str, at: datetime) -> PrinterState:
    job, detector = status.job_status, status.service_status.detector
    paused_ago, warned_ago = detector.time_since_last_pause_sec, _warned_ago_s(detector)
    alarm = Alarm.DISMISSED if seen.is_alarm_dismissed else Alarm.NONE
    if job.state is State.ERROR:
        return PrinterState(
            badge=badge,
            attention="is-broken",
            emphasis=_("Error."),
            sentence=job.error or "",
            job=job,
        )
    if paused_ago is not None and is_paused_by_it(detector, job.state):
        quality = newest_quality(detector)
        ago = duration(paused_ago)
        alarm, emphasis = Alarm.STANDS, _("Paused by failure detection")
        sentence = (
            _("%(time)s ago. Look before you resume.", time=ago)
            if quality is None
            else _(
                "%(time)s ago, at quality %(quality)s of 10. Look before you resume.",
                time=ago,
                quality=quality,
            )
        )
    elif job.state is State.PAUSED and seen.pause is not None:
        ago = duration((at - seen.pause.order.at).total_seconds())
        emphasis = _paused_by(seen, seen.pause)
        sentence = _("%(time)s ago. Look before you resume.", time=ago)
        if words := job.sub_state or job.error:
            sentence = f"{sentence} {translate(words)}"
    elif job.state is State.PAUSED:
        emphasis, sentence = (
            _("Paused."),
            job.sub_state or job.error or _("Resume it when you are ready."),
        )
    elif warned_ago is not None and warned_ago < RECENT_S and job.state in AT_WORK:
        alarm, emphasis = Alarm.STANDS, translate(POSSIBLE_FAILURE)
        sentence = _("seen %(time)s ago. Look at the picture.", time=duration(warned_ago))
    else:
        sentence = job.error or job.sub_state or ""
        return PrinterState(badge=badge, sentence=sentence, alarm=alarm, job=job)
    return PrinterState(
        badge=badge,
        attention="needs-you",
        emphasis=emphasis,
        sentence=sentence,
        alarm=alarm,
        is_warned=job.state in AT_WORK,
        job=job,
    )


def _paused_by(seen: SeenPrinter, pause: SignedOrder) -> str:
    """Say who paused it: to the owner by anybody's address, to others by the owner's alone."""
    is_owner = pause.order.person_id == seen.printer.account_id
    if seen.role is not Role.OWNER and not is_owner:
        return _("Paused by another person")
    who = pause.email if seen.role is Role.OWNER else seen.shared_by
    return (
        _("Paused by %(who)s", who=who) if who else _("Paused by somebody whose account is deleted")
    )


def _warned_ago_s(detector: DetectorStatus) -> float | None:
    """Return how long ago it warned; None once its owner has it watch this print no more."""
    return None if detector.is_suppressed else detector.time_since_last_warn_sec


def _is_agent_away(seen: SeenPrinter) -> bool:
    refusal = seen.reading.refusal
    is_refused = refusal is not None and refusal.code in _AWAY
    return (is_refused or not seen.is_online) and not seen.awaits_reconnection


def _offline_words(seen: SeenPrinter, at: datetime) -> tuple[str, str]:
    reading, printer, refusal = seen.reading, seen.printer, seen.reading.refusal
    if seen.awaits_reconnection:
        return _("The service has just restarted."), _(
            "The printer should be back within half a minute."
        )
    if seen.is_online and refusal is not None and refusal.code not in _AWAY:
        return _("Its computer is connected, the printer isn't."), refusal.sentence
    if seen.is_online and reading.status is None:
        return "", _("It has not answered yet.")
    since = printer.disconnected_at or reading.seen_at
    emphasis = (
        _("No contact for %(time)s.", time=duration((at - since).total_seconds())) if since else ""
    )
    was_printing = reading.status is not None and reading.status.job_status.state in UNDER_WAY
    if was_printing:
        return emphasis, _("The print may still be running. It can't be seen or stopped from here.")
    if since:
        return emphasis, _("Check that its computer is switched on and reaches the internet.")
    return emphasis, _("It has not connected yet.")


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintTimes:
    """The progress and times of the print under way.

    progress: 0 to 100. started_at: None if unknown; pauses don't move it. ready_at: the expected
    end; None if unknown, and while the print is paused.
    """

    progress: float
    time_left_s: int | None
    duration_s: int
    started_at: datetime | None
    ready_at: datetime | None


def print_times(status: StatusResult | None, seen_at: datetime | None) -> PrintTimes | None:
    """Return them; None if nothing is printing. seen_at: when the status was read."""
    if status is None or status.job_status.state not in UNDER_WAY:
        return None
    print_ = status.job_status.current_print
    is_paused = status.job_status.state is State.PAUSED
    return PrintTimes(
        progress=print_.progress,
        time_left_s=print_.time_left_sec,
        duration_s=print_.duration_sec,
        started_at=_started_at(status, seen_at),
        ready_at=None if is_paused else _moved(seen_at, print_.time_left_sec),
    )


def _started_at(status: StatusResult, seen_at: datetime | None) -> datetime | None:
    """Return the start that the agent noted, as the history has it; else by the time printed.

    Printers don't count pauses as time printed, so that alone would move the start.
    """
    noted_s, printed_s = (
        status.service_status.print_start_time_sec,
        status.job_status.current_print.duration_sec,
    )
    if seen_at is not None and 0 < noted_s <= seen_at.timestamp():
        return datetime.fromtimestamp(noted_s, UTC)
    return _moved(seen_at, -printed_s)


def _moved(at: datetime | None, by_s: int | None) -> datetime | None:
    if at is None or by_s is None or abs(by_s) >= _LONGEST_S:
        return None
    return at + timedelta(seconds=by_s)
