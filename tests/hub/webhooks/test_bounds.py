"""What bounds the rows of a webhook, and what no jump of a clock may take away."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from printreach.hub.clock_jumps import CONFIRMED_AFTER_S, ClockHistory
from printreach.hub.webhooks import deliveries
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.webhooks import LIFETIME, RETRY_DELAYS, TOO_MANY, DeliveryState, Outcome
from printreach.store.store import Records
from tests.fakes.clock import NOON
from tests.hub.webhooks.world import URL, WebhookWorld, event, in_world
from tests.hub.world import ADA, OpenWorld

DOWN = Outcome(http_status=None, duration_ms=1, error="The receiver can't be reached.")
T = TypeVar("T")
AHEAD = LIFETIME + timedelta(days=30)
A_DAY = timedelta(days=1)


async def states(here: WebhookWorld) -> list[DeliveryState]:
    return [one.state for one in await here.log()]


def test_a_flood_for_a_target_that_is_down_costs_its_own_oldest_calls(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(deliveries, "MAX_QUEUED", 5)

    async def test(here: WebhookWorld) -> None:
        other = (await here.world.connect_app()).connection_id
        await here.set_webhook("https://other.example/", connection_id=other)
        await here.happens(event(99))
        await here.enqueue(12)
        await here.worker.tidy()
        log = await here.log()
        of_other = await here.world.store.read(
            lambda records: records.deliveries.log_of_connection(other, 10)
        )

        dropped = [one for one in log if one.state is DeliveryState.DROPPED]
        queued = [one.event_id for one in log if one.state is DeliveryState.QUEUED]
        assert {one.error for one in dropped} == {TOO_MANY}
        assert queued == [f"event-{number:05}" for number in range(8, 13)]
        assert [one.state for one in of_other] == [DeliveryState.QUEUED]
        assert "8 calls of the webhook of" in caplog.text

    in_world(open_world, test)


def test_of_calls_that_have_ended_the_newest_are_kept(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MAX_LOGGED", 3)

    async def test(here: WebhookWorld) -> None:
        await here.enqueue(10)
        await here.deliver()
        await here.worker.tidy()
        ended = [one.event_id for one in await here.log()]
        await here.happens(event(11))
        await here.worker.tidy()

        assert ended == ["event-00008", "event-00009", "event-00010"]
        assert await states(here) == [DeliveryState.DELIVERED] * 3 + [DeliveryState.QUEUED]

    in_world(open_world, test)


def test_what_grew_since_the_last_look_alone_is_looked_at(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(event(1))
        grown, last = await here.world.store.read(lambda records: records.deliveries.grown(0))
        later = await here.world.store.read(lambda records: records.deliveries.grown(last))

        assert grown == [here.connection_id]
        assert later == ([], last)

    in_world(open_world, test)


def test_a_clock_that_jumps_half_a_year_ahead_and_back_drops_nothing(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1))
        await here.deliver()
        here.world.clock.advance(AHEAD)
        here.sender.answers.clear()
        await here.happens(event(2))
        await here.deliver()
        await here.worker.tidy()
        ahead = await states(here)
        here.world.clock.advance(-AHEAD)
        await here.worker.tidy()
        await here.deliver(RETRY_DELAYS[0])

        assert ahead == [DeliveryState.QUEUED] * 2
        assert sorted(set(here.sender.event_ids)) == ["event-00001", "event-00002"]
        assert await states(here) == [DeliveryState.DELIVERED] * 2

    in_world(open_world, test)


def test_what_ended_by_the_clock_a_day_ago_is_dropped_with_the_reason(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.world.clock.advance(LIFETIME)
        await here.happens(event(1))
        await here.deliver()
        early = await states(here)
        here.lived_s += CONFIRMED_AFTER_S
        await here.deliver(A_DAY)
        await here.happens(event(2))
        [log] = await here.log()

        assert early == [DeliveryState.QUEUED]
        assert log.state is DeliveryState.DROPPED
        assert log.error is not None
        assert "180 days" in log.error
        assert here.sender.sent == []

    in_world(open_world, test)


def test_a_jump_ends_no_webhook_with_its_owners_time_as_a_supporter(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        until = here.world.clock.now() + timedelta(days=60)
        await here.world.accounts.set_supporter(ADA, granted=True, until=until)
        await here.set_webhook()
        await here.happens(event(1))
        here.world.clock.advance(timedelta(days=90))
        await here.deliver()
        here.world.clock.advance(timedelta(days=-90))
        await here.worker.tidy()
        await here.deliver()

        assert here.sender.event_ids == ["event-00001"]

    in_world(open_world, test, SupporterPolicy.GRANTED)


def test_a_day_of_the_clock_is_believed_when_it_was_lived_through() -> None:
    lived_s = [0.0]
    clock_history = ClockHistory(lambda: lived_s[0])
    early = clock_history.confirmed_time(NOON)
    confirmed_time = early
    for hour in range(1, 31):
        lived_s[0] = hour * 3600.0
        confirmed_time = clock_history.confirmed_time(NOON + timedelta(hours=hour))

    assert early is None
    assert confirmed_time is not None
    assert NOON + timedelta(hours=5) <= confirmed_time <= NOON + timedelta(hours=6)


def test_a_jump_ahead_is_not_believed_for_a_day_nor_what_was_said_before_a_jump_back() -> None:
    lived_s = [0.0]
    clock_history = ClockHistory(lambda: lived_s[0])
    clock_history.confirmed_time(NOON)
    lived_s[0] = CONFIRMED_AFTER_S
    ahead = clock_history.confirmed_time(NOON + AHEAD)
    lived_s[0] += CONFIRMED_AFTER_S - 60
    still = clock_history.confirmed_time(NOON + AHEAD)
    lived_s[0] += 7200
    now = clock_history.confirmed_time(NOON + AHEAD)
    back = clock_history.confirmed_time(NOON)

    assert (ahead, still, now, back) == (NOON, NOON, NOON + AHEAD, NOON)


def test_doubts_cost_the_same_however_many_webhooks_there_are() -> None:
    lived_s = [0.0]
    clock_history = ClockHistory(lambda: lived_s[0])
    for tick in range(20_000):
        lived_s[0] = tick * 60.0
        clock_history.confirmed_time(NOON + timedelta(seconds=tick))

    assert len(clock_history._lowest) <= 26


def test_what_is_dropped_is_dropped_in_slices(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, others write in between."""
    monkeypatch.setattr(deliveries, "MAX_QUEUED", 5)
    monkeypatch.setattr(deliveries, "SLICE", 10)

    async def test(here: WebhookWorld) -> None:
        await here.enqueue(47)
        writes: list[Any] = []
        write = here.world.store.write

        async def counted(
            work: Callable[[Records], Awaitable[T]], *, may_overlap: bool = False
        ) -> T:
            result = await write(work, may_overlap=may_overlap)
            writes.append(result)
            return result

        here.world.store.write = counted  # type: ignore[method-assign]  # it counts
        await here.worker.tidy()

        assert (await states(here)).count(DeliveryState.DROPPED) == 42
        assert writes == [0, 10, 10, 10, 10, 2]

    in_world(open_world, test)
