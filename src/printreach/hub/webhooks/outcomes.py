"""Stores the outcomes of attempts, and what they mean for their webhooks.

Outcomes of any number of queues that come while others are being stored go together into the next
unit of work: a commit waits for the disk, and each statement for a server's answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.languages import N_
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
    retry_delay,
)
from printreach.store.gathered import Gathered
from printreach.store.store import Records
from printreach.store.webhooks import Lease

LEASE: Final = timedelta(seconds=30)
"""An attempt has ten seconds, so a lease that is not renewed belonged to a worker that died."""
RENEW_AFTER: Final = LEASE / 3
AT_ONCE: Final = 256
"""Outcomes in one unit of work: as many as there may be attempts at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedAttempt:
    """hook_set_at: identifies the webhook that it was for; the app may set another meanwhile."""

    delivery: Delivery
    hook_set_at: datetime
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueOutcomes:
    """What became of some of one queue's deliveries. dropped: those that were not attempted."""

    lease: Lease
    dropped: Sequence[Attempted]
    ended: Sequence[EndedAttempt]


@dataclass(kw_only=True)
class OutcomeRecorder:
    """Stores outcomes, and renews the leases of their queues. jitter: random, 0 to 1."""

    core: Core
    jitter: Callable[[], float]
    _gathered: Gathered[QueueOutcomes, bool] = field(init=False)

    def __post_init__(self) -> None:
        self._gathered = Gathered(
            self._record_all, at_once=AT_ONCE, size=lambda one: 1 + len(one.ended)
        )

    async def record(self, outcomes: QueueOutcomes) -> bool:
        """Store these; False if another worker has the queue by now. Raises StoreUnavailable."""
        return await self._gathered.do(outcomes)

    async def _record_all(self, queues: Sequence[QueueOutcomes]) -> Sequence[bool]:
        at = self.core.clock.now()
        # The leases keep other workers away, and each change is of rows that are as they were.
        held = await self.core.store.write(
            lambda records: self._write(records, queues, at), may_overlap=True
        )
        return [queue.lease in held for queue in queues]

    async def _write(
        self, records: Records, queues: Sequence[QueueOutcomes], at: datetime
    ) -> frozenset[Lease]:
        found = await records.webhooks.get_all(
            [queue.lease.connection_id for queue in queues if queue.ended]
        )
        hooks = {hook.connection_id: hook for hook in found}
        made: list[Attempted] = []
        healths: list[Webhook] = []
        gone: list[str] = []
        for queue in queues:
            hook = hooks.get(queue.lease.connection_id)
            # An outcome at an address that was replaced meanwhile says nothing of the present one.
            told = [
                one.outcome
                for one in queue.ended
                if hook is not None and one.hook_set_at == hook.set_at
            ]
            is_gone = any(outcome.http_status == GONE for outcome in told)
            made += queue.dropped
            made += [self._attempted(one, at, is_gone=is_gone) for one in queue.ended]
            if hook is not None and told:
                healths.append(_with_health(hook, told, at))
            if hook is not None and is_gone:
                gone.append(hook.connection_id)
        await records.deliveries.record(made)
        await records.webhooks.note_health(healths)
        await _end_disabled(records, healths, at)
        await _end_gone(records, gone, at)
        leases = [queue.lease for queue in queues]
        until = at + LEASE
        return await records.deliveries.renew(leases, until, if_before=until - RENEW_AFTER)

    def _attempted(self, ended: EndedAttempt, at: datetime, *, is_gone: bool) -> Attempted:
        delivery, outcome = ended.delivery, ended.outcome
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
        delay = retry_delay(attempts, self.jitter(), outcome.retry_after)
        if delay is None or (is_gone and outcome.http_status == GONE):
            return replace(made, state=DeliveryState.GIVEN_UP)
        return replace(made, state=DeliveryState.QUEUED, due_at=at + delay)


async def _end_disabled(records: Records, hooks: Sequence[Webhook], at: datetime) -> None:
    for hook in hooks:
        if hook.disabled_at is not None and hook.disabled_reason is not None:
            await records.deliveries.end_all(
                hook.connection_id, DeliveryState.GIVEN_UP, hook.disabled_reason, at
            )


async def _end_gone(records: Records, connection_ids: Sequence[str], at: datetime) -> None:
    reason = N_("The receiver answered %(gone)s, so the webhook was deleted.", gone=GONE)
    for connection_id in connection_ids:
        await records.deliveries.end_all(connection_id, DeliveryState.DROPPED, reason, at)
        await records.webhooks.delete(connection_id)


def _with_health(webhook: Webhook, outcomes: Sequence[Outcome], at: datetime) -> Webhook:
    for outcome in outcomes:
        is_success = outcome.is_success
        webhook = after_success(webhook, at) if is_success else after_failure(webhook, outcome, at)
    return webhook
