"""Events of the failure watch: a print may be failing, or was paused because of it."""

import hashlib
from datetime import datetime

from printreach.contract.events import MAX_TEXT, EventType, PrintEvent
from printreach.contract.status import StatusResult
from printreach.contract.unset import UNSET
from printreach.rules.event_facts import facts_of
from printreach.rules.prints import PrintObservation, TrackedPrint
from printreach.rules.safe_text import readable


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
    told = f"{int(kind)}\n{printer_id}\n{print_id}\n{decided_at.isoformat()}"
    return f"watch-{hashlib.sha256(told.encode()).hexdigest()[:32]}"
