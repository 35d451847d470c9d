"""Calls of the failure-detection API: admitted, counted, written down, and claims of addresses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from printreach.contract.detection_errors import DetectionError
from printreach.hub.detection_gate import DetectionGate
from printreach.hub.detection_keys import DetectionKeys, MadeKey
from printreach.hub.usage import Usage
from printreach.ports import StoreUnavailable
from printreach.rules.accounts import Account
from printreach.rules.address_claims import CLAIM_LIFETIME
from printreach.rules.detection_access import Admitted, CallKind, Refused
from printreach.rules.detection_usage import Billing, Calls, Month, Plan
from printreach.rules.operators import COMMAND_LINE
from printreach.run.counting import counting
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, OpenWorld, World

HERE, THERE = "8.8.8.8", "9.9.9.9"
PLAN = Plan(free_calls=3, offers_billing=True)
SECOND = timedelta(seconds=1)
MAY = Month(2026, 5)


@dataclass
class Door:
    """A gate with the keys of Ada, one of Bob, and what stands behind."""

    world: World
    ada: Account
    keys: DetectionKeys
    gate: DetectionGate
    adas: MadeKey
    bobs: MadeKey

    async def call(
        self,
        made: MadeKey,
        address: str = HERE,
        *,
        kind: CallKind = CallKind.PROCESS,
        may_claim: bool = True,
    ) -> DetectionError | None:
        """Ask, and where it is allowed, answer."""
        at = self.world.clock.now()
        decision = await self.gate.admit(made.api_key, address, at, kind, may_claim=may_claim)
        if isinstance(decision, Refused):
            return decision.error
        self.gate.answered(decision, at)
        return None

    async def calls(self, month: Month = MAY) -> Calls:
        """What is written down of Ada."""
        use = Usage(store=self.world.store, clock=self.world.clock, plan=PLAN)
        return (await use.month(self.ada.account_id, month)).calls


@asynccontextmanager
async def open_door(
    open_world: OpenWorld, plan: Plan = PLAN, *, claims: bool = True
) -> AsyncIterator[Door]:
    async with open_world() as world:
        keys = DetectionKeys(
            store=world.store, clock=world.clock, token_bytes=world.connections.token_bytes
        )
        ada = await world.add_account()
        await world.add_account(BOB)
        adas, bobs = (
            await keys.make_for(ADA, "", COMMAND_LINE),
            await keys.make_for(BOB, "", COMMAND_LINE),
        )
        assert isinstance(adas, MadeKey)
        assert isinstance(bobs, MadeKey)
        gate = DetectionGate(store=world.store, plan=plan, claims_addresses=claims)
        yield Door(world, ada, keys, gate, adas, bobs)


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

        assert isinstance(admitted, Admitted)
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
        usage = Usage(store=door.world.store, clock=door.world.clock, plan=PLAN)
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
        usage = Usage(store=door.world.store, clock=door.world.clock, plan=PLAN)
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
            assert isinstance(decision, Refused)
            assert decision.error is DetectionError.INVALID_API_KEY


@pytest.mark.parametrize("flushes", [False, True])
@on_a_loop
async def test_the_first_answered_call_claims_the_address_for_the_whole_account(
    open_world: OpenWorld, flushes: bool
) -> None:
    async with open_door(open_world) as door:
        second = await door.keys.make_for(ADA, "Second", COMMAND_LINE)
        assert isinstance(second, MadeKey)
        await door.call(door.adas, kind=CallKind.CREATE_CONTEXT)
        if flushes:
            await door.gate.flush()

        assert await door.call(door.bobs) is DetectionError.API_KEY_IP_RESTRICTED
        assert await door.call(second) is None
        assert await door.call(door.bobs, THERE) is None


@on_a_loop
async def test_a_claim_lapses_30_days_after_the_last_call(open_world: OpenWorld) -> None:
    async with open_door(open_world, Plan(free_calls=99)) as door:
        await door.call(door.adas)
        await door.gate.flush()
        door.world.clock.advance(timedelta(days=20))
        await door.call(door.adas)
        await door.gate.flush()
        door.world.clock.advance(CLAIM_LIFETIME - SECOND)
        assert await door.call(door.bobs) is DetectionError.API_KEY_IP_RESTRICTED
        door.world.clock.advance(SECOND)

        assert await door.call(door.bobs) is None
        await door.gate.flush()
        assert await door.call(door.adas) is DetectionError.API_KEY_IP_RESTRICTED


@pytest.mark.parametrize("address", ["127.0.0.1", "192.168.1.5", "::1", "fd00::1", ""])
@on_a_loop
async def test_an_address_that_is_not_public_is_nobodys(
    open_world: OpenWorld, address: str
) -> None:
    async with open_door(open_world) as door:
        for made in (door.adas, door.bobs, door.adas):
            assert await door.call(made, address) is None


@on_a_loop
async def test_who_may_be_anywhere_claims_nothing_and_is_still_kept_out(
    open_world: OpenWorld,
) -> None:
    async with open_door(open_world) as door:
        await door.call(door.adas, may_claim=False)
        assert await door.call(door.bobs) is None

        told = await door.call(door.adas, may_claim=False)
        assert told is DetectionError.API_KEY_IP_RESTRICTED


@on_a_loop
async def test_an_operator_can_do_without_claims(open_world: OpenWorld) -> None:
    async with open_door(open_world, claims=False) as door:
        for made in (door.adas, door.bobs):
            assert await door.call(made) is None
        await door.gate.flush()

        assert await door.world.store.read(lambda records: records.detection_claims.all()) == []


@on_a_loop
async def test_of_two_processes_the_first_to_write_has_the_address(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        other = DetectionGate(store=door.world.store, plan=PLAN, claims_addresses=True)
        admitted = await other.admit(door.bobs.api_key, HERE, NOON, CallKind.PROCESS)
        assert isinstance(admitted, Admitted)
        other.answered(admitted, NOON)
        await door.call(door.adas)
        await other.flush()
        await door.gate.flush()

        assert await door.call(door.adas) is DetectionError.API_KEY_IP_RESTRICTED


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
        async with counting(door.gate, every_s=3600):
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
        async with counting(gate, every_s=0.01):
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
async def test_calls_of_an_account_that_is_deleted_meanwhile_harm_nobody(
    open_world: OpenWorld,
) -> None:
    async with open_door(open_world) as door:
        await door.call(door.adas)
        await door.call(door.bobs, THERE)
        await door.world.accounts.delete(ADA)
        await door.gate.flush()

        [claim] = await door.world.store.read(lambda records: records.detection_claims.all())
        assert claim.network == THERE


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
