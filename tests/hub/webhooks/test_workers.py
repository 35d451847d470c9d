"""Workers that run beside one another, die, stop, and live with clocks that jump."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from printreach.hub.webhooks.deliveries import Deliveries
from printreach.hub.webhooks.delivery_limiter import FIRST_SLOTS, TargetSpeed
from printreach.hub.webhooks.outcomes import LEASE
from printreach.hub.webhooks.queue import WINDOW
from printreach.rules.webhooks import (
    DISABLED_AFTER,
    GONE,
    RETRY_DELAYS,
    DeliveryState,
    Outcome,
)
from printreach.store.store import Records
from tests.fakes.clock import NOON
from tests.fakes.webhook_sender import OK, Sent
from tests.hub.webhooks.world import URL, WebhookWorld, event, in_world
from tests.hub.world import OpenWorld
from tests.relay.waiting import until

DOWN = Outcome(http_status=None, duration_ms=1, error="The receiver can't be reached.")
BROKEN = Outcome(http_status=500, duration_ms=1)
OTHER_URL = "https://other.example/"
PATIENCE_S = 60.0
TICK = timedelta(milliseconds=1)


@pytest.mark.slow
def test_two_workers_send_each_event_once(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        other = here.new_worker()
        for number in range(1, 41):
            await here.happens(event(number))
            await asyncio.gather(here.worker.begin_due(), other.begin_due())
        await asyncio.gather(here.worker.settled(), other.settled())
        while await here.worker.begin_due() + await other.begin_due():
            await asyncio.gather(here.worker.settled(), other.settled())

        assert sorted(here.sender.event_ids) == [f"event-{number:05}" for number in range(1, 41)]

    in_world(open_world, test)


def test_two_workers_that_look_at_the_same_time_share_the_webhooks(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        other = here.new_worker()
        here.sender.hang(URL)
        for _ in range(19):
            made = await here.world.connect_app()
            await here.set_webhook(connection_id=made.connection_id)
        # So that each has a connection to read by: to open one may take longer than three claims.
        await asyncio.gather(here.worker.begin_due(), other.begin_due())
        await here.happens(event())

        begun = await asyncio.gather(here.worker.begin_due(), other.begin_due())

        assert sum(begun) == 20
        assert min(begun) >= 4

    in_world(open_world, test)


def test_webhooks_of_a_target_that_answers_wait_for_its_slots_alone(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        let_go = here.sender.hang(URL)
        for _ in range(19):
            made = await here.world.connect_app()
            await here.set_webhook(connection_id=made.connection_id)
        await here.happens(event())
        await here.worker.begin_due()
        for _ in range(20):  # after each queue has looked, since reads have their turns
            await here.world.store.read(lambda records: records.deliveries.has_due(NOON))
        assert len(here.sender.sent) == FIRST_SLOTS[TargetSpeed.NEW]
        let_go.set()
        await here.worker.settled()

        assert len(here.sender.sent) == 20

    in_world(open_world, test)


def test_outcomes_that_come_together_are_stored_together(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        for _ in range(19):
            made = await here.world.connect_app()
            await here.set_webhook(connection_id=made.connection_id)
        await here.happens(event(1))
        await here.deliver()  # from now on the target has enough slots
        let_go = here.sender.hang(URL)
        await here.happens(event(2))
        await here.worker.begin_due()
        await until(lambda: len(here.sender.sent) == 40, PATIENCE_S)
        units = 0
        record = here.world.store.write

        async def count(*given: Any, **options: Any) -> Any:
            nonlocal units
            units += "may_overlap" in options
            return await record(*given, **options)

        here.world.store.write = count  # type: ignore[method-assign]
        let_go.set()
        await here.worker.settled()

        assert 1 <= units <= 3
        states = {one.state for one in await here.log()}
        assert states == {DeliveryState.DELIVERED}

    in_world(open_world, test)


def test_attempts_go_on_while_outcomes_are_stored(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        for number in range(1, 9):
            await here.happens(event(number))
            await here.deliver()  # from now on the target has enough slots
        may_store = asyncio.Event()
        store = here.world.store.write

        async def store_later(*given: Any, **options: Any) -> Any:
            if "may_overlap" in options and len(here.sender.sent) > 8:
                await may_store.wait()
            return await store(*given, **options)

        here.world.store.write = store_later  # type: ignore[method-assign]
        await here.happens(*(event(number) for number in range(101, 101 + 2 * WINDOW)))
        await here.worker.begin_due()
        await until(lambda: len(here.sender.sent) == 8 + 2 * WINDOW, PATIENCE_S)
        may_store.set()
        await here.worker.settled()

        assert len(here.sender.sent) == 8 + 2 * WINDOW

    in_world(open_world, test)


def test_a_webhook_that_a_failure_disables_is_sent_nothing_more(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        for number in range(1, 9):
            await here.happens(event(number))
            await here.deliver()  # from now on the target has enough slots
        here.sender.always(URL, BROKEN)
        await here.happens(*(event(number) for number in range(101, 111)))
        await here.deliver()
        before = len(here.sender.sent)
        here.world.clock.advance(DISABLED_AFTER)
        await here.happens(*(event(number) for number in range(201, 261)))
        await here.deliver()

        hook = await here.webhook()
        assert hook is not None
        assert hook.disabled_at is not None
        assert len(here.sender.sent) - before == WINDOW

    in_world(open_world, test)


def test_after_a_failure_nothing_begins_before_it_is_stored(open_world: OpenWorld) -> None:
    """It may have ended the webhook, as 410 does."""

    async def test(here: WebhookWorld) -> None:
        for number in range(1, 9):
            await here.happens(event(number))
            await here.deliver()  # from now on the target has enough slots
        here.sender.always(URL, Outcome(http_status=GONE, duration_ms=1))
        await here.happens(*(event(number) for number in range(101, 151)))
        await here.deliver()

        assert len(here.sender.sent) == 8 + WINDOW
        assert await here.webhook() is None

    in_world(open_world, test)


def test_what_a_worker_had_begun_when_it_died_is_sent_after_its_lease(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.hang(URL)
        await here.happens(event())
        await here.worker.begin_due()
        await until(lambda: here.sender.sent, PATIENCE_S)
        await here.kill(here.worker)
        here.sender.answers.clear()
        other = here.new_worker()

        assert await other.begin_due() == 0
        here.world.clock.advance(LEASE + TICK)
        assert await other.begin_due() == 1
        await other.settled()
        assert here.sender.event_ids == ["event-00001", "event-00001"]

    in_world(open_world, test)


def test_a_clock_that_jumps_past_a_lease_makes_a_worker_send_nothing_twice(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        let_go = here.sender.hang(URL)
        await here.happens(event())
        await here.worker.begin_due()
        await until(lambda: here.sender.sent, PATIENCE_S)
        here.world.clock.advance(LEASE + TICK)

        assert await here.worker.begin_due() == 0
        let_go.set()
        await here.worker.settled()
        await here.deliver()
        assert here.sender.event_ids == ["event-00001"]

    in_world(open_world, test)


@pytest.mark.slow
def test_a_worker_that_stops_ends_what_it_has_begun_and_begins_no_more(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Deliveries, "stop_within_s", PATIENCE_S)

    async def test(here: WebhookWorld) -> None:
        let_go = here.sender.hang(URL)
        await here.happens(*(event(number) for number in range(1, 20)))
        await here.worker.begin_due()
        await until(lambda: here.sender.sent, PATIENCE_S)
        begun = len(here.sender.sent)
        stopping = asyncio.create_task(here.worker.close())
        await asyncio.sleep(0)
        let_go.set()
        await stopping
        assert len(here.sender.sent) == begun

        other = here.new_worker()
        while await other.begin_due():
            await other.settled()
        assert len(set(here.sender.event_ids)) == len(here.sender.event_ids) == 19

    in_world(open_world, test)


JUMPS = [timedelta(days=-400), timedelta(days=-1), timedelta(hours=-10), timedelta(days=30)]


@pytest.mark.parametrize("jump", JUMPS)
def test_a_clock_that_jumps_loses_nothing(open_world: OpenWorld, jump: timedelta) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1))
        await here.deliver()
        here.world.clock.advance(jump)
        here.sender.answers.clear()
        await here.happens(event(2))
        await here.worker.tidy()
        await here.deliver()
        await here.deliver(RETRY_DELAYS[-1] + timedelta(days=1))

        assert sorted(set(here.sender.event_ids)) == ["event-00001", "event-00002"]
        assert {one.state for one in await here.log()} == {DeliveryState.DELIVERED}

    in_world(open_world, test)


def test_an_event_that_is_owed_twice_is_sent_once(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(event(1))
        await here.happens(event(1))
        await here.deliver()

        assert here.sender.event_ids == ["event-00001"]

    in_world(open_world, test)


def test_a_fault_of_ours_at_one_delivery_keeps_no_other_waiting(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        async def stumble(sent: Sent) -> Outcome:
            if sent.event_id == "event-00001":
                raise RuntimeError("a fault of the test")
            return OK

        here.sender.answers[URL] = stumble
        await here.happens(event(1), event(2))
        await here.deliver()

        states = [one.state for one in await here.log()]
        assert states == [DeliveryState.QUEUED, DeliveryState.DELIVERED]

    in_world(open_world, test)


def test_what_the_address_before_answers_harms_no_webhook_that_was_set_since(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        let_go = asyncio.Event()

        async def gone(_: Sent) -> Outcome:
            await let_go.wait()
            return Outcome(http_status=GONE, duration_ms=1)

        here.sender.answers[URL] = gone
        await here.happens(event())
        await here.worker.begin_due()
        await until(lambda: here.sender.sent, PATIENCE_S)
        here.world.clock.advance(TICK)
        await here.set_webhook(OTHER_URL)
        let_go.set()
        await here.worker.settled()

        hook = await here.webhook()
        assert hook is not None
        assert (hook.url, hook.failures) == (OTHER_URL, 0)
        await here.deliver(RETRY_DELAYS[0])
        assert here.sender.sent[-1].url == OTHER_URL
        assert [one.state for one in await here.log()] == [DeliveryState.DELIVERED]

    in_world(open_world, test)


@pytest.mark.slow
def test_a_hundred_thousand_calls_that_are_due_hold_up_no_other_webhook(
    open_world: OpenWorld,
) -> None:
    """As after a day's outage: whoever has little to be told hears it in the first turn."""

    async def test(here: WebhookWorld) -> None:
        other = (await here.world.connect_app()).connection_id
        await here.set_webhook(OTHER_URL, connection_id=other)
        here.sender.hang(URL)
        await here.enqueue(1)
        await here.world.store.write(multiply)
        await here.happens(event(100_001))
        await here.worker.begin_due()
        await until(lambda: OTHER_URL in [one.url for one in here.sender.sent], PATIENCE_S)

        assert len(here.sender.sent) <= 1 + WINDOW

    in_world(open_world, test)


async def multiply(records: Records) -> None:
    """The call that is there, a hundred thousand times."""
    every = text(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " INSERT INTO webhook_deliveries (connection_id, event_id, event_type, print_id, at, body,"
        " state, attempts, due_at) SELECT connection_id, event_id || '-' || i, event_type,"
        " print_id, at, body, state, attempts, due_at FROM webhook_deliveries, n"
    )
    await records.connection.execute(every)
    count = text("SELECT count(*) FROM webhook_deliveries")
    assert await records.connection.scalar(count) == 100_001
