"""Every event reaches the app that wants it, whatever its server does meanwhile."""

import json
from datetime import timedelta

import pytest

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.rules.accounts import SupporterPolicy
from printreach.rules.webhooks import (
    DISABLED_AFTER,
    LIFETIME,
    RETRY_DELAYS,
    DeliveryState,
    Outcome,
)
from printreach.store.prints.events import StoredEvent
from tests.hub.webhooks.world import URL, WebhookWorld, event, in_world
from tests.hub.world import PRINTER_ID, OpenWorld
from tests.relay.waiting import until

DOWN = Outcome(http_status=None, duration_ms=1, error="The receiver can't be reached.")
BROKEN = Outcome(http_status=500, duration_ms=1)
OTHER_URL = "https://other.example/"
PATIENCE_S = 60.0
TICK = timedelta(milliseconds=1)


def test_an_event_is_sent_signed_and_logged(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(event(1))
        await here.deliver()

        [sent] = here.sender.sent
        assert sent.url == URL
        assert sent.event_id == "event-00001"
        assert sent.headers["webhook-signature"].startswith("v1a,")
        assert json.loads(sent.body)["PrinterName"] == "Workshop"
        [logged] = await here.log()
        assert (logged.state, logged.attempts) == (DeliveryState.DELIVERED, 1)
        assert (logged.http_status, logged.duration_ms) == (200, 5)

    in_world(open_world, test)


def test_a_picture_of_the_event_goes_along_as_an_address(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        at = here.world.clock.now()
        stored = StoredEvent(
            seq=1,
            account_id=(await here.account()).account_id,
            printer_id=PRINTER_ID,
            event=event(),
            received_at=at,
            snapshot_id="picture-1",
        )
        await here.world.store.write(lambda records: here.enqueuer.consume(records, stored))
        await here.deliver()

        [sent] = here.sender.sent
        assert json.loads(sent.body)["SnapshotUrl"] == (
            "https://reach.example/snapshots/picture-1.jpg"
        )

    in_world(open_world, test)


def test_an_app_that_lost_the_camera_gets_no_picture_of_what_is_queued(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        at = here.world.clock.now()
        stored = StoredEvent(
            seq=1,
            account_id=(await here.account()).account_id,
            printer_id=PRINTER_ID,
            event=event(),
            received_at=at,
            snapshot_id="picture-1",
        )
        without_camera = ALL_PERMISSIONS - {Permission.CAMERA}
        await here.world.store.write(lambda records: here.enqueuer.consume(records, stored))
        await here.world.store.write(
            lambda records: records.connections.set_permissions(here.connection_id, without_camera)
        )
        await here.deliver()

        [sent] = here.sender.sent
        assert "SnapshotUrl" not in json.loads(sent.body)
        assert json.loads(sent.body)["EventId"] == event().event_id

    in_world(open_world, test)


def test_what_fails_is_tried_by_the_schedule_and_then_given_up(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, BROKEN)
        await here.happens(event())
        await here.deliver()
        for number, delay in enumerate(RETRY_DELAYS, 1):
            await here.deliver(delay - TICK)
            assert len(here.sender.sent) == number
            await here.deliver(TICK)
            assert len(here.sender.sent) == number + 1

        [logged] = await here.log()
        assert (logged.state, logged.attempts) == (DeliveryState.GIVEN_UP, 10)
        assert logged.error == "The receiver answered 500."

    in_world(open_world, test)


def test_a_delivery_that_failed_holds_back_no_later_one(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1))
        await here.deliver()
        here.sender.answers.clear()
        await here.happens(event(2))
        await here.deliver()
        await here.deliver(RETRY_DELAYS[0])

        assert here.sender.event_ids == ["event-00001", "event-00002", "event-00001"]
        assert {one.state for one in await here.log()} == {DeliveryState.DELIVERED}

    in_world(open_world, test)


@pytest.mark.slow
def test_an_attempt_that_hangs_holds_back_no_later_event_of_the_same_webhook(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.hang(URL)
        await here.happens(event(1))
        await here.worker.begin_due()
        await until(lambda: here.sender.event_ids == ["event-00001"], PATIENCE_S)
        await here.happens(event(2))

        await until(lambda: len(here.sender.sent) == 2, PATIENCE_S)

    in_world(open_world, test)


@pytest.mark.slow
def test_targets_that_hang_delay_no_other(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        for number in range(15):
            made = await here.world.connect_app()
            url = f"https://hang{number}.example/"
            here.sender.hang(url)
            await here.set_webhook(url, connection_id=made.connection_id)
        await here.happens(*(event(number) for number in range(1, 20)))
        await here.worker.begin_due()

        def arrived() -> int:
            return sum(one.url == URL for one in here.sender.sent)

        await until(lambda: arrived() == 19, PATIENCE_S)
        # New targets get few attempts each until it is known that they answer.
        assert len(here.sender.sent) - 19 <= 48

    in_world(open_world, test)


def test_410_deletes_the_webhook_and_what_is_queued(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1))
        await here.deliver()
        here.sender.always(URL, Outcome(http_status=410, duration_ms=1))
        await here.happens(event(2))
        await here.deliver()
        await here.deliver(RETRY_DELAYS[0])

        assert await here.webhook() is None
        assert here.sender.event_ids == ["event-00001", "event-00002"]
        assert [one.due_at for one in await here.log()] == [None, None]

    in_world(open_world, test)


@pytest.mark.slow
def test_five_days_of_failures_disable_it_and_setting_it_enables_it(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        for day in range(8):
            await here.happens(event(2 * day), event(2 * day + 1))
            await here.deliver()
            here.world.clock.advance(timedelta(days=1))
        hook = await here.webhook()
        assert hook is not None
        assert hook.disabled_reason is not None
        assert hook.disabled_reason.startswith(f"No attempt succeeded for {DISABLED_AFTER.days}")
        assert DeliveryState.QUEUED not in {one.state for one in await here.log()}
        before = len(here.sender.sent)
        await here.happens(event(100))
        await here.deliver(timedelta(days=1))
        assert len(here.sender.sent) == before

        await here.set_webhook()
        await here.happens(event(101))
        await here.deliver()
        assert here.sender.event_ids[before:] == ["event-00101"]

    in_world(open_world, test)


def test_a_webhook_that_was_deleted_is_sent_nothing_more(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event())
        await here.deliver()
        await here.world.store.write(lambda records: records.webhooks.delete(here.connection_id))
        await here.deliver(RETRY_DELAYS[0])

        assert len(here.sender.sent) == 1

    in_world(open_world, test)


def test_each_attempt_uses_the_url_that_holds_by_then(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event())
        await here.deliver()
        await here.set_webhook(OTHER_URL)
        await here.deliver(RETRY_DELAYS[0])

        assert [one.url for one in here.sender.sent] == [URL, OTHER_URL]

    in_world(open_world, test)


def test_each_attempt_uses_the_filter_that_holds_by_then(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1, event_type=1))
        await here.deliver()
        await here.set_webhook(URL, 2, 3)
        await here.deliver(RETRY_DELAYS[0])

        assert len(here.sender.sent) == 1
        assert [one.state for one in await here.log()] == [DeliveryState.DROPPED]

    in_world(open_world, test)


def test_a_revoked_connection_is_sent_nothing_not_even_what_is_queued(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        await here.happens(event(1))
        await here.deliver()
        await here.world.connections.revoke(here.connection_id)
        await here.happens(event(2))
        await here.deliver(RETRY_DELAYS[0])

        assert here.sender.event_ids == ["event-00001"]
        assert await here.webhook() is None

    in_world(open_world, test)


def test_who_is_no_supporter_has_no_webhooks_meanwhile(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.happens(event(1))
        await here.world.accounts.set_supporter("ada@example.org", granted=True, until=None)
        await here.happens(event(2))
        await here.deliver()

        assert here.sender.event_ids == ["event-00002"]

    in_world(open_world, test, SupporterPolicy.GRANTED)


def test_a_webhook_is_sent_nothing_after_180_days(open_world: OpenWorld) -> None:
    async def test(here: WebhookWorld) -> None:
        here.sender.always(URL, DOWN)
        here.world.clock.advance(LIFETIME - timedelta(seconds=1))
        await here.happens(event(1))
        await here.deliver()
        await here.deliver(RETRY_DELAYS[0])
        await here.happens(event(2))
        await here.deliver()

        assert here.sender.event_ids == ["event-00001"]

    in_world(open_world, test)


def test_what_happened_to_another_account_is_none_of_the_apps_business(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        at = here.world.clock.now()
        await here.world.store.write(
            lambda records: records.events.append(PRINTER_ID, [event(1)], at)
        )
        await here.world.add_account("bob@example.org")
        await here.world.printers.remove(PRINTER_ID)
        await here.world.link_printer("bob@example.org")
        await here.fanout.fan_out_due()
        await here.deliver()

        assert here.sender.sent == []

    in_world(open_world, test)


def test_an_address_that_can_be_called_no_more_ends_what_is_queued_with_the_reason(
    open_world: OpenWorld,
) -> None:
    async def test(here: WebhookWorld) -> None:
        await here.set_webhook("https://2130706433/")
        await here.happens(event(1))
        await here.deliver()
        [log] = await here.log()

        assert log.state is DeliveryState.DROPPED
        assert log.error is not None
        assert "can't be called any more" in log.error
        assert here.sender.sent == []

    in_world(open_world, test)
