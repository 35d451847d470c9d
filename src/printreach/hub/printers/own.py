"""A person's own printers, with their present status. Others' are treated as unknown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.status import StatusResult
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import no_such_printer, own_printer
from printreach.hub.printers.live import LiveStatus
from printreach.hub.printers.readings import Reading
from printreach.ports import Notice, Topic
from printreach.rules.printers import OwnedPrinter, Printer, is_online, parse_printer_name
from printreach.store.listings import PrinterRow
from printreach.store.store import Records

OPENING_S: Final = 1.5
"""How long a page waits for printers not asked recently; the rest comes by its event stream."""
EFFECT_S: Final = 3.0
"""How long a page waits for the effect of an order; printers act on most orders within a second."""

JUST: Final = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenPrinter:
    """A printer, whether its agent is connected, its last reading, and the time of its picture."""

    printer: Printer
    is_online: bool
    reading: Reading
    pictured_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnPrinters:
    """The use cases of the dashboard about printers."""

    core: Core
    live: LiveStatus

    async def all(self, account_id: str, *, ask: bool = True) -> list[SeenPrinter]:
        """Return the printers by name.

        ask: first ask those that are online and were not asked recently.
        """
        rows = await self.rows(account_id)
        if ask:
            await self.live.fresh(self._online_among(rows), OPENING_S)
        return self.seen(rows)

    async def rows(self, account_id: str) -> list[PrinterRow]:
        """Return the stored rows of the printers, by name."""
        return await self.core.store.read(
            lambda records: records.printers.rows_of_account(account_id)
        )

    def seen(self, rows: Sequence[PrinterRow]) -> list[SeenPrinter]:
        """Add the latest readings to the rows; no printer is asked."""
        return [self._seen(row) for row in rows]

    async def one(
        self, account_id: str, printer_id: str, *, ask: bool = True
    ) -> SeenPrinter | Denied:
        rows = await self.rows(account_id)
        row = next((row for row in rows if row.printer.printer_id == printer_id), None)
        if row is None:
            return no_such_printer()
        if ask:
            await self.live.fresh(self._online_among([row]), OPENING_S)
        return self._seen(row)

    async def ask_now(self, printer: OwnedPrinter) -> SeenPrinter | Denied:
        """Ask the printer now, however recently it was asked, and return it."""
        await self.live.ask_again(printer, OPENING_S)
        return await self.one(printer.account_id, printer.printer_id, ask=False)

    async def wait_for_effect(
        self, printer: OwnedPrinter, shows_effect: Callable[[StatusResult], bool]
    ) -> StatusResult | None:
        """Wait a moment until the printer's status shows what an order did, and return that status;
        None if none did.
        """

        def is_awaited(reading: Reading) -> bool:
            status = reading.status if reading.refusal is None else None
            return status is not None and shows_effect(status)

        reading = await self.live.ask_until(printer, is_awaited, EFFECT_S)
        return reading.status if is_awaited(reading) else None

    async def rename(self, account_id: str, printer_id: str, typed: str) -> Printer | Denied:
        name = parse_printer_name(typed)
        if name is None:
            return Denied(Reason.INVALID, "A printer's name has 1 to 60 printable characters.")
        at = self.core.clock.now()

        async def rename(records: Records) -> Printer | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Printer):
                await records.printers.rename(printer_id, name)
                await records.notify(Notice(Topic.PRINTER, printer_id), at)
            return printer

        return await self.core.store.write(rename)

    def _online_among(self, rows: Sequence[PrinterRow]) -> list[OwnedPrinter]:
        at = self.core.clock.now()
        return [row.printer.owned for row in rows if is_online(row.printer, row.node_alive_at, at)]

    def _seen(self, row: PrinterRow) -> SeenPrinter:
        printer = row.printer
        reading = self.live.latest(printer.owned)
        at = self.core.clock.now()
        here = is_online(printer, row.node_alive_at, at) or _has_just_answered(reading, at)
        return SeenPrinter(
            printer=printer, is_online=here, reading=reading, pictured_at=row.pictured_at
        )


def _has_just_answered(reading: Reading, at: datetime) -> bool:
    """Return whether the printer answered just now: then it is online, whatever the store said."""
    return (
        reading.refusal is None and reading.seen_at is not None and abs(at - reading.seen_at) < JUST
    )
