"""The print history: written from events, read by page, by month and as a whole."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.events import EventType
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_
from printreach.rules.prints.history import (
    ENDED,
    Print,
    PrintResult,
    ReceivedEvent,
    concerns_print,
    observe,
)
from printreach.store.prints import HistoryCursor, PlacedPrint, Tally
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

PAGE_SIZE: Final = 50
EXPORT_AT_ONCE: Final = 500
EVENTS_SHOWN: Final = 30
EVENTS_AT_ONCE: Final = 120
MAX_READS: Final = 10
"""Events of one page are looked for in this many steps; between two of them may lie thousands of
steps of progress."""
MAX_OF_A_PRINTER: Final = 10_000
"""Prints of one printer and account: years of a busy one, half a day of one that floods."""
KEPT_FOR: Final = timedelta(days=5 * 366)
PRUNED_AT_ONCE: Final = 1000
MONTHS: Final = 12


class PrintHistoryWriter:
    """A consumer of events that writes the print history."""

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        event = stored.event
        if not concerns_print(event):
            return
        prints = records.prints
        known = await prints.get(stored.account_id, stored.printer_id, event.print_id)
        printer = None if known else await records.printers.linked(stored.printer_id)
        received = ReceivedEvent(
            account_id=stored.account_id,
            printer_id=stored.printer_id,
            printer_name=printer.name if printer is not None else "",
            event=event,
            received_at=stored.received_at,
            snapshot_id=stored.snapshot_id,
        )
        told = observe(known, received)
        if known is None:
            told = await _among_others(records, told)
        if told != known:
            await prints.put(told)
        if known is None:
            await prints.cut(stored.account_id, stored.printer_id, MAX_OF_A_PRINTER)


async def forget_old_prints(core: Core) -> None:
    """Delete prints that began too long ago. Raises StoreUnavailable."""
    before = core.clock.now() - KEPT_FOR
    while await core.store.write(lambda records: records.prints.prune(before, PRUNED_AT_ONCE)):
        pass


async def _among_others(records: Records, new: Print) -> Print:
    """End the printer's earlier prints, since it prints one at a time.

    A new one is marked as unseen if a later print is known already.
    """
    key = new.account_id, new.printer_id
    await records.prints.give_up_earlier(*key, new.started_at)
    if new.result in ENDED or not await records.prints.has_later(*key, new.started_at):
        return new
    return replace(new, result=PrintResult.UNSEEN)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintPage:
    """A page of prints, newest first. older: where the next page begins; None at the end."""

    prints: Sequence[Print]
    older: HistoryCursor | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventEntry:
    """An event in words for its account. kind: of the event, if this version knows it."""

    stored: StoredEvent
    printer_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EventPage:
    """A page of events, newest first. older: after which seq the next page begins; None at the
    end."""

    entries: Sequence[EventEntry]
    older: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintHistory:
    """The use cases about past prints. Callers have checked whose printer it is."""

    core: Core

    async def page(
        self,
        account_id: str,
        printer_id: str | None,
        before: HistoryCursor | None,
        size: int = PAGE_SIZE,
    ) -> PrintPage:
        """Return a page of prints. printer_id: None for all of the account's printers."""
        found = await self._some(account_id, printer_id, before, size + 1)
        older = found[size - 1].place if len(found) > size else None
        return PrintPage(prints=[placed.print_ for placed in found[:size]], older=older)

    async def one(self, account_id: str, printer_id: str, print_id: str) -> Print | Denied:
        """Return a print that is known."""
        found = await self.core.store.read(
            lambda records: records.prints.get(account_id, printer_id, print_id)
        )
        return found or Denied(Reason.INVALID, N_("There is no such print of this printer."))

    async def everything(self, account_id: str, printer_id: str | None) -> AsyncIterator[Print]:
        """Yield all prints, newest first, read in batches to bound memory."""
        before: HistoryCursor | None = None
        while found := await self._some(account_id, printer_id, before, EXPORT_AT_ONCE):
            for placed in found:
                yield placed.print_
            before = found[-1].place

    async def months(self, account_id: str, printer_id: str | None) -> Sequence[Tally]:
        """Return the last twelve months, including the present one."""
        since = _months_before(self.core.clock.now(), MONTHS - 1)
        return await self.core.store.read(
            lambda records: records.prints.tallies(account_id, printer_id, since)
        )

    async def happened(self, account_id: str, before: int | None = None) -> EventPage:
        """Return a page of events without steps of progress. before: the older of another page."""

        async def look(records: Records) -> EventPage:
            rows = await records.printers.of_account(account_id)
            names = {printer.printer_id: printer.name for printer in rows}
            entries: list[EventEntry] = []
            last = before
            for _ in range(MAX_READS):
                some = await records.events.recent(account_id, EVENTS_AT_ONCE, last)
                for event in some:
                    is_progress = event.event.event_type == EventType.PROGRESS
                    if is_progress or event.printer_id not in names:
                        continue
                    if len(entries) == EVENTS_SHOWN:
                        return EventPage(entries=entries, older=entries[-1].stored.seq)
                    entries.append(EventEntry(stored=event, printer_name=names[event.printer_id]))
                if len(some) < EVENTS_AT_ONCE:
                    return EventPage(entries=entries, older=None)
                last = some[-1].seq
            return EventPage(entries=entries, older=last)

        return await self.core.store.read(look)

    async def _some(
        self, account_id: str, printer_id: str | None, before: HistoryCursor | None, at_most: int
    ) -> Sequence[PlacedPrint]:
        return await self.core.store.read(
            lambda records: records.prints.page(account_id, printer_id, before, at_most)
        )


def _months_before(at: datetime, months: int) -> datetime:
    """Return the first instant of the month that many months ago."""
    first = at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _ in range(months):
        first = (first - timedelta(days=1)).replace(day=1)
    return first
