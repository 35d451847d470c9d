"""Events as the service has stored them, read beside it."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from printreach.contract.events import EventType, PrintEvent
from tests.rigs.service import LinkedPrinter, Service
from tests.rigs.waiting import wait_for

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class StoredEvent:
    event: PrintEvent
    is_handed_out: bool

    @property
    def kind(self) -> EventType:
        return EventType(self.event.event_type)


def stored_events(service: Service, printer: LinkedPrinter) -> list[StoredEvent]:
    """All of a printer, in the order in which they were stored."""
    path = f"{service.env['PRINTREACH_DATA_DIR']}/printreach.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as database:
        rows = database.execute(
            "SELECT content, position FROM events WHERE printer_id = ? ORDER BY seq", (printer.id,)
        ).fetchall()
    decoded = [
        (msgspec.json.decode(content, type=PrintEvent), position) for content, position in rows
    ]
    return [StoredEvent(event, position is not None) for event, position in decoded]


def wait_for_event(
    service: Service, printer: LinkedPrinter, kind: EventType, count: int = 1
) -> None:
    """Until so many of a type were stored and handed out."""

    def look() -> bool:
        found = [kept for kept in stored_events(service, printer) if kept.kind is kind]
        return len(found) >= count and all(kept.is_handed_out for kept in found)

    wait_for(f"{count} event(s) {kind.name}", look, TIMEOUT_S)


def milestones(events: list[StoredEvent]) -> list[EventType]:
    """Without progress, which must only ever grow."""
    progress = [kept.event.progress for kept in events if kept.kind is EventType.PROGRESS]
    assert all(isinstance(one, int) for one in progress)
    tenths = [one // 10 for one in progress if isinstance(one, int)]
    assert all(earlier < later for earlier, later in pairwise(tenths)), tenths
    return [kept.kind for kept in events if kept.kind is not EventType.PROGRESS]
