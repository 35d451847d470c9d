"""Progress that newer news has overtaken is not sent."""

from datetime import timedelta

import pytest

from printreach.rules.webhooks import RETRY_DELAYS, DeliveryState, Outcome
from tests.hub.webhooks.world import URL, WebhookWorld, event, in_world
from tests.hub.world import OpenWorld
from tests.relay.waiting import until

BROKEN = Outcome(http_status=500, duration_ms=1)
PATIENCE_S = 60.0
TICK = timedelta(milliseconds=1)


@pytest.mark.slow
def test_after_an_outage_only_the_newest_progress_of_a_print_is_sent(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        progress = [event(number, event_type=6) for number in range(1, 101)]
        await here.happens(*progress, event(200, event_type=2))
        await here.deliver()

        assert sorted(here.sender.event_ids) == ["event-00100", "event-00200"]
        states = [one.state for one in await here.log()]
        assert states.count(DeliveryState.DROPPED) == 99

    in_world(open_world, test)


@pytest.mark.parametrize("newer", [6, 2, 3])
def test_a_progress_that_waits_for_its_retry_is_dropped_once_newer_news_was_told(
    open_world: OpenWorld, newer: int
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, BROKEN)
        await here.happens(event(1, event_type=6), event(2, event_type=6, print_id="other"))
        await here.deliver()
        here.sender.answers.clear()
        await here.happens(event(3, event_type=newer))
        await here.deliver()
        here.sender.sent.clear()
        await here.deliver(RETRY_DELAYS[0])

        assert here.sender.event_ids == ["event-00002"]
        assert (await here.log())[0].state is DeliveryState.DROPPED

    in_world(open_world, test)


def test_a_progress_is_dropped_where_a_newer_one_waits_for_its_retry(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, BROKEN)
        await here.happens(event(1, event_type=6))
        await here.deliver()
        await here.deliver(RETRY_DELAYS[0] - TICK)
        await here.happens(event(2, event_type=6))
        await here.deliver()
        here.sender.sent.clear()
        await here.deliver(TICK)
        assert here.sender.event_ids == []
        await here.deliver(RETRY_DELAYS[0])

        assert here.sender.event_ids == ["event-00002"]

    in_world(open_world, test)


@pytest.mark.slow
def test_a_progress_that_was_under_way_as_a_newer_one_was_told_is_not_tried_again(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        let_go = here.sender.fail_late(URL, "event-00001", BROKEN)
        await here.happens(event(1, event_type=6))
        assert await here.worker.begin_due()
        await until(lambda: here.sender.event_ids == ["event-00001"])
        await here.happens(event(2, event_type=6))
        await until(lambda: "event-00002" in here.sender.event_ids, PATIENCE_S)
        let_go.set()
        await here.worker.settled()
        here.new_worker()
        await here.deliver(RETRY_DELAYS[0])

        assert here.sender.event_ids == ["event-00001", "event-00002"]

    in_world(open_world, test)


def test_a_progress_that_somebody_wants_again_is_sent_stale_or_not(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(event(1, event_type=6))
        await here.deliver()
        await here.happens(event(2, event_type=6), event(3, event_type=2))
        await here.deliver()
        first = (await here.log())[0].delivery_id
        at = here.world.clock.now()
        await here.world.store.write(
            lambda records: records.deliveries.send_again(here.connection_id, first, at)
        )
        here.sender.sent.clear()
        await here.deliver()

        assert here.sender.event_ids == ["event-00001"]

    in_world(open_world, test)
