"""Warnings and pauses by the watch: their reasons, in words about its looks, and their events."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.contract.events import MAX_TEXT, EventType, PrintEvent
from printreach.contract.status import StatusResult
from printreach.contract.unset import UNSET
from printreach.languages import N_
from printreach.rules.detection import BAD_QUALITY
from printreach.rules.detection.appearance import FIRST_PICTURES
from printreach.rules.detection.scene import INCOMPARABLE_VIEWS, UNUSABLE_VIEWS, ViewCondition
from printreach.rules.prints import PrintObservation, TrackedPrint
from printreach.rules.prints.event_facts import facts_of
from printreach.rules.safe_text import readable
from printreach.rules.watch.choices import Look

_CLEARLY_LESS: Final = 0.25
"""By this much the first pictures have to look better for them to explain an alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """alarm: the look upon which it was done.

    low_since: when quality fell to where a failure is possible. at_start, at_alarm: how likely each
    picture alone showed a failure, 0 to 1; at_start is None where nothing went before, and
    where it was hardly less than at the alarm, which would explain nothing. change: the
    latest look before the alarm that can't be compared with those before it.
    """

    alarm: Look
    low_since: datetime
    at_start: float | None
    at_alarm: float
    change: Look | None


def latest_alarm(looks: Sequence[Look]) -> Look | None:
    """Return the last look upon which the watch warned or paused."""
    return next((look for look in reversed(looks) if look.warned or look.paused), None)


def why(looks: Sequence[Look]) -> Why | None:
    """Explain the latest alarm; None where there was none. looks: of one print, oldest first."""
    alarm = latest_alarm(looks)
    if alarm is None:
        return None
    before = [look for look in looks if look.at <= alarm.at]
    change = next((look for look in reversed(before) if look.view in INCOMPARABLE_VIEWS), None)
    compared = [look for look in before if change is None or look.at >= change.at]
    first = [look.probability for look in compared if look.view not in UNUSABLE_VIEWS][
        :FIRST_PICTURES
    ]
    at_start = _middle(first) if len(compared) > FIRST_PICTURES and first else None
    if at_start is not None and at_start > alarm.probability - _CLEARLY_LESS:
        at_start = None
    return Why(
        alarm=alarm,
        low_since=_low_since(before),
        at_start=at_start,
        at_alarm=alarm.probability,
        change=change,
    )


def _low_since(before: Sequence[Look]) -> datetime:
    """Return when the run of bad looks that ends with the last one began.

    Blind ones don't end it.
    """
    since = before[-1].at
    for look in reversed(before[:-1]):
        if look.view in UNUSABLE_VIEWS:
            continue
        if look.quality > BAD_QUALITY:
            break
        since = look.at
    return since


def _middle(probabilities: Sequence[float]) -> float:
    """Return the median: one odd image doesn't move it."""
    return sorted(probabilities)[len(probabilities) // 2]


VIEW_WORDS: Final = {
    ViewCondition.CLEAR: "",
    ViewCondition.DARK: N_("It was too dark to see the print."),
    ViewCondition.BLOCKED: N_("The camera was covered."),
    ViewCondition.FROZEN: N_("The camera showed the same picture again and again."),
    ViewCondition.LIGHT_SWITCHED: N_("The light changed."),
    ViewCondition.MOVED: N_("The camera was moved."),
}


def watch_event(
    kind: EventType,
    printer_id: str,
    print_id: str,
    status: StatusResult,
    decided_at: datetime,
    at: datetime,
    error: str = "",
) -> PrintEvent:
    """Make an event of the failure watch.

    decided_at: the time of the look; the same look and kind always give the same event id, so a
    repeated attempt adds none. status: of the printer at that look. error: why a pause failed.
    """
    tracked = TrackedPrint(
        print_id=print_id,
        started_at=status.service_status.print_start_time_sec,
        file_name=status.job_status.current_print.file_name,
        is_under_way=True,
    )
    return PrintEvent(
        event_id=_event_id(kind, printer_id, print_id, decided_at),
        event_type=kind,
        event_time_sec=int(at.timestamp()),
        error=readable(error, MAX_TEXT) or UNSET,
        **facts_of(tracked, PrintObservation(job=status.job_status)),
    )


def _event_id(kind: EventType, printer_id: str, print_id: str, decided_at: datetime) -> str:
    source = f"{int(kind)}\n{printer_id}\n{print_id}\n{decided_at.isoformat()}"
    return f"watch-{hashlib.sha256(source.encode()).hexdigest()[:32]}"
