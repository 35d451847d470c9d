"""Queues a delivery to each webhook that wants an event: the fan-out's consumer for apps."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.webhooks import is_unconfirmed, why_closed
from printreach.rules.accounts import Account
from printreach.rules.webhooks import NewDelivery, wants
from printreach.rules.webhooks.messages import About, message_body
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records
from printreach.store.webhooks import AppWebhook

NO_PRINTER: Final = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookEnqueuer:
    """hub.prints.fanout.Consumer."""

    core: Core
    clock_history: ClockHistory

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        """Queue a delivery for each webhook of the printer that wants it.

        Only webhooks of the account in which it happened get it, not those of a later owner.
        """
        at = self.core.clock.now()
        hooks = await records.webhooks.of_printer(stored.printer_id)
        wanting = [
            hook
            for hook in hooks
            if wants(hook.webhook, stored.event.event_type)
            and hook.connection.account_id == stored.account_id
        ]
        if not wanting:
            return
        account = await records.accounts.get(stored.account_id)
        open_ones = [hook for hook in wanting if self._is_open(hook, account, at)]
        if open_ones:
            body = await self._body(records, stored)
            await records.deliveries.add(
                [
                    NewDelivery(
                        connection_id=hook.connection.connection_id,
                        event_id=stored.event.event_id,
                        event_type=stored.event.event_type,
                        print_id=stored.event.print_id,
                        at=stored.received_at,
                        body=body,
                    )
                    for hook in open_ones
                ],
                at,
            )

    def _is_open(self, hook: AppWebhook, account: Account | None, at: datetime) -> bool:
        """Return True also if only the clock has ended it, and not for long: the clock may be
        wrong."""
        if why_closed(hook, account, self.core.supporters, at) is None:
            return True
        return is_unconfirmed(
            hook, account, self.core.supporters, self.clock_history.confirmed_time(at)
        )

    async def _body(self, records: Records, stored: StoredEvent) -> bytes:
        printer = await records.printers.linked(stored.printer_id)
        picture = stored.snapshot_id
        return message_body(
            stored.event,
            About(
                printer_id=stored.printer_id,
                printer_name=printer.name if printer is not None else NO_PRINTER,
                page_url=self.core.addresses.of_printer_page(stored.printer_id),
                snapshot_url=None if picture is None else self.core.addresses.of_snapshot(picture),
            ),
        )
