"""One webhook's claimed queue: due deliveries are attempted, and the outcomes stored.

Attempts run concurrently, so one that hangs delays no other. Outcomes that come together are stored
in one unit of work.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.permissions import Permission
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.webhooks import ENDED, is_unconfirmed, why_closed
from printreach.hub.webhooks.delivery_limiter import DeliveryLimiter, TargetSpeed
from printreach.languages import N_
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.rules.webhooks import (
    GONE,
    Attempted,
    Delivery,
    DeliveryState,
    Outcome,
    Webhook,
    after_failure,
    after_success,
    in_words,
    problem_with_delivery,
    retry_delay,
)
from printreach.rules.webhooks.messages import signature_headers, without_picture
from printreach.rules.webhooks.urls import target_of
from printreach.store.store import Records
from printreach.store.webhooks import AppWebhook, Lease

log = logging.getLogger(__name__)

LEASE: Final = timedelta(seconds=30)
"""An attempt has ten seconds, so a lease that is not renewed belonged to a worker that died."""
RENEW_AFTER: Final = LEASE / 3
WINDOW: Final = 16
"""Attempts of one webhook at once."""
LOOK_EVERY_S: Final = 1.0
"""How often new deliveries are looked for while all attempts hang."""
DOUBTED_EVERY: Final = timedelta(minutes=30)
"""How often a webhook that only the clock has ended is looked at."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """hook_set_at: identifies the webhook that it was for; the app may set another meanwhile."""

    delivery: Delivery
    hook_set_at: datetime


_Attempts = dict[asyncio.Task[Outcome], _Attempt]


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueParts:
    """The dependencies of a queue. jitter: random, 0 to 1."""

    core: Core
    sender: WebhookSender
    keys: WebhookKeys
    limiter: DeliveryLimiter
    clock_history: ClockHistory
    jitter: Callable[[], float]
    stopping: asyncio.Event


class DeliveryQueue:
    """Runs once, until nothing is due any more or the worker stops."""

    def __init__(self, parts: QueueParts, lease: Lease) -> None:
        self._parts = parts
        self._lease = lease
        self._attempts: _Attempts = {}
        self._dropped: list[Attempted] = []
        self._renewed_at = parts.core.clock.now()
        self._not_before: datetime | None = None
        self._has_met = False

    async def run(self) -> None:
        """Run the queue.

        Raises StoreUnavailable; outcomes not stored are sent again after the lease.
        """
        try:
            while True:
                if not self._parts.stopping.is_set():
                    await self._look()
                if not self._attempts and not self._dropped:
                    break
                if not self._dropped:
                    await asyncio.wait(
                        self._attempts, timeout=LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED
                    )
                if not await self._settle():
                    return
            await self._release()
        finally:
            for task in self._attempts:
                task.cancel()
            await asyncio.gather(*self._attempts, return_exceptions=True)

    # --- beginning --------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Begin due deliveries, as far as there are free slots."""
        at = self._parts.core.clock.now()
        found = await self._parts.core.store.read(lambda records: self._find(records, at))
        if found is None:
            self._not_before = at + DOUBTED_EVERY
            return
        if isinstance(found, str):
            await self._parts.core.store.write(lambda records: self._end(records, found, at))
            return
        there, due = found
        webhook = there.webhook
        may_see = Permission.CAMERA in there.connection.permissions
        self._has_met = True
        origin = target_of(webhook.url).origin
        for delivery in due:
            self._begin(webhook, origin, delivery if may_see else _without_picture(delivery), at)
        if self._free_slots(origin) <= 0 and not self._attempts and not self._dropped:
            now = asyncio.get_running_loop().time()
            self._not_before = at + timedelta(seconds=self._parts.limiter.park(origin, now))

    async def _find(
        self, records: Records, at: datetime
    ) -> tuple[AppWebhook, Sequence[Delivery]] | str | None:
        """Return due deliveries for the free slots, or why the webhook is closed; None: wait."""
        there = await self._open(records, at)
        if there is None or isinstance(there, str):
            return there
        try:
            origin = target_of(there.webhook.url).origin
        except ValueError as error:  # it was accepted once; the rules have changed, or the row has
            return N_("Its address can't be called any more. %(error)s", error=error)
        if not self._has_met:
            self._parts.limiter.register(origin, _speed_of(there.webhook))
        free = self._free_slots(origin)
        if free <= 0:
            return there, []
        running = {attempt.delivery.delivery_id for attempt in self._attempts.values()}
        due = await records.deliveries.due(self._lease.connection_id, at, free, exclude=running)
        return there, due

    def _free_slots(self, origin: str) -> int:
        return min(WINDOW - len(self._attempts), self._parts.limiter.free_slots(origin))

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

    def _begin(self, webhook: Webhook, origin: str, delivery: Delivery, at: datetime) -> None:
        problem = problem_with_delivery(webhook, delivery)
        if problem is not None:
            dropped = Attempted(
                delivery_id=delivery.delivery_id,
                state=DeliveryState.DROPPED,
                attempts=delivery.attempts,
                at=at,
                reason=problem,
            )
            self._dropped.append(dropped)
            return
        speed = self._parts.limiter.begin(origin)
        task = asyncio.create_task(self._attempt(webhook.url, delivery))
        task.add_done_callback(lambda done: self._release_slot(done, origin, speed))
        self._attempts[task] = _Attempt(delivery, webhook.set_at)

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

    def _release_slot(self, task: asyncio.Task[Outcome], origin: str, speed: TargetSpeed) -> None:
        answered_in_ms = None
        if not task.cancelled() and task.exception() is None:
            outcome = task.result()
            answered_in_ms = outcome.duration_ms if outcome.http_status is not None else None
        self._parts.limiter.end(origin, speed, answered_in_ms=answered_in_ms)

    # --- ending -----------------------------------------------------------------------------------

    async def _settle(self) -> bool:
        """Store the outcomes of ended attempts; False if another worker has the queue by now."""
        at = self._parts.core.clock.now()
        done = [task for task in self._attempts if task.done()]
        if not done and not self._dropped and abs(at - self._renewed_at) < RENEW_AFTER:
            return True
        ended = [(self._attempts.pop(task), task.result()) for task in done]
        dropped, self._dropped = self._dropped, []
        self._renewed_at = at
        # The lease keeps other workers away, and each change is of rows that are as they were.
        return await self._parts.core.store.write(
            lambda records: self._write(records, dropped, ended, at), may_overlap=True
        )

    async def _write(
        self,
        records: Records,
        dropped: Sequence[Attempted],
        ended: Sequence[tuple[_Attempt, Outcome]],
        at: datetime,
    ) -> bool:
        hook = await records.webhooks.get(self._lease.connection_id) if ended else None
        # An outcome at an address that was replaced meanwhile says nothing of the present one.
        told = [one for of, one in ended if hook is not None and of.hook_set_at == hook.set_at]
        is_gone = any(outcome.http_status == GONE for outcome in told)
        made = [self._attempted(of.delivery, one, at, is_gone=is_gone) for of, one in ended]
        await records.deliveries.record([*dropped, *made])
        if hook is not None and told:
            await self._note(records, _with_health(hook, told, at), at, is_gone=is_gone)
        return await records.deliveries.renew(self._lease, at + LEASE)

    async def _note(self, records: Records, hook: Webhook, at: datetime, *, is_gone: bool) -> None:
        """Store what the attempts mean for the webhook itself."""
        await records.webhooks.note_health(hook)
        if hook.disabled_at is not None and hook.disabled_reason is not None:
            await records.deliveries.end_all(
                hook.connection_id, DeliveryState.GIVEN_UP, hook.disabled_reason, at
            )
        if is_gone:
            reason = N_("The receiver answered %(gone)s, so the webhook was deleted.", gone=GONE)
            await records.deliveries.end_all(hook.connection_id, DeliveryState.DROPPED, reason, at)
            await records.webhooks.delete(hook.connection_id)

    async def _release(self) -> None:
        at = self._parts.core.clock.now()
        await self._parts.core.store.write(
            lambda records: records.deliveries.release(self._lease, at, self._not_before)
        )

    def _attempted(
        self, delivery: Delivery, outcome: Outcome, at: datetime, *, is_gone: bool
    ) -> Attempted:
        attempts = delivery.attempts + 1
        made = Attempted(
            delivery_id=delivery.delivery_id,
            state=DeliveryState.DELIVERED,
            attempts=attempts,
            at=at,
            outcome=outcome,
        )
        if outcome.is_success:
            return made
        made = replace(made, reason=in_words(outcome))
        delay = retry_delay(attempts, self._parts.jitter(), outcome.retry_after)
        if delay is None or (is_gone and outcome.http_status == GONE):
            return replace(made, state=DeliveryState.GIVEN_UP)
        return replace(made, state=DeliveryState.QUEUED, due_at=at + delay)


def _without_picture(delivery: Delivery) -> Delivery:
    """Decide this when it is sent: the owner may have revoked the camera since it was queued."""
    return replace(delivery, body=without_picture(delivery.body))


def _with_health(webhook: Webhook, outcomes: Sequence[Outcome], at: datetime) -> Webhook:
    for outcome in outcomes:
        is_success = outcome.is_success
        webhook = after_success(webhook, at) if is_success else after_failure(webhook, outcome, at)
    return webhook


def _speed_of(webhook: Webhook) -> TargetSpeed:
    """Return how its target is known to behave."""
    if webhook.failures:
        return TargetSpeed.SLOW
    return TargetSpeed.NEW if webhook.last_success_at is None else TargetSpeed.QUICK
