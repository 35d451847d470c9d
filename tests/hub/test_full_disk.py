"""The service's disk is full for a while: nothing is lost, and all goes on by itself."""

import pytest

from printreach.contract.events import EventType
from printreach.hub.notifications.sending import NotificationSender
from printreach.hub.webhooks.outcomes import LEASE
from printreach.ports import StoreUnavailable
from printreach.rules.webhooks import DeliveryState
from tests.fakes.loop import on_a_loop
from tests.hub.notifications.test_enqueue import reached
from tests.hub.webhooks.world import URL, WebhookWorld, event, in_world
from tests.hub.world import PRINTER_ID, OpenWorld
from tests.relay.waiting import until
from tests.rigs.full_disk import full_database

pytestmark = pytest.mark.sqlite

MANY = 80
IDS = [f"event-{number:05}" for number in range(1, MANY + 1)]
PATIENCE_S = 60.0


async def hand_out(here: WebhookWorld) -> bool:
    """Whether there was room for it."""
    try:
        await here.fanout.fan_out_due()
    except StoreUnavailable:
        return False
    return True


def test_events_that_can_not_be_handed_out_are_owed_once_there_is_room(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        await arrive(here)
        async with full_database(here.world.store):
            assert not await hand_out(here)
            owed = [one.event_id for one in await here.log()]
            waiting = await here.world.store.read(
                lambda records: records.events.awaiting_fan_out(MANY)
            )
            assert len(owed) + len(waiting.events) == MANY

        assert await hand_out(here)
        await here.deliver()
        assert sorted(here.sender.event_ids) == IDS

    in_world(open_world, test)


async def arrive(here: WebhookWorld) -> None:
    """Events that wait to be handed out."""
    at = here.world.clock.now()
    events = [event(number) for number in range(1, MANY + 1)]
    await here.world.store.write(lambda records: records.events.append(PRINTER_ID, events, at))


def test_what_was_sent_and_could_not_be_noted_is_sent_again(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        let_go = here.sender.hang(URL)
        await here.enqueue(MANY)
        await here.worker.begin_due()
        await until(lambda: here.sender.sent, PATIENCE_S)
        async with full_database(here.world.store):
            let_go.set()
            await here.worker.settled()
        here.sender.answers.clear()
        await here.deliver(LEASE)

        assert sorted(set(here.sender.event_ids)) == IDS
        assert {one.state for one in await here.log()} == {DeliveryState.DELIVERED}

    in_world(open_world, test)


@on_a_loop
async def test_news_that_was_queued_is_told_when_there_is_room(open_world: OpenWorld) -> None:
    async with reached(open_world, limit=10 * MANY) as ada:
        await ada.add_destination()
        await ada.happens([EventType.COMPLETE] * 3)
        async with full_database(ada.world.store):
            try:
                await ada.sending.begin_due()
            except StoreUnavailable:
                pass  # the next pass comes in time
            await ada.sending.settled()
        ada.world.clock.advance(2 * NotificationSender.lease)
        told = await ada.send()

        assert len(told) >= 3
        assert await ada.send() == told
