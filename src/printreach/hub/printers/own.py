"""A person's printers, with their present status: their own, and those shared with them.

Others' are treated as unknown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.cameras import MAX_CAMERA_CHOICES, CameraChoice
from printreach.contract.status import StatusResult
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers import BAD_NAME, no_such_printer, own_printer, rename_printer
from printreach.hub.printers.access import AdmittedPrinter, admitted_printer
from printreach.hub.printers.live import FRESH, LiveStatus
from printreach.hub.printers.readings import (
    Reading,
    is_alarm_dismissed,
    reading_as_chosen,
    reading_without_alarm,
)
from printreach.languages import N_
from printreach.ports import Notice, Topic
from printreach.rules.printers import (
    OwnedPrinter,
    Printer,
    Restart,
    awaits_reconnection,
    is_online,
    parse_printer_name,
)
from printreach.rules.printers.cameras import put_choices
from printreach.rules.printers.members import Role, is_visit_stored
from printreach.store.listings import PrinterRow
from printreach.store.printers.given_orders import SignedOrder
from printreach.store.store import Records

OPENING_S: Final = 1.5
"""How long a page waits for printers not asked recently; the rest comes by its event stream."""
EFFECT_S: Final = 3.0
"""How long a page waits for the effect of an order; printers act on most orders within a second."""

TOO_MANY_CAMERAS: Final = N_(
    "You can set names and rotations for up to %(max_camera_choices)s cameras of a printer.",
    max_camera_choices=MAX_CAMERA_CHOICES,
)
JUST: Final = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenPrinter:
    """A printer, whether its agent is connected, its last reading, and the time of its picture.

    role: of the person who sees it. shared_by: the owner's address where that is somebody else.
    is_locked_by_owner: somebody else owns it, and has locked remote control.
    awaits_reconnection: the service has just restarted, and the agent is expected back.
    is_alarm_dismissed: the owner answered that failure detection was wrong about this print. Its
    reading says then that there was no alarm, which the agent hears a moment later. pause: the
    order of somebody else that paused its print; only where that was looked up.
    """

    printer: Printer
    is_online: bool
    reading: Reading
    pictured_at: datetime | None = None
    role: Role = Role.OWNER
    shared_by: str = ""
    is_locked_by_owner: bool = False
    awaits_reconnection: bool = False
    is_alarm_dismissed: bool = False
    pause: SignedOrder | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnPrinters:
    """The use cases of the dashboard about printers.

    restart: the start of this process; None if the service never ran before.
    """

    core: Core
    live: LiveStatus
    restart: Restart | None = None

    async def all(self, account_id: str, *, max_age: timedelta | None = FRESH) -> list[SeenPrinter]:
        """Return the person's printers by name, then those that others share with them.

        max_age: those that are online are first asked if it is longer ago; None asks none.
        """
        rows = await self.visible_rows(account_id)
        if max_age is not None:
            await self.live.fresh(self._online_among(rows), OPENING_S, max_age)
        return self.seen(rows)

    async def rows(self, account_id: str) -> list[PrinterRow]:
        """Return the stored rows of the person's own printers, by name."""
        return await self.core.store.read(
            lambda records: records.printers.rows_of_account(account_id)
        )

    async def visible_rows(self, account_id: str) -> list[PrinterRow]:
        """Return the rows of own printers, then of those that others share with the person."""

        async def look(records: Records) -> list[PrinterRow]:
            own = await records.printers.rows_of_account(account_id)
            return [*own, *await records.printers.rows_of_member(account_id)]

        return await self.core.store.read(look)

    def seen(self, rows: Sequence[PrinterRow]) -> list[SeenPrinter]:
        """Add the latest readings to the rows; no printer is asked."""
        return [self._seen(row) for row in rows]

    async def one(
        self, account_id: str, printer_id: str, *, ask: bool = True
    ) -> SeenPrinter | Denied:
        """Return a printer of the person's own."""
        admitted = await self.admit(account_id, printer_id)
        return admitted if isinstance(admitted, Denied) else await self.see(admitted, ask=ask)

    async def admit(
        self, person_id: str, printer_id: str, needed: Role = Role.OWNER
    ) -> AdmittedPrinter | Denied:
        """Return the printer if the person may do what the role may; note a member's visit."""
        admitted = await self.core.store.read(
            lambda records: admitted_printer(records, person_id, printer_id, needed)
        )
        at = self.core.clock.now()
        member = None if isinstance(admitted, Denied) else admitted.member
        if member is not None and not is_visit_stored(member, at):
            await self.core.store.write(
                lambda records: records.members.note_visit(printer_id, person_id, at)
            )
        return admitted

    async def see(self, admitted: AdmittedPrinter, *, ask: bool = True) -> SeenPrinter | Denied:
        """Return the state of a printer for the person who was admitted to it."""
        printer = admitted.printer
        row = await self.core.store.read(lambda records: records.printers.row(printer.printer_id))
        if row is None or row.printer.account_id != printer.account_id:
            return no_such_printer()
        if ask:
            await self.live.fresh(self._online_among([row]), OPENING_S)
        return self._seen(replace(row, role=admitted.role))

    async def ask_now(self, admitted: AdmittedPrinter) -> SeenPrinter | Denied:
        """Ask the printer now, however recently it was asked, and return it."""
        await self.live.ask_again(admitted.printer.owned, OPENING_S)
        return await self.see(admitted, ask=False)

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
            return BAD_NAME
        at = self.core.clock.now()

        async def rename(records: Records) -> Printer | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            refused = await rename_printer(records, printer, name)
            if refused is not None:
                return refused
            await records.notify(Notice(Topic.PRINTER, printer_id), at)
            return printer

        return await self.core.store.write(rename)

    async def set_up_cameras(
        self, account_id: str, printer_id: str, chosen: Sequence[CameraChoice]
    ) -> Printer | Denied:
        """Store what the owner chose for cameras; choices for others stay."""
        at = self.core.clock.now()

        async def choose(records: Records) -> Printer | Denied:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            choices = put_choices(printer.cameras, chosen)
            if choices is None:
                return Denied(Reason.INVALID, TOO_MANY_CAMERAS)
            await records.printers.choose_cameras(printer_id, choices)
            await records.notify(Notice(Topic.PRINTER, printer_id), at)
            return replace(printer, cameras=choices)

        return await self.core.store.write(choose)

    def _online_among(self, rows: Sequence[PrinterRow]) -> list[OwnedPrinter]:
        at = self.core.clock.now()
        return [row.printer.owned for row in rows if is_online(row.printer, row.node_alive_at, at)]

    def _seen(self, row: PrinterRow) -> SeenPrinter:
        printer = row.printer
        reading = reading_as_chosen(self.live.latest(printer.owned), printer.cameras)
        is_dismissed = is_alarm_dismissed(reading, row.dismissal)
        if is_dismissed:
            reading = reading_without_alarm(reading)
        at = self.core.clock.now()
        here = is_online(printer, row.node_alive_at, at) or _has_just_answered(reading, at)
        return SeenPrinter(
            printer=printer,
            is_online=here,
            reading=reading,
            pictured_at=row.pictured_at,
            role=row.role,
            shared_by="" if row.role is Role.OWNER else row.owner_email,
            is_locked_by_owner=row.is_locked and row.role is not Role.OWNER,
            awaits_reconnection=awaits_reconnection(printer, row.node_alive_at, self.restart, at),
            is_alarm_dismissed=is_dismissed,
        )


def _has_just_answered(reading: Reading, at: datetime) -> bool:
    """Return whether the printer answered just now: then it is online, whatever the store said."""
    return (
        reading.refusal is None and reading.seen_at is not None and abs(at - reading.seen_at) < JUST
    )
