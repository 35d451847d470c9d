"""Calls of the failure-detection API: admitted, counted, and written down."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, timedelta

import pytest

from printreach.contract.detection_api import DetectionError
from printreach.hub.detection.gate import DetectionGate, flushing
from printreach.hub.detection.keys import MadeKey
from printreach.hub.detection.usage import Usage
from printreach.ports import StoreUnavailable
from printreach.rules.detection.access import CallAdmitted, CallKind, CallRefused, DetectionCaller
from printreach.rules.detection.usage import Billing, Calls, Month, Plan
from printreach.rules.operators import COMMAND_LINE
from printreach.store.store import Records
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.detection.door import HERE, PLAN, SECOND, THERE, open_door
from tests.hub.world import ADA, OpenWorld, World


@on_a_loop
async def test_an_answered_call_is_counted_and_written_down(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        assert await door.call(door.adas) is None
        assert await door.calls() == Calls()
        await door.gate.flush()
        await door.gate.flush()

        assert await door.calls() == Calls(all=1)
        [key] = await door.keys.all(door.ada.account_id)
        assert key.last_used_at == NOON


@on_a_loop
async def test_a_call_that_was_not_answered_counts_nothing_and_claims_nothing(
    open_world: OpenWorld,
) -> None:
    async with open_door(open_world) as door:
        admitted = await door.gate.admit(door.adas.api_key, HERE, NOON, CallKind.PROCESS)
        await door.gate.flush()

        assert isinstance(admitted, CallAdmitted)
        assert await door.calls() == Calls()
        assert await door.call(door.bobs) is None


@on_a_loop
async def test_contexts_cost_nothing_and_are_made_beyond_the_allowance(
    open_world: OpenWorld,
) -> None:
    async with open_door(open_world) as door:
        for _ in range(5):
            assert await door.call(door.adas, kind=CallKind.CREATE_CONTEXT) is None
        for _ in range(3):
            assert await door.call(door.adas) is None

        assert await door.call(door.adas) is DetectionError.FREE_USAGE_LIMIT_REACHED
        assert await door.call(door.adas, kind=CallKind.CREATE_CONTEXT) is None
        await door.gate.flush()
        assert await door.calls() == Calls(all=3)


@pytest.mark.parametrize("flushes_after", [0, 1, 2, 3])
@on_a_loop
async def test_the_allowance_holds_whatever_is_written_already(
    open_world: OpenWorld, flushes_after: int
) -> None:
    async with open_door(open_world) as door:
        told = []
        for number in range(4):
            if number == flushes_after:
                await door.gate.flush()
            told.append(await door.call(door.adas))

        assert told == [None, None, None, DetectionError.FREE_USAGE_LIMIT_REACHED]


@on_a_loop
async def test_all_keys_of_an_account_share_its_allowance(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        second = await door.keys.make_for(ADA, "Second", COMMAND_LINE)
        assert isinstance(second, MadeKey)
        for made in (door.adas, second, second):
            assert await door.call(made) is None

        assert await door.call(door.adas) is DetectionError.FREE_USAGE_LIMIT_REACHED
        assert await door.call(second) is DetectionError.FREE_USAGE_LIMIT_REACHED
        assert await door.call(door.bobs, THERE) is None


@on_a_loop
async def test_the_allowance_comes_back_with_the_next_month_in_utc(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        door.world.clock.at = NOON.replace(month=5, day=31, hour=23, minute=59, second=59)
        for _ in range(3):
            await door.call(door.adas)
        assert await door.call(door.adas) is DetectionError.FREE_USAGE_LIMIT_REACHED
        door.world.clock.advance(SECOND)

        assert await door.call(door.adas) is None
        await door.gate.flush()
        assert (await door.calls(), await door.calls(Month(2026, 6))) == (
            Calls(all=3),
            Calls(all=1),
        )


@on_a_loop
async def test_who_pays_goes_on_and_only_what_is_beyond_is_paid(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        usage = Usage(core=door.world.core, plan=PLAN)
        account_id = door.ada.account_id
        await usage.set_billing(account_id, on=True)
        for _ in range(3):
            await door.call(door.adas)
        assert await door.call(door.adas) is DetectionError.FREE_USAGE_LIMIT_REACHED
        await usage.set_free_only(account_id, free_only=False)
        assert await door.call(door.adas) is None
        assert await door.call(door.adas) is None
        await usage.set_free_only(account_id, free_only=True)
        assert await door.call(door.adas) is DetectionError.FREE_USAGE_LIMIT_REACHED

        await door.gate.flush()
        assert await door.calls() == Calls(all=5, paid=2)


@on_a_loop
async def test_an_account_whose_payment_failed_calls_nothing(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        usage = Usage(core=door.world.core, plan=PLAN)
        await usage.set_billing_of(ADA, Billing.BLOCKED, COMMAND_LINE)

        for kind in CallKind:
            told = await door.call(door.adas, kind=kind)
            assert told is DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED
        assert await door.call(door.bobs) is None


@on_a_loop
async def test_wrong_and_disabled_keys_are_refused_at_once(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        await door.call(door.adas)
        await door.keys.disable_any(door.adas.key.key_id, COMMAND_LINE)

        assert await door.call(door.adas) is DetectionError.API_KEY_DISABLED
        for sent in ("", "prk_", door.adas.key.key_id, door.adas.api_key.upper(), "\udcff"):
            decision = await door.gate.admit(sent, HERE, NOON, CallKind.PROCESS)
            assert isinstance(decision, CallRefused)
            assert decision.error is DetectionError.INVALID_API_KEY


@on_a_loop
async def test_what_could_not_be_written_is_written_later(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_: object) -> None:
        raise StoreUnavailable("The disk is full.")

    async with open_door(open_world) as door:
        await door.call(door.adas)
        with monkeypatch.context() as patch:
            patch.setattr(door.world.store, "write", full)
            with pytest.raises(StoreUnavailable):
                await door.gate.flush()
        await door.call(door.adas)
        await door.gate.flush()

        assert await door.calls() == Calls(all=2)
        assert await door.call(door.bobs) is DetectionError.API_KEY_IP_RESTRICTED


@on_a_loop
async def test_nothing_is_lost_at_a_clean_stop(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        async with flushing(door.gate, interval_s=3600):
            await door.call(door.adas)

        assert await door.calls() == Calls(all=1)


class WatchedGate(DetectionGate):
    """Tells when it has written something down."""

    def __init__(self, world: World) -> None:
        super().__init__(store=world.store, plan=PLAN, claims_addresses=True)
        self.wrote = asyncio.Event()
        self.has_calls = False

    async def flush(self) -> None:
        has_calls = self.has_calls
        await super().flush()
        if has_calls:
            self.wrote.set()


@on_a_loop
async def test_calls_are_written_down_meanwhile(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        gate = WatchedGate(door.world)
        door.gate = gate
        async with flushing(gate, interval_s=0.01):
            await door.call(door.adas)
            gate.has_calls = True
            async with asyncio.timeout(60):
                await gate.wrote.wait()

            assert await door.calls() == Calls(all=1)


@on_a_loop
async def test_no_call_is_refused_for_having_been_counted_twice(open_world: OpenWorld) -> None:
    async with open_door(open_world, Plan(free_calls=50)) as door:

        async def flush_all_the_time(until: asyncio.Event) -> None:
            while not until.is_set():
                await door.gate.flush()
                await asyncio.sleep(0)

        over = asyncio.Event()
        flushing = asyncio.create_task(flush_all_the_time(over))
        told = [await door.call(door.adas) for _ in range(51)]
        over.set()
        await flushing

        assert told == [None] * 50 + [DetectionError.FREE_USAGE_LIMIT_REACHED]


@on_a_loop
async def test_no_call_is_paid_for_having_been_counted_twice(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed, looked = asyncio.Event(), asyncio.Event()
    async with open_door(open_world) as door:
        store = door.world.store
        usage = Usage(core=door.world.core, plan=PLAN)
        await usage.set_billing(door.ada.account_id, on=True)
        await usage.set_free_only(door.ada.account_id, free_only=False)
        await door.call(door.adas)
        await door.call(door.adas)
        write, read = store.write, store.read

        async def write_and_linger(work: Callable[[Records], Awaitable[None]]) -> None:
            await write(work)
            committed.set()
            await looked.wait()

        async def tell_and_read(
            work: Callable[[Records], Awaitable[DetectionCaller]],
        ) -> DetectionCaller:
            caller = await read(work)
            looked.set()
            return caller

        with monkeypatch.context() as patch:
            patch.setattr(store, "write", write_and_linger)
            patch.setattr(store, "read", tell_and_read)
            flushing = asyncio.create_task(door.gate.flush())
            await committed.wait()
            assert await door.call(door.adas) is None
            await flushing
        await door.gate.flush()

        assert await door.calls() == Calls(all=3, paid=0)


@on_a_loop
async def test_a_clock_that_goes_back_counts_where_it_stands(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        await door.call(door.adas)
        door.world.clock.at = NOON - timedelta(days=1)
        await door.call(door.adas)
        await door.gate.flush()

        days = await door.world.store.read(
            lambda records: records.detection_usage.of_month(door.ada.account_id, Month(2026, 4))
        )
        assert [(one.day, one.calls) for one in days] == [(date(2026, 4, 30), Calls(all=1))]


@on_a_loop
async def test_calls_at_other_nodes_use_up_the_allowance_once_they_are_written_down(
    open_world: OpenWorld,
) -> None:
    async with open_door(open_world) as door:
        other = DetectionGate(
            store=door.gate.store, plan=door.gate.plan, claims_addresses=door.gate.claims_addresses
        )
        for _ in range(3):
            assert await door.call(door.adas) is None
        await door.gate.flush()

        refused = await other.admit(door.adas.api_key, HERE, NOON, CallKind.PROCESS)

        assert isinstance(refused, CallRefused)
        assert refused.error is DetectionError.FREE_USAGE_LIMIT_REACHED
