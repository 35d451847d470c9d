"""Addresses are claimed by who calls from them, for as long as they call."""

from datetime import timedelta

import pytest

from printreach.contract.detection_api import DetectionError
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.detection.keys import MadeKey
from printreach.rules.detection.access import CallAdmitted, CallKind
from printreach.rules.detection.address_claims import CLAIM_LIFETIME
from printreach.rules.detection.usage import Plan
from printreach.rules.operators import COMMAND_LINE
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.detection.door import HERE, PLAN, SECOND, THERE, open_door
from tests.hub.world import ADA, OpenWorld


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
        assert isinstance(admitted, CallAdmitted)
        other.answered(admitted, NOON)
        await door.call(door.adas)
        await other.flush()
        await door.gate.flush()

        assert await door.call(door.adas) is DetectionError.API_KEY_IP_RESTRICTED


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
