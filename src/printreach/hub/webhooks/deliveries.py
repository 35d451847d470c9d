"""Delivers to webhooks: queues are claimed when they become due, and each runs by itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.webhooks.delivery_limiter import DeliveryLimiter
from printreach.hub.webhooks.queue import LEASE, DeliveryQueue, QueueParts
from printreach.ports import Clock, StoreUnavailable
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.credentials import TokenBytes, new_record_id
from printreach.rules.webhooks import MOST_LOGGED, MOST_QUEUED, TOO_MANY
from printreach.store.store import Records, Store
from printreach.store.webhooks import Lease

log = logging.getLogger(__name__)

QUEUES_AT_ONCE: Final = 256
CLAIMED_AT_ONCE: Final = 64
STOP_WITHIN_S: Final = 5.0
"""An attempt that ends by then is not repeated. The relay has ten seconds of its own after that."""
LOGGED_FOR: Final = timedelta(days=14)
SLICE: Final = 500
"""Rows changed in one unit of work, so that other writers get their turn."""


class Deliveries:
    """One pass at a time: `deliver_due`. jitter: random, 0 to 1."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        sender: WebhookSender,
        keys: WebhookKeys,
        supporters: SupporterPolicy,
        clock_history: ClockHistory,
        jitter: Callable[[], float],
        token_bytes: TokenBytes,
    ) -> None:
        self._store = store
        self._clock = clock
        self._token_bytes = token_bytes
        self._parts = QueueParts(
            store=store,
            clock=clock,
            sender=sender,
            keys=keys,
            supporters=supporters,
            limiter=DeliveryLimiter(),
            clock_history=clock_history,
            jitter=jitter,
            stopping=asyncio.Event(),
        )
        self._running: set[asyncio.Task[None]] = set()
        self._bounded_up_to = 0
        self._on_freed: Callable[[], None] = lambda: None

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Have this called when a queue has been run: more may be due."""
        self._on_freed = callback

    async def deliver_due(self) -> int:
        """Begin the queues that are due; return how many. Raises StoreUnavailable."""
        count = 0
        self._parts.clock_history.confirmed_time(
            self._clock.now()
        )  # the history has to see each hour of the clock
        while not self._parts.stopping.is_set():
            leases = await self._claim()
            for lease in leases:
                self._begin(lease)
            count += len(leases)
            if len(leases) < CLAIMED_AT_ONCE:
                break
        return count

    async def settled(self) -> None:
        """Wait until no queue is running."""
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        """Begin no more attempts; wait for those under way, then cancel what remains."""
        self._parts.stopping.set()
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_WITHIN_S)
        for task in list(self._running):
            task.cancel()
        await self.settled()

    async def tidy(self) -> None:
        """Repair times from a wrong clock, and drop what exceeds the bounds.

        Raises StoreUnavailable.
        """
        at = self._clock.now()
        await self._in_slices(lambda records: records.deliveries.mend_times(at, SLICE))
        await self._bound(at)

    async def forget_old(self) -> None:
        """Delete deliveries that ended long ago. Raises StoreUnavailable."""
        before = self._clock.now() - LOGGED_FOR
        await self._in_slices(lambda records: records.deliveries.prune(before, SLICE))

    async def _bound(self, at: datetime) -> None:
        """Bound the queues, so that no flooding printer and no dead target fills the disk."""
        after = self._bounded_up_to
        grown, last = await self._store.read(lambda records: records.deliveries.grown(after))
        for connection_id in grown:
            await self._bound_one(connection_id, at)
        self._bounded_up_to = last

    async def _bound_one(self, connection_id: str, at: datetime) -> None:
        surplus = await self._store.read(
            lambda records: records.deliveries.surplus(connection_id, MOST_QUEUED, MOST_LOGGED)
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
            count = await self._store.write(change)
            changed += count
        return changed

    async def _claim(self) -> list[Lease]:
        at = self._clock.now()
        at_most = min(CLAIMED_AT_ONCE, QUEUES_AT_ONCE - len(self._running))
        if at_most <= 0:
            return []
        next_due = await self._store.read(lambda records: records.deliveries.next_due())
        if next_due is None or next_due > at:
            return []  # a read does not wait for the writer
        token = new_record_id(self._token_bytes)
        return await self._store.write(
            lambda records: records.deliveries.claim(token, at, at + LEASE, at_most)
        )

    def _begin(self, lease: Lease) -> None:
        task = asyncio.create_task(self._run(lease))
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def _run(self, lease: Lease) -> None:
        try:
            await DeliveryQueue(self._parts, lease).run()
        except StoreUnavailable as error:
            log.warning("deliveries of %s are made later: %s", lease.connection_id, error)
        except Exception:
            log.exception("deliveries of %s failed", lease.connection_id)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._on_freed()
