"""One webhook's claimed queue: due deliveries are attempted, and the outcomes stored.

Attempts run concurrently, so one that hangs delays no other. Outcomes that come together are stored
in one unit of work, with those of other queues: outcomes.py.
"""

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from printreach.contract.permissions import Permission
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.webhooks import ENDED, is_unconfirmed, why_closed
from printreach.hub.webhooks.delivery_limiter import DeliveryLimiter, Slots, TargetSpeed
from printreach.hub.webhooks.outcomes import (
    RENEW_AFTER,
    EndedAttempt,
    OutcomeRecorder,
    QueueOutcomes,
)
from printreach.languages import N_
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.webhooks import (
    Attempted,
    Delivery,
    DeliveryState,
    Outcome,
    Webhook,
    problem_with_delivery,
)
from printreach.rules.webhooks.messages import signature_headers, without_picture
from printreach.rules.webhooks.urls import target_of
from printreach.store.store import Records
from printreach.store.webhooks import AppWebhook, Lease

log = logging.getLogger(__name__)

WINDOW: Final = 16
"""Attempts of one webhook at once."""
FOUND_AT_ONCE: Final = 3 * WINDOW
"""Deliveries that one look finds: some are attempted while the outcomes of others are stored."""
LOOK_EVERY_S: Final = 1.0
"""How often new deliveries are looked for while all attempts hang, and how long what was found may
wait for a slot."""
WAIT_FOR_SLOTS_S: Final = 5.0
"""How long a queue waits for slots of its target before others get its place in the worker."""
DOUBTED_EVERY: Final = timedelta(minutes=30)
"""How often a webhook that only the clock has ended is looked at."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """hook_set_at: identifies the webhook that it was for; the app may set another meanwhile."""

    delivery: Delivery
    hook_set_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """due: deliveries, the longest due first. is_all: no more were due."""

    there: AppWebhook
    origin: str
    due: Sequence[Delivery]
    is_all: bool


_Attempts = dict[asyncio.Task[Outcome], _Attempt]


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueParts:
    """The dependencies of a queue."""

    core: Core
    sender: WebhookSender
    keys: WebhookKeys
    limiter: DeliveryLimiter
    recorder: OutcomeRecorder
    clock_history: ClockHistory
    stopping: asyncio.Event


class DeliveryQueue:
    """Runs once, until nothing is due any more or the worker stops."""

    def __init__(self, parts: QueueParts, lease: Lease) -> None:
        self._parts = parts
        self._lease = lease
        self._attempts: _Attempts = {}
        self._dropped: list[Attempted] = []
        self._ended: list[EndedAttempt] = []
        self._settling: dict[asyncio.Task[bool], list[EndedAttempt]] = {}
        self._renewed_at = parts.core.clock.now()
        self._not_before: datetime | None = None
        self._webhook: Webhook | None = None
        self._origin = ""
        self._slots: Slots | None = None
        self._found: deque[Delivery] = deque()
        self._looked_at = 0.0
        self._has_found_all = False

    async def run(self) -> None:
        """Run the queue.

        Raises StoreUnavailable; outcomes not stored are sent again after the lease.
        """
        try:
            while await self._has_begun():
                await self._wait()
                if not self._settle():
                    return
                if self._has_ended_all() and await self._release(even_if_due=False):
                    return
            await self._release()
        finally:
            if self._slots is not None:
                self._parts.limiter.give_back(self._slots)
            tasks = [*self._attempts, *self._settling]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _is_busy(self) -> bool:
        return bool(self._attempts or self._ended or self._dropped or self._settling)

    async def _wait(self) -> None:
        """Wait until there is something to settle or to begin."""
        if self._dropped and not self._settling:
            return
        await asyncio.wait(
            [*self._attempts, *self._settling],
            timeout=LOOK_EVERY_S,
            return_when=asyncio.FIRST_COMPLETED,
        )

    # --- beginning --------------------------------------------------------------------------------

    async def _has_begun(self) -> bool:
        """Begin what is due, as far as there are slots; return whether there is something to end.

        A queue that has nothing under way waits for slots. After a failure nothing begins until
        that is stored, since it may have ended the webhook.
        """
        if self._has_failed():
            self._found.clear()
            return self._is_busy()
        if self._parts.stopping.is_set():
            return self._is_busy()
        await self._look_if_needed()
        if self._found:
            at_most = min(WINDOW - len(self._attempts), len(self._found))
            self._begin(self._parts.limiter.take(self._origin, at_most))
        if self._found and not self._is_busy():
            await self._begin_after_others()
        return self._is_busy()

    def _has_failed(self) -> bool:
        unstored = itertools.chain(self._ended, *self._settling.values())
        return any(not one.outcome.is_success for one in unstored)

    async def _begin_after_others(self) -> None:
        """Wait for slots, and begin with them."""
        limiter = self._parts.limiter
        at_most = min(WINDOW, len(self._found))
        self._slots = await limiter.wait(self._origin, at_most, WAIT_FOR_SLOTS_S)
        if self._slots is None:
            parked_s = limiter.park(self._origin, asyncio.get_running_loop().time())
            self._not_before = self._parts.core.clock.now() + timedelta(seconds=parked_s)
        elif not self._parts.stopping.is_set():
            await self._look_if_needed()
            slots, self._slots = self._slots, None
            self._begin(slots)

    async def _look_if_needed(self) -> None:
        """Find due deliveries, unless some were found a moment ago."""
        if asyncio.get_running_loop().time() - self._looked_at > LOOK_EVERY_S:
            self._found.clear()
        # What has ended is due in the store until that is stored.
        is_stored = not self._ended and not self._settling
        if not self._found and is_stored and len(self._attempts) < WINDOW:
            await self._look()

    async def _look(self) -> None:
        """Find due deliveries."""
        at = self._parts.core.clock.now()
        self._has_found_all = False
        self._looked_at = asyncio.get_running_loop().time()
        found = await self._parts.core.store.read(lambda records: self._find(records, at))
        if found is None:
            self._not_before = at + DOUBTED_EVERY
            return
        if isinstance(found, str):
            await self._parts.core.store.write(lambda records: self._end(records, found, at))
            return
        self._webhook, self._origin = found.there.webhook, found.origin
        self._has_found_all = found.is_all
        self._parts.limiter.register(found.origin, _speed_of(self._webhook))
        may_see = Permission.CAMERA in found.there.connection.permissions
        for delivery in found.due:
            problem = problem_with_delivery(self._webhook, delivery)
            if problem is None:
                self._found.append(delivery if may_see else _without_picture(delivery))
            else:
                self._dropped.append(_dropped(delivery, problem, at))

    async def _find(self, records: Records, at: datetime) -> _Found | str | None:
        """Return due deliveries, or why the webhook is closed; None: wait."""
        there = await self._open(records, at)
        if there is None or isinstance(there, str):
            return there
        try:
            origin = target_of(there.webhook.url).origin
        except ValueError as error:  # it was accepted once; the rules have changed, or the row has
            return N_("Its address can't be called any more. %(error)s", error=error)
        running = {attempt.delivery.delivery_id for attempt in self._attempts.values()}
        due = await records.deliveries.due(
            self._lease.connection_id, at, FOUND_AT_ONCE, exclude=running
        )
        return _Found(there=there, origin=origin, due=due, is_all=len(due) < FOUND_AT_ONCE)

    async def _open(self, records: Records, at: datetime) -> AppWebhook | str | None:
        """Return the webhook, or why it is closed; None if only the clock says so."""
        connection_id = self._lease.connection_id
        there = await records.webhooks.with_connection(connection_id)
        if there is None:
            return ENDED
        account_id = there.connection.account_id
        account = await records.accounts.get(account_id) if account_id else None
        parts = self._parts
        closed = why_closed(there, account, parts.core.supporters, at)
        if closed is None:
            return there
        confirmed_at = parts.clock_history.confirmed_time(at)
        return (
            None if is_unconfirmed(there, account, parts.core.supporters, confirmed_at) else closed
        )

    async def _end(self, records: Records, reason: str, at: datetime) -> None:
        connection_id = self._lease.connection_id
        await records.deliveries.end_all(connection_id, DeliveryState.DROPPED, reason, at)
        if reason == ENDED:
            await records.webhooks.delete(connection_id)

    def _begin(self, slots: Slots) -> None:
        """Begin an attempt with each slot; give back those that are too many."""
        for slot in slots.each():
            if self._webhook is None or not self._found or slot.origin != self._origin:
                self._parts.limiter.give_back(slot)
                continue
            delivery = self._found.popleft()
            task = asyncio.create_task(self._attempt(self._webhook.url, delivery))
            task.add_done_callback(partial(self._release_slot, slot))
            self._attempts[task] = _Attempt(delivery, self._webhook.set_at)

    async def _attempt(self, url: str, delivery: Delivery) -> Outcome:
        at = self._parts.core.clock.now()
        keys = self._parts.keys.signing(at)
        headers = signature_headers(delivery.event_id, delivery.body, keys, at)
        try:
            return await self._parts.sender.send(url, headers, delivery.body)
        except Exception:
            # A fault of ours at one delivery must not delay the others of its webhook.
            log.exception("event %s can't be sent", delivery.event_id)
            return Outcome(
                http_status=None, duration_ms=0, error=N_("The service failed to send it.")
            )

    def _release_slot(self, slot: Slots, task: asyncio.Task[Outcome]) -> None:
        answered_in_ms = None
        if not task.cancelled() and task.exception() is None:
            outcome = task.result()
            answered_in_ms = outcome.duration_ms if outcome.http_status is not None else None
        self._parts.limiter.end(slot, answered_in_ms=answered_in_ms)

    # --- ending -----------------------------------------------------------------------------------

    def _settle(self) -> bool:
        """Begin to store the outcomes of ended attempts, and renew the lease with them.

        Returns False if another worker has the queue by now. Raises StoreUnavailable.
        """
        for task in [task for task in self._attempts if task.done()]:
            self._ended.append(_ended(self._attempts.pop(task), task.result()))
        for settling in [task for task in self._settling if task.done()]:
            del self._settling[settling]
            if not settling.result():
                return False
        at = self._parts.core.clock.now()
        is_renewed = abs(at - self._renewed_at) < RENEW_AFTER
        if self._settling or (not self._ended and not self._dropped and is_renewed):
            return True
        outcomes = QueueOutcomes(lease=self._lease, dropped=self._dropped, ended=self._ended)
        self._settling[asyncio.create_task(self._parts.recorder.record(outcomes))] = self._ended
        self._dropped, self._ended, self._renewed_at = [], [], at
        return True

    def _has_ended_all(self) -> bool:
        return self._has_found_all and not (self._found or self._attempts)

    async def _release(self, *, even_if_due: bool = True) -> bool:
        """Release the queue; False if it is kept. even_if_due: also if something of it is due."""
        at = self._parts.core.clock.now()
        return await self._parts.core.store.write(
            lambda records: records.deliveries.release(
                self._lease, at, self._not_before, even_if_due=even_if_due
            )
        )


def _ended(attempt: _Attempt, outcome: Outcome) -> EndedAttempt:
    return EndedAttempt(delivery=attempt.delivery, hook_set_at=attempt.hook_set_at, outcome=outcome)


def _dropped(delivery: Delivery, problem: str, at: datetime) -> Attempted:
    return Attempted(
        delivery_id=delivery.delivery_id,
        state=DeliveryState.DROPPED,
        attempts=delivery.attempts,
        at=at,
        reason=problem,
    )


def _without_picture(delivery: Delivery) -> Delivery:
    """Decide this when it is sent: the owner may have revoked the camera since it was queued."""
    return replace(delivery, body=without_picture(delivery.body))


def _speed_of(webhook: Webhook) -> TargetSpeed:
    """Return how its target is known to behave."""
    if webhook.failures:
        return TargetSpeed.SLOW
    return TargetSpeed.NEW if webhook.last_success_at is None else TargetSpeed.QUICK
