"""Live Links: a public page of a printer at a secret address, until it ends."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from printreach.contract.app_answers import MAX_LIVE_HOURS, MIN_LIVE_HOURS
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import State
from printreach.contract.unset import UnsetType
from printreach.languages import N_
from printreach.rules.printers import OwnedPrinter, Printer

MAX_LIVE_LINKS = 50
"""The most living Live Links of one printer."""


class LiveEnd(StrEnum):
    """The reasons why a link has ended."""

    TIME = "time"
    PRINT = "print"
    OWNER = "owner"
    PRINTER = "printer"
    """It was removed from the account."""
    APP = "app"
    """The app that asked for it may not see the printer now. Never stored: it is looked up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LastFacts:
    """The print as the page shows it after the link has ended. file_name: "" where unknown."""

    state: State | None = None
    progress: int | None = None
    file_name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveLink:
    """A link as stored.

    live_id, short_id: parts of its two addresses; either of them gives access, so neither can be
    guessed.
    connection_id: the App Connection that asked for it; None where a person did.
    print_id: it ends with that print; "" where it doesn't.
    shows_names: whether the names of the printer and of the file may be seen.
    """

    live_id: str
    short_id: str
    account_id: str
    printer_id: str
    connection_id: str | None
    created_at: datetime
    expires_at: datetime
    print_id: str = ""
    shows_names: bool = False
    ended_at: datetime | None = None
    end: LiveEnd | None = None
    last: LastFacts = LastFacts()

    @property
    def printer(self) -> OwnedPrinter:
        """The printer that it shows, while that belongs to the link's account."""
        return OwnedPrinter(self.printer_id, self.account_id)


def problem_with_hours(hours: int) -> str | None:
    """Return a sentence where this is no valid lifetime of a link."""
    if MIN_LIVE_HOURS <= hours <= MAX_LIVE_HOURS:
        return None
    return N_(
        "A Live Link lives for %(min_live_hours)s to %(max_live_hours)s hours.",
        min_live_hours=MIN_LIVE_HOURS,
        max_live_hours=MAX_LIVE_HOURS,
    )


def expiry(at: datetime, hours: int) -> datetime:
    return at + timedelta(hours=hours)


def end_of(link: LiveLink, at: datetime) -> LiveEnd | None:
    """Return why it has ended; None while it lives. Its last instant is excluded."""
    if link.end is not None:
        return link.end
    return LiveEnd.TIME if at >= link.expires_at else None


def shows_printer(link: LiveLink, printer: Printer | None) -> bool:
    """Whether it is still the printer that the link was made for.

    A printer that was removed and linked again counts as another one, even in the same account.
    """
    return (
        printer is not None
        and printer.account_id == link.account_id
        and printer.linked_at <= link.created_at
    )


def facts_at_end(link: LiveLink, event: PrintEvent) -> LastFacts | None:
    """Return what is known of the link's print once this event tells that it is over.

    None if it doesn't.

    A print that began later tells it too, where the end of the earlier one never came.
    """
    if not link.print_id:
        return None
    if event.print_id != link.print_id:
        is_later = event.event_time_sec >= int(link.created_at.timestamp())
        return LastFacts() if event.event_type == EventType.STARTED and is_later else None
    if event.event_type not in (EventType.COMPLETE, EventType.FAILED):
        return None
    is_complete = event.event_type == EventType.COMPLETE
    was_cancelled = event.error == "cancelled"
    failed = State.CANCELLED if was_cancelled else State.ERROR
    progress = None if isinstance(event.progress, UnsetType) else event.progress
    return LastFacts(
        state=State.COMPLETE if is_complete else failed,
        progress=100 if is_complete else progress,
        file_name="" if isinstance(event.file_name, UnsetType) else event.file_name,
    )
