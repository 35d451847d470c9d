"""What bounds the rows of a webhook, and what no jump of a clock may take away."""

from datetime import timedelta

import pytest

from printreach.hub import clock_doubt, deliveries
from printreach.hub.clock_doubt import BELIEVED_AFTER_S, ClockDoubt
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.webhooks import LIFETIME, RETRY_DELAYS, TOO_MANY, DeliveryState, Outcome
from tests.hub.webhook_world import URL, WebhookWorld, event, in_world
from tests.hub.world import ADA, OpenWorld

DOWN = Outcome(http_status=None, duration_ms=1, error="The receiver can't be reached.")
AHEAD = LIFETIME + timedelta(days=30)
A_DAY = timedelta(days=1)


async def states(here: WebhookWorld) -> list[DeliveryState]:
    return [one.state for one in await here.log()]


def test_a_flood_for_a_target_that_is_down_costs_its_own_oldest_calls(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(deliveries, "MOST_QUEUED", 5)

    async def test(here: WebhookWorld) -> None:
        other = (await here.world.connect_app()).connection_id
        await here.set_webhook("https://other.example/", connection_id=other)
        await here.happens(event(99))
        await here.owe(12)
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
    monkeypatch.setattr(deliveries, "MOST_LOGGED", 3)

    async def test(here: WebhookWorld) -> None:
        await here.owe(10)
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
        here.lived_s += BELIEVED_AFTER_S
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


def test_what_the_clock_says_again_after_it_said_otherwise_is_doubted_anew() -> None:
    lived_s = [0.0]
    doubt = ClockDoubt(lambda: lived_s[0])
    doubt.is_believed("c1")
    lived_s[0] = BELIEVED_AFTER_S
    believed = doubt.is_believed("c1")
    doubt.clear("c1")

    assert believed
    assert not doubt.is_believed("c1")


def test_doubts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_doubt, "MOST_REMEMBERED", 2)
    doubt = ClockDoubt(lambda: 0.0)
    for name in ("c1", "c2", "c3"):
        doubt.is_believed(name)

    assert list(doubt._since) == ["c2", "c3"]
