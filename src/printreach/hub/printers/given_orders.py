"""The orders that people gave a printer on its pages: noted, and listed in its history."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.core import Core
from printreach.hub.printers.access import AdmittedPrinter
from printreach.ports import StoreUnavailable
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.given_orders import MAX_SUBJECT, GivenOrder
from printreach.rules.printers.members import Role
from printreach.store.printers.given_orders import SignedOrder

log = logging.getLogger(__name__)

SHOWN: Final = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenOrders:
    """The use cases about orders that were given."""

    core: Core

    async def note(
        self, person_id: str, printer: OwnedPrinter, command: str, subject: str = ""
    ) -> None:
        """Store an order that the printer accepted; one that can't be stored was given all the
        same.
        """
        order = GivenOrder(
            account_id=printer.account_id,
            printer_id=printer.printer_id,
            person_id=person_id,
            at=self.core.clock.now(),
            command=command,
            subject=subject[:MAX_SUBJECT],
        )
        try:
            await self.core.store.write(lambda records: records.given_orders.add(order))
        except StoreUnavailable:
            log.exception("an order to printer %s was not noted", printer.printer_id)

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
