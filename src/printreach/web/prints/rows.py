"""Prints, months, and orders that people gave a printer, as templates show them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from printreach.contract.status import UNDER_WAY, State
from printreach.hub.printers.given_orders import OF_THE_PRINT
from printreach.hub.prints import EventEntry
from printreach.languages import N_, _, translate
from printreach.languages.values import month_in_words
from printreach.rules.addresses import Addresses
from printreach.rules.notifications.words import words_for
from printreach.rules.printers.cameras import UNTURNED, Pose
from printreach.rules.printers.commands import STOP_EVERYTHING
from printreach.rules.prints.history import (
    ENDED,
    Print,
    PrintResult,
    counted_duration_s,
    counted_progress,
)
from printreach.rules.prints.snapshots import KEPT_FOR
from printreach.rules.prints.timelapse import Timelapse
from printreach.store.printers.given_orders import SignedOrder
from printreach.store.prints import HistoryCursor, Tally
from printreach.web.printer_state import PrinterState
from printreach.web.wording import filament_words, size

_STATES: Final = {
    PrintResult.UNDER_WAY: "under-way",
    PrintResult.COMPLETE: "complete",
    PrintResult.CANCELLED: "cancelled",
    PrintResult.FAILED: "error",
    PrintResult.UNSEEN: "",
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)

_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "/pause": N_("Paused"),
        "/resume": N_("Resumed"),
        "/cancel": N_("Stopped"),
        "/start": N_("Started"),
        "/files/upload": N_("Uploaded"),
        "/files/delete": N_("Deleted"),
        "/set-temp": N_("Temperature set"),
        "/move-axis": N_("Moved"),
        "/home": N_("Homed"),
        "/extrude": N_("Filament moved"),
        "/set-light": N_("Light switched"),
        "/adjust": N_("Adjusted"),
        "/emergency-stop": N_("Stopped in an emergency"),
        STOP_EVERYTHING: N_("Everything stopped"),
        "/restart-firmware": N_("Firmware restarted"),
    }
)
_OTHER: Final = N_("Controlled")
"""Of a command that these words don't know."""
_ONE_LINE_WITHIN: Final = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintRow:
    """A print in a list. state: a badge of parts/badges.html, "" if its end is unknown.

    picture: the address of its picture, or "". pose: how that is turned and flipped.
    href, page: of the printer and of this print, "" if the printer has no pages any more. again:
    where to print its file again, "" while it is under way or if the file is not known.
    """

    file: str
    printer: str
    href: str
    page: str
    again: str
    started_at: datetime
    start_is_known: bool
    duration_s: int | None
    state: str
    is_over: bool
    progress: int | None
    error: str
    filament: str
    picture: str
    pose: Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """The figures of prints that began in a month.

    share: of complete ones among those that ended, in percent; None if none ended.
    """

    name: str
    count: int
    share: int | None
    hours: int
    filament: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivityItem:
    """An event in words."""

    title: str
    text: str
    at: datetime
    href: str


def row_of(
    print_: Print,
    at: datetime,
    own_printers: Set[str],
    printer: PrinterState | None = None,
    pose: Pose = UNTURNED,
) -> PrintRow:
    """Return the row. own_printers: those that still have pages. printer: what the printer is now,
    if that is known: the history hears of an end a moment later, and of the progress each 10 %.
    pose: of its default camera.
    """
    has_page = print_.printer_id in own_printers
    ended_at, picture = print_.ended_at, print_.snapshot_id
    is_kept = picture is not None and ended_at is not None and at < ended_at + KEPT_FOR
    return PrintRow(
        file=print_.file_name or _("File not known"),
        printer=print_.printer_name or _("A printer"),
        href=f"/printers/{print_.printer_id}" if has_page else "",
        page=print_path(print_.printer_id, print_.print_id) if has_page else "",
        again=_again(print_) if has_page and ended_at is not None else "",
        started_at=print_.started_at,
        start_is_known=print_.start_is_known,
        duration_s=counted_duration_s(print_),
        state=_state(print_, printer),
        is_over=print_.result is not PrintResult.UNDER_WAY,
        progress=_progress(print_, printer),
        error=print_.error,
        filament=filament_words(print_.filament_mm or 0, print_.filament_mg or 0),
        picture=f"/snapshots/{picture}.jpg" if is_kept else "",
        pose=pose,
    )


def _again(print_: Print) -> str:
    if not print_.file_name:
        return ""
    return f"/printers/{print_.printer_id}/files/again?{urlencode({'name': print_.file_name})}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelapseView:
    """The video of a print.

    href, address: its path and all of its address, "" while it is made. file: its name where it is
    downloaded.
    """

    href: str
    address: str
    file: str
    size: str


def timelapse_view(
    timelapse: Timelapse, print_: Print, addresses: Addresses
) -> TimelapseView | None:
    """Return the video, or that it is being made; None while the print is under way."""
    if print_.result is PrintResult.UNDER_WAY:
        return None
    video_id = timelapse.video_id if timelapse.made_at is not None else None
    name = PurePosixPath(print_.file_name).stem or "print"
    return TimelapseView(
        href="" if video_id is None else f"/timelapses/{video_id}.mp4",
        address="" if video_id is None else addresses.of_timelapse(video_id),
        file=f"{name}.mp4",
        size=size(timelapse.size),
    )


def months_of(tallies: Sequence[Tally]) -> list[Month]:
    """Return the months in the given order, the newest first."""
    by_month = groupby(tallies, key=lambda tally: (tally.year, tally.month))
    return [
        _month(month_in_words(date(year, month, 1)), list(group))
        for (year, month), group in by_month
    ]


def total_of(tallies: Sequence[Tally]) -> Month:
    return _month(_("Last 12 months"), tallies)


def activity_item_of(happened: EventEntry) -> ActivityItem:
    event, printer_id = happened.stored.event, happened.stored.printer_id
    words = words_for(event, happened.printer_name, "")
    return ActivityItem(
        title=words.title,
        text=words.text,
        at=min(_EPOCH + timedelta(seconds=event.event_time_sec), _LATEST),
        href=f"/printers/{printer_id}",
    )


def format_cursor(place: HistoryCursor | None) -> str:
    """Format a cursor for an address; "" if there is nothing more."""
    if place is None:
        return ""
    microseconds = (place.started_at - _EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}-{place.number}"


def parse_cursor(text: str | None) -> HistoryCursor | None:
    """Parse a cursor; an invalid one counts as missing."""
    first, _, second = (text or "").partition("-")
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        return None
    if len(first) > 17 or len(second) > 18:
        return None
    return HistoryCursor(_EPOCH + timedelta(microseconds=int(first)), int(second))


def parse_event_cursor(text: str | None) -> int | None:
    """Parse the place of an event; an invalid one counts as missing."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 18
    return int(text) if text is not None and is_number else None


def _state(print_: Print, printer: PrinterState | None) -> str:
    if print_.result is not PrintResult.UNDER_WAY or printer is None:
        return _STATES[print_.result]
    return "" if printer.badge == State.IDLE else printer.badge


def _progress(print_: Print, printer: PrinterState | None) -> int | None:
    job = printer.job if printer is not None and printer.is_here else None
    if print_.result is not PrintResult.UNDER_WAY or job is None or job.state not in UNDER_WAY:
        return counted_progress(print_)
    return int(job.current_print.progress)


def print_path(printer_id: str, print_id: str) -> str:
    """Return the path of the page of a print."""
    return f"/printers/{printer_id}/history/print?{urlencode({'id': print_id})}"


def _month(name: str, tallies: Sequence[Tally]) -> Month:
    ended = sum(tally.count for tally in tallies if tally.result in ENDED)
    done = sum(tally.count for tally in tallies if tally.result is PrintResult.COMPLETE)
    return Month(
        name=name,
        count=sum(tally.count for tally in tallies),
        share=round(100 * done / ended) if ended else None,
        hours=round(sum(tally.duration_s for tally in tallies) / 3600),
        filament=filament_words(
            sum(tally.filament_mm for tally in tallies), sum(tally.filament_mg for tally in tallies)
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRow:
    """A line: an order that one person repeated at once, such as a move, is one of them.

    Each order that begins, holds or ends a print has its own.
    words: what was ordered, with the file that it is about. who: an address, or words for a person
    whose account is deleted; "" for the person who looks. at: of the last time.
    """

    words: str
    who: str
    at: datetime
    times: int


def order_rows(orders: Sequence[SignedOrder], person_id: str) -> list[OrderRow]:
    """Return the lines for the person who looks. orders: the newest first."""
    rows: list[OrderRow] = []
    for signed in orders:
        row = _row(signed, person_id)
        last = rows[-1] if rows else None
        if (
            last is not None
            and (last.words, last.who) == (row.words, row.who)
            and last.at - row.at <= _ONE_LINE_WITHIN
            and signed.order.command not in OF_THE_PRINT
        ):
            rows[-1] = OrderRow(words=last.words, who=last.who, at=last.at, times=last.times + 1)
        else:
            rows.append(row)
    return rows


def _row(signed: SignedOrder, person_id: str) -> OrderRow:
    order = signed.order
    words = translate(_WORDS.get(order.command, _OTHER))
    if name := order.subject.rpartition("/")[2]:
        words = _("%(order)s %(file)s", order=words, file=name)
    who = "" if order.person_id == person_id else signed.email or _("a deleted account")
    return OrderRow(words=words, who=who, at=order.at, times=1)
