"""Admission to the failure-detection API, and the count of answered calls.

`admit` before the work, `answered` after it. Counting touches memory alone; `flush` stores the
counts every few seconds and at the end. A process that is killed loses its counts since; calls that
were not stored are not charged.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Final

from printreach.contract.detection_api import DetectionError
from printreach.ports import StoreUnavailable
from printreach.rules.detection.access import (
    CallAdmitted,
    CallKind,
    CallRefused,
    DetectionCaller,
    decide,
    digest_of_api_key,
)
from printreach.rules.detection.address_claims import (
    CLAIM_LIFETIME,
    AddressClaim,
    claimable_network,
    claimed,
)
from printreach.rules.detection.usage import Calls, Plan, day_of, month_of
from printreach.store.store import Records, Store

log = logging.getLogger(__name__)

FLUSH_INTERVAL_S: Final = 5.0
"""A process that is killed loses the counts of this time; the usage page lags by as much."""


@dataclass(slots=True)
class _Counted:
    """Answers that are not stored yet: calls by account, key and day; keys and networks by last
    use."""

    calls: dict[str, dict[tuple[str, date], Calls]] = field(default_factory=dict)
    keys: dict[str, datetime] = field(default_factory=dict)
    networks: dict[str, AddressClaim] = field(default_factory=dict)

    def add_calls(self, account_id: str, key_id: str, day: date, calls: Calls) -> None:
        of_account = self.calls.setdefault(account_id, {})
        of_account[key_id, day] = of_account.get((key_id, day), Calls()) + calls

    def calls_in_month(self, account_id: str, at: datetime) -> int:
        month = month_of(at)
        return sum(
            calls.all
            for (_, day), calls in self.calls.get(account_id, {}).items()
            if (day.year, day.month) == (month.year, month.month)
        )

    def days(self) -> Iterator[tuple[str, str, date, Calls]]:
        for account_id, of_account in self.calls.items():
            for (key_id, day), calls in of_account.items():
                yield account_id, key_id, day, calls

    def absorb(self, older: "_Counted") -> None:
        """Add back what could not be stored."""
        for account_id, key_id, day, calls in older.days():
            self.add_calls(account_id, key_id, day, calls)
        self.keys = older.keys | self.keys
        self.networks = older.networks | self.networks


@dataclass(slots=True)
class DetectionGate:
    """The use cases that admit and count calls.

    claims_addresses: see `rules.detection.address_claims`.
    """

    store: Store
    plan: Plan
    claims_addresses: bool
    _counted: _Counted = field(default_factory=_Counted, repr=False)
    _in_writing: _Counted = field(default_factory=_Counted, repr=False)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def admit(
        self,
        api_key: str,
        address: str,
        at: datetime,
        kind: CallKind,
        *,
        may_claim: bool = True,
    ) -> CallAdmitted | CallRefused:
        """Decide on one call.

        api_key: as it was sent; empty for none. address: of the connection, or as a trusted proxy
        reports it. may_claim: False if the address is uncertain. Calls under way are not counted,
        so a burst may exceed the allowance by as many.
        """
        network = claimable_network(address) if self.claims_addresses else None
        decision = await self._decide(api_key, network, at, kind, may_claim=may_claim)
        if _is_beyond(decision) and self._writing.locked():
            # Counts that are being written may be counted twice, and a free call would be refused
            # or charged. So decide again while nothing is written.
            async with self._writing:
                decision = await self._decide(api_key, network, at, kind, may_claim=may_claim)
        return decision

    def answered(self, admitted: CallAdmitted, at: datetime) -> None:
        """Count the call, which was answered with 200, and claim its address."""
        account_id, key_id = admitted.key.account_id, admitted.key.key_id
        self._counted.keys[key_id] = at
        if admitted.kind is CallKind.PROCESS:
            calls = Calls(all=1, paid=int(admitted.is_paid))
            self._counted.add_calls(account_id, key_id, day_of(at), calls)
        if admitted.network is not None:
            known = self._counted.networks.get(admitted.network)
            claim = claimed(known, admitted.network, account_id, at)
            if claim is not None:
                self._counted.networks[admitted.network] = claim

    async def flush(self) -> None:
        """Store the counts. Raises StoreUnavailable; then nothing is lost.

        Not to be cancelled: it would be unknown whether the counts were stored.
        """
        async with self._writing:
            batch, self._counted = self._counted, _Counted()
            if not batch.keys:
                return
            self._in_writing = batch
            try:
                await self.store.write(lambda records: _write(records, batch))
            except BaseException:
                self._counted.absorb(batch)
                raise
            finally:
                self._in_writing = _Counted()

    async def _decide(
        self, api_key: str, network: str | None, at: datetime, kind: CallKind, *, may_claim: bool
    ) -> CallAdmitted | CallRefused:
        caller = await self.store.read(
            lambda records: records.detection_keys.caller(
                digest_of_api_key(api_key), network, month_of(at)
            )
        )
        if caller is not None:
            caller = self._with_counted(caller, network, at)
        decision = decide(caller, self.plan, kind, at)
        if isinstance(decision, CallAdmitted) and may_claim:
            return CallAdmitted(
                key=decision.key, kind=kind, is_paid=decision.is_paid, network=network
            )
        return decision

    def _with_counted(
        self, caller: DetectionCaller, network: str | None, at: datetime
    ) -> DetectionCaller:
        """Add the counts that are not stored yet."""
        account_id = caller.key.account_id
        counted = [self._in_writing, self._counted]
        claim = caller.claim
        for one in counted:
            newer = one.networks.get(network or "")
            if newer is not None:
                claim = claimed(claim, newer.network, newer.account_id, newer.used_at) or claim
        more = sum(one.calls_in_month(account_id, at) for one in counted)
        return replace(caller, claim=claim, calls_so_far=caller.calls_so_far + more)


def _is_beyond(decision: CallAdmitted | CallRefused) -> bool:
    """Return whether the allowance is used up, as far as is known."""
    if isinstance(decision, CallAdmitted):
        return decision.is_paid
    return decision.error is DetectionError.FREE_USAGE_LIMIT_REACHED


async def _write(records: Records, batch: _Counted) -> None:
    for _, key_id, day, calls in batch.days():
        await records.detection_usage.add(key_id, day, calls)
    for key_id, at in batch.keys.items():
        await records.detection_keys.note_use(key_id, at)
    for network, new in batch.networks.items():
        known = await records.detection_claims.get(network)
        claim = claimed(known, network, new.account_id, new.used_at)
        if claim is not None:
            await records.detection_claims.put(claim)
    if batch.networks:
        latest = max(one.used_at for one in batch.networks.values())
        await records.detection_claims.forget(latest - CLAIM_LIFETIME)


@asynccontextmanager
async def flushing(
    gate: DetectionGate, interval_s: float = FLUSH_INTERVAL_S
) -> AsyncIterator[None]:
    """Flush the gate at this interval while open; leaving flushes the rest."""
    stop = asyncio.Event()
    task = asyncio.create_task(_flush_until(stop, gate, interval_s), name="detection-usage")
    try:
        yield
    finally:
        stop.set()
        await task


async def _flush_until(stop: asyncio.Event, gate: DetectionGate, interval_s: float) -> None:
    # The task is stopped by an event and never cancelled: a cancelled write may or may not have
    # been committed.
    while not stop.is_set():
        try:
            async with asyncio.timeout(interval_s):
                await stop.wait()
        except TimeoutError:
            pass
        await _flush(gate)


async def _flush(gate: DetectionGate) -> None:
    try:
        await gate.flush()
    except StoreUnavailable as error:
        log.warning("could not record the usage of failure detection yet: %s", error)
