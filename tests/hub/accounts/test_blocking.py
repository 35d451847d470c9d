"""An account that an operator blocks: who is out, what passes no more, and that all comes back."""

import asyncio
from datetime import timedelta

from printreach.contract.detection_api import DetectionError
from printreach.contract.events import EventType
from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.connections.internal_grants import internal_name
from printreach.rules.operators import Operator, OperatorAct
from tests.fakes.clock import NOON
from tests.fakes.grants import INTERNAL_KEY
from tests.fakes.loop import on_a_loop
from tests.hub.detection.door import HERE, open_door
from tests.hub.notifications.test_enqueue import reached
from tests.hub.operators.test_operating import GRACE, acts, operating
from tests.hub.prints.test_event_stream import Streams
from tests.hub.webhooks.world import WebhookWorld, in_world
from tests.hub.webhooks.world import event as told
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld, World, denied


async def block(world: World, email: str = ADA, *, blocked: bool = True) -> None:
    changed = await operating(world).set_blocked(email, blocked=blocked, by=GRACE)
    assert isinstance(changed, Account)
    assert changed.is_blocked is blocked


@on_a_loop
async def test_every_connection_of_a_blocked_account_ends_and_comes_back(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        unique_id = made.url.removeprefix("https://").partition(".")[0]
        ended = []
        for blocked in (True, False):
            await block(world, blocked=blocked)
            grant = await world.grants.grant(unique_id)
            assert grant is not None
            ended.append(grant.ended)

        assert ended == [True, False]


@on_a_loop
async def test_relays_are_told_of_both(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        await block(world)
        await block(world, blocked=False)

        assert await world.notices() == [Notice(Topic.ACCOUNT, account.account_id)] * 2


@on_a_loop
async def test_the_services_own_way_to_its_printers_is_closed_too(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        name = internal_name(INTERNAL_KEY, PRINTER_ID)
        before = await world.grants.grant(name)
        await block(world)
        after = await world.grants.grant(name)

        assert before is not None
        assert after is not None
        assert (before.ended, after.ended) == (False, True)


@on_a_loop
async def test_its_agents_stay_linked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await block(world)

        assert await world.agents.linked_among([PRINTER_ID]) == {PRINTER_ID: True}


@on_a_loop
async def test_who_is_blocked_and_let_in_is_written_down(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        await block(world)
        await block(world, blocked=False)

        assert [(one.operator, one.act, one.subject) for one in await acts(world)] == [
            (GRACE.name, OperatorAct.ACCOUNT_BLOCKED, ADA),
            (GRACE.name, OperatorAct.ACCOUNT_UNBLOCKED, ADA),
        ]


@on_a_loop
async def test_nobody_blocks_themselves(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        await world.accounts.add(BOB, "a long enough passphrase", is_admin=True)
        me = Operator(name=ADA, account_id=ada.account_id)

        refused = denied(await operating(world).set_blocked(ADA, blocked=True, by=me))

        assert refused.reason is Reason.INVALID
        assert await acts(world) == []


@on_a_loop
async def test_the_last_operator_who_is_not_blocked_is_not(open_world: OpenWorld) -> None:
    async with open_world() as world:
        for email in (ADA, BOB):
            await world.accounts.add(email, "a long enough passphrase", is_admin=True)
        await block(world, BOB)

        hub = operating(world)
        assert denied(await hub.set_blocked(ADA, blocked=True, by=GRACE)).reason is Reason.INVALID
        assert denied(await hub.set_admin(ADA, is_admin=False, by=GRACE)).reason is Reason.INVALID


@on_a_loop
async def test_one_that_is_blocked_again_keeps_its_time(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()
        await block(world)
        world.clock.advance(timedelta(hours=1))
        await block(world)

        now = await world.store.read(lambda records: records.accounts.get(account.account_id))
        assert now is not None
        assert now.blocked_at == NOON


@on_a_loop
async def test_what_waits_to_be_told_is_dropped_and_nothing_more_is_queued(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        await ada.happens([EventType.STARTED])
        await block(ada.world)
        await ada.happens([EventType.COMPLETE])
        await block(ada.world, blocked=False)
        assert await ada.send() == []

        await ada.happens([EventType.COMPLETE])
        assert await ada.send() == ["Workshop: print finished"]


def test_webhooks_are_sent_nothing_meanwhile_not_even_what_is_queued(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(told(1))
        await block(here.world)
        await here.happens(told(2))
        await here.deliver()
        await block(here.world, blocked=False)
        await here.happens(told(3))
        await here.deliver()

        assert here.sender.event_ids == ["event-00003"]

    in_world(open_world, test)


@on_a_loop
async def test_a_stream_of_events_ends_and_none_is_opened(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()
        here = Streams(world)
        stream = await here.streams.open(printer.account_id, None)
        assert await anext(stream) is None
        await block(world)

        async with asyncio.timeout(60):
            assert [one async for one in stream if one is not None] == []


@on_a_loop
async def test_its_detection_keys_are_disabled_meanwhile(open_world: OpenWorld) -> None:
    async with open_door(open_world) as door:
        await block(door.world)
        assert await door.call(door.adas) is DetectionError.API_KEY_DISABLED
        assert await door.call(door.bobs, HERE) is None
        await block(door.world, blocked=False)
        assert await door.call(door.adas) is not DetectionError.API_KEY_DISABLED
