"""The orders that people gave a printer on its pages: noted, and listed in its history."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.contract.events import EventType
from printreach.hub.core import Core
from printreach.hub.printers.access import AdmittedPrinter
from printreach.ports import StoreUnavailable
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import MAX_SUBJECT, STOP_EVERYTHING, GivenOrder
from printreach.rules.printers.members import Role
from printreach.store.printers.given_orders import SignedOrder
from printreach.store.store import Records

log = logging.getLogger(__name__)

SHOWN: Final = 30
LOOKED_THROUGH: Final = 200
"""Events of an account: some hours of one with few printers, half an hour of one with a hundred."""
_PAUSE: Final = "/pause"
OF_THE_PRINT: Final = frozenset(
    {_PAUSE, "/resume", "/cancel", "/start", "/emergency-stop", STOP_EVERYTHING}
)
"""The orders that begin, hold or end a print."""
_GOES_ON: Final = frozenset({EventType.STARTED, EventType.RESUMED})


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenOrders:
    """The use cases about orders that were given."""

    core: Core

    async def note(
        self,
        person_id: str,
        printer: OwnedPrinter,
        command: str,
        subject: str = "",
        *,
        at: datetime | None = None,
    ) -> None:
        """Store an order that the printer accepted; one that can't be stored was given all the
        same. at: when it was given, if not just now.
        """
        order = GivenOrder(
            account_id=printer.account_id,
            printer_id=printer.printer_id,
            person_id=person_id,
            at=at or self.core.clock.now(),
            command=command,
            subject=subject[:MAX_SUBJECT],
        )
        try:
            await self.core.store.write(lambda records: records.given_orders.add(order))
        except StoreUnavailable:
            log.exception(
                "an order to printer %s could not be recorded in its history", printer.printer_id
            )

    async def recent(
        self,
        person_id: str,
        admitted: AdmittedPrinter,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[SignedOrder]:
        """Return orders, newest first: all of them to the owner, and to a member their own."""
        printer, whose = admitted.printer, None if admitted.role is Role.OWNER else person_id
        return await self.core.store.read(
            lambda records: records.given_orders.recent(
                printer.account_id,
                printer.printer_id,
                SHOWN,
                person_id=whose,
                since=since,
                until=until,
            )
        )

    async def pause_in_force(self, printer: OwnedPrinter) -> SignedOrder | None:
        """Return the order that paused the print, which is paused; None if that isn't known.

        What was resumed or started since, with or without an order, was paused by something else.
        """
        owner_id, printer_id = printer.account_id, printer.printer_id

        async def look(records: Records) -> SignedOrder | None:
            orders = await records.given_orders.recent(
                owner_id, printer_id, 1, commands=OF_THE_PRINT
            )
            if not orders or orders[0].order.command != _PAUSE:
                return None
            at, events = orders[0].order.at, await records.events.recent(owner_id, LOOKED_THROUGH)
            if len(events) == LOOKED_THROUGH and events[-1].received_at > at:
                return None
            goes_on = any(
                stored.printer_id == printer_id
                and stored.event.event_type in _GOES_ON
                and stored.received_at > at
                for stored in events
            )
            return None if goes_on else orders[0]

        return await self.core.store.read(look)
