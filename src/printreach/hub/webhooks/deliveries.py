"""Deliveries to webhooks: queued by the fan-out, claimed when due; each queue runs by itself."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Final

from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.leased_queue import LeasedQueue
from printreach.hub.webhooks import is_unconfirmed, why_closed
from printreach.hub.webhooks.delivery_limiter import MAX_WAITING, SLOTS, DeliveryLimiter
from printreach.hub.webhooks.outcomes import LEASE, OutcomeRecorder
from printreach.hub.webhooks.queue import DeliveryQueue, QueueParts
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.accounts import Account
from printreach.rules.webhooks import MAX_LOGGED, MAX_QUEUED, TOO_MANY, NewDelivery, wants
from printreach.rules.webhooks.messages import About, message_body
from printreach.store.leases import Claim
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records
from printreach.store.webhooks import AppWebhook, Lease

log = logging.getLogger(__name__)

LOGGED_FOR: Final = timedelta(days=14)
SLICE: Final = 500
"""Rows changed in one unit of work, so that other writers get their turn."""

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


@dataclass(kw_only=True)
class Deliveries(LeasedQueue[Lease]):
    """The queue of webhooks that have deliveries. jitter: random, 0 to 1."""

    item_name: ClassVar[str] = "webhook"
    lease: ClassVar[timedelta] = LEASE
    # Each slot may be of a queue of its own, and others wait for slots.
    at_once: ClassVar[int] = sum(SLOTS.values()) + sum(MAX_WAITING.values())
    # Few, so that of workers which hear of the same events none gets all webhooks.
    batch: ClassVar[int] = 8
    # The relay has ten seconds of its own after that.
    stop_within_s: ClassVar[float] = 5.0
    claims_may_overlap: ClassVar[bool] = True

    sender: WebhookSender
    keys: WebhookKeys
    clock_history: ClockHistory
    jitter: Callable[[], float]
    _bounded_up_to: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._parts = QueueParts(
            core=self.core,
            sender=self.sender,
            keys=self.keys,
            limiter=DeliveryLimiter(),
            recorder=OutcomeRecorder(core=self.core, jitter=self.jitter),
            clock_history=self.clock_history,
            stopping=self.stopping,
        )

    def key(self, item: Lease) -> str:
        return item.connection_id

    async def has_due(self, records: Records, at: datetime) -> bool:
        return await records.deliveries.has_due(at)

    async def claim(self, records: Records, claim: Claim) -> Sequence[Lease]:
        return await records.deliveries.claim(claim)

    async def handle(self, item: Lease) -> None:
        await DeliveryQueue(self._parts, item).run()

    async def begin_due(self) -> int:
        # The history has to see each hour of the clock.
        self.clock_history.confirmed_time(self.core.clock.now())
        return await super().begin_due()

    async def tidy(self) -> None:
        """Repair times from a wrong clock, and drop what exceeds the bounds.

        Raises StoreUnavailable.
        """
        at = self.core.clock.now()
        await self._in_slices(lambda records: records.deliveries.mend_times(at, SLICE))
        await self._bound(at)

    async def forget_old(self) -> None:
        """Delete deliveries that ended long ago. Raises StoreUnavailable."""
        before = self.core.clock.now() - LOGGED_FOR
        await self._in_slices(lambda records: records.deliveries.prune(before, SLICE))

    async def _bound(self, at: datetime) -> None:
        """Bound the queues, so that no flooding printer and no dead target fills the disk."""
        after = self._bounded_up_to
        grown, last = await self.core.store.read(lambda records: records.deliveries.grown(after))
        for connection_id in grown:
            await self._bound_one(connection_id, at)
        self._bounded_up_to = last

    async def _bound_one(self, connection_id: str, at: datetime) -> None:
        surplus = await self.core.store.read(
            lambda records: records.deliveries.surplus(connection_id, MAX_QUEUED, MAX_LOGGED)
        )
        ended, queued = surplus.ended, surplus.queued
        if ended is not None:
            await self._in_slices(
                lambda records: records.deliveries.forget(connection_id, ended, SLICE)
            )
        if queued is None:
            return
        dropped = await self._in_slices(
            lambda records: records.deliveries.drop(connection_id, queued, TOO_MANY, at, SLICE)
        )
        if dropped:
            log.warning("%d calls of the webhook of %s are dropped", dropped, connection_id)

    async def _in_slices(self, change: Callable[[Records], Awaitable[int]]) -> int:
        """Repeat until less than a slice was changed; return the sum. Others write in between."""
        changed, count = 0, SLICE
        while count >= SLICE:
            count = await self.core.store.write(change)
            changed += count
        return changed
