"""The history of prints, from events that arrive in any order, twice, or never.

`observe` takes one event after the other. Whatever the order, the same events make the same print.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from printreach.contract.events import EventType, PrintEvent
from printreach.contract.unset import UNSET, UnsetType

CANCELLED: Final = "cancelled"
"""The error of a failed print that somebody stopped."""
_SAYS_NOTHING: Final = frozenset(
    {EventType.NOTIFICATION_LIMIT_REACHED, EventType.BED_COOLED_DOWN, EventType.TEST}
)
_ENDS: Final = frozenset({EventType.COMPLETE, EventType.FAILED})
_SOON: Final = timedelta(days=1)
"""The time by which an agent's clock may be ahead; a larger difference means that it is wrong."""


class PrintResult(StrEnum):
    """The ways in which a print ended, as far as is known."""

    UNDER_WAY = "underway"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNSEEN = "unseen"
    """Another print began, and no end of this one was received."""


ENDED: Final = frozenset({PrintResult.COMPLETE, PrintResult.CANCELLED, PrintResult.FAILED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Print:
    """A print of an account's printer. printer_name: what the printer was called then.

    start_is_known: otherwise started_at is the earliest time that follows from the events.
    heard_at: the time of the newest event. progress: in percent, None while unknown.
    error: of a failed one, in the printer's words. snapshot_id: a picture of its end.
    """

    account_id: str
    printer_id: str
    print_id: str
    printer_name: str
    file_name: str = ""
    started_at: datetime
    start_is_known: bool = False
    heard_at: datetime
    ended_at: datetime | None = None
    duration_s: int | None = None
    progress: int | None = None
    result: PrintResult = PrintResult.UNDER_WAY
    error: str = ""
    filament_mm: int | None = None
    filament_mg: int | None = None
    snapshot_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceivedEvent:
    """An event, and what the service knows beside it."""

    account_id: str
    printer_id: str
    printer_name: str
    event: PrintEvent
    received_at: datetime
    snapshot_id: str | None = None


def concerns_print(event: PrintEvent) -> bool:
    return bool(event.print_id) and event.event_type not in _SAYS_NOTHING


def observe(known: Print | None, received: ReceivedEvent) -> Print:
    """Return the print after one more event of it; the same where it tells nothing new."""
    event, at = received.event, _event_time(received)
    started_at, start_is_known = _start(event, at)
    if known is None:
        known = Print(
            account_id=received.account_id,
            printer_id=received.printer_id,
            print_id=event.print_id,
            printer_name=received.printer_name,
            started_at=started_at,
            start_is_known=start_is_known,
            heard_at=at,
        )
    updated = replace(
        known,
        file_name=known.file_name or _given(event.file_name, ""),
        heard_at=max(known.heard_at, at),
        progress=_most(known.progress, event.progress),
        filament_mm=_most(known.filament_mm, event.filament_used_mm),
        filament_mg=_most(known.filament_mg, event.filament_used_mg),
    )
    if (start_is_known, -started_at.timestamp()) > (
        known.start_is_known,
        -known.started_at.timestamp(),
    ):
        updated = replace(updated, started_at=started_at, start_is_known=start_is_known)
    if event.event_type in _ENDS:
        return _ended(updated, received, at)
    return updated


def counted_duration_s(print_: Print) -> int | None:
    """Return how long it took: as its printer said, else from start to end.

    None while it isn't known.
    """
    if print_.duration_s is not None:
        return print_.duration_s
    if print_.ended_at is None or not print_.start_is_known:
        return None
    return max(0, int((print_.ended_at - print_.started_at).total_seconds()))


def counted_progress(print_: Print) -> int | None:
    """Return the progress in percent: 100 for a completed print, whatever was reported before."""
    return 100 if print_.result is PrintResult.COMPLETE else print_.progress


def _ended(print_: Print, received: ReceivedEvent, at: datetime) -> Print:
    """End a print; it ends once, and of two such events the later one is right."""
    event = received.event
    if print_.ended_at is not None and (print_.ended_at, print_.result) >= (at, _result_of(event)):
        return print_
    result = _result_of(event)
    is_fault = result is PrintResult.FAILED
    return replace(
        print_,
        ended_at=at,
        result=result,
        duration_s=None if isinstance(event.duration_sec, UnsetType) else event.duration_sec,
        error=_given(event.error, "") if is_fault else "",
        snapshot_id=received.snapshot_id,
    )


def _result_of(event: PrintEvent) -> PrintResult:
    if event.event_type == EventType.COMPLETE:
        return PrintResult.COMPLETE
    return PrintResult.CANCELLED if event.error == CANCELLED else PrintResult.FAILED


def _event_time(received: ReceivedEvent) -> datetime:
    """Return what the agent says, where it can be; else when it came."""
    sent_at = _instant(received.event.event_time_sec)
    return sent_at if sent_at <= received.received_at + _SOON else received.received_at


def _start(event: PrintEvent, at: datetime) -> tuple[datetime, bool]:
    """Return when the print began by this event, and whether the event says so."""
    if event.print_started_at_sec is not UNSET and event.print_started_at_sec > 0:
        started_at = _instant(event.print_started_at_sec)
        if started_at <= at:
            return started_at, True
    if event.event_type == EventType.STARTED:
        return at, True
    if isinstance(event.duration_sec, UnsetType):
        return at, False
    seconds = min(event.duration_sec, int(at.timestamp()))
    return at - timedelta(seconds=seconds), False


def _instant(unix_s: int) -> datetime:
    return datetime.fromtimestamp(unix_s, UTC)


def _given(text: str | UnsetType, otherwise: str) -> str:
    return otherwise if isinstance(text, UnsetType) else text


def _most(known: int | None, reported: int | UnsetType) -> int | None:
    """Progress and filament only grow, so the order of events does not matter."""
    if isinstance(reported, UnsetType):
        return known
    return reported if known is None else max(known, reported)


Cell: TypeAlias = "str | int | None"

COLUMNS: Final = (
    *("Printer", "PrinterId", "PrintId", "FileName", "StartedAt", "StartIsKnown", "EndedAt"),
    *("DurationSec", "Result", "ProgressPercent", "FilamentMm", "FilamentMg", "Error"),
)
_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""Characters that begin a formula in spreadsheets."""


def cells_of(print_: Print) -> Sequence[Cell]:
    """In the order of COLUMNS."""
    return (
        print_.printer_name,
        print_.printer_id,
        print_.print_id,
        print_.file_name,
        _time(print_.started_at),
        "yes" if print_.start_is_known else "no",
        None if print_.ended_at is None else _time(print_.ended_at),
        counted_duration_s(print_),
        print_.result.value,
        counted_progress(print_),
        print_.filament_mm,
        print_.filament_mg,
        print_.error or None,
    )


def csv_head() -> str:
    return _line(COLUMNS)


def csv_line(print_: Print) -> str:
    """Format a line by RFC 4180. A text that begins like a formula gets an apostrophe before it."""
    return _line([_harmless(cell) for cell in cells_of(print_)])


def json_line(print_: Print) -> str:
    """Format an object, without a line's end."""
    return json.dumps(dict(zip(COLUMNS, cells_of(print_), strict=True)), ensure_ascii=False)


def _harmless(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    is_formula = cell.lstrip(" \u00a0\u3000\ufeff").startswith(_STARTS_A_FORMULA)
    return f"'{cell}" if is_formula else cell


def _line(cells: Sequence[Cell]) -> str:
    return ",".join(_quoted(cell) for cell in cells) + "\r\n"


def _quoted(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int):
        return str(cell)
    return '"' + cell.replace("\0", "").replace('"', '""') + '"'


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
