"""An app's webhook with something in its log, for tests of the pages that show it."""

import time
from collections.abc import Sequence
from datetime import timedelta

from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.prints.fanout import Fanout
from printreach.hub.webhooks.deliveries import Deliveries, WebhookEnqueuer
from printreach.rules.webhooks import Outcome, Webhook
from printreach.store.store import Records
from tests.fakes.webhook_sender import FakeKeys
from tests.hub.webhooks.world import event
from tests.web.world import Browser, WebWorld, run

URL = "https://hook.example/secret?token=1"
DOWN = Outcome(http_status=None, duration_ms=9, error="The receiver can't be reached: <down>.")


async def set_webhook(world: WebWorld, connection_id: str, *event_filter: int) -> None:
    hook = Webhook(
        connection_id=connection_id,
        url=URL,
        event_filter=event_filter,
        set_at=world.clock.now(),
    )
    await world.store.write(lambda records: records.webhooks.put(hook))


async def happens(
    world: WebWorld, printer_id: str, numbers: Sequence[int], event_type: int = 1
) -> None:
    """Events come, are handed out, and each is tried once."""
    at = world.clock.now()
    news = [event(number, event_type, f"print-{number}") for number in numbers]

    async def append(records: Records) -> None:
        await records.events.append(printer_id, news, at)

    await world.store.write(append)
    enqueuer = WebhookEnqueuer(core=world.core, clock_history=ClockHistory(time.monotonic))
    await Fanout(world.core, [enqueuer]).fan_out_due()
    await deliver(world)


async def deliver(world: WebWorld) -> None:
    """What is due is tried."""
    worker = Deliveries(
        core=world.core,
        sender=world.sender,
        keys=FakeKeys(),
        clock_history=ClockHistory(time.monotonic),
        jitter=lambda: 0.0,
    )
    while await worker.begin_due():
        await worker.settled()
    await worker.close()


def a_mixed_day(world: WebWorld, browser: Browser, connection_id: str, printer_id: str) -> None:
    """One event arrived, one fails, one of the type that the filter leaves out."""

    async def live() -> None:
        await set_webhook(world, connection_id)
        await happens(world, printer_id, [1])
        world.clock.advance(timedelta(minutes=5))
        world.sender.always(URL, DOWN)
        await happens(world, printer_id, [2], event_type=3)
        world.clock.advance(timedelta(seconds=1))

    run(browser, live)


def delivery_ids(world: WebWorld, browser: Browser, connection_id: str) -> list[int]:
    """The newest first."""

    async def look() -> list[int]:
        log = await world.store.read(
            lambda records: records.deliveries.log_of_connection(connection_id, 100)
        )
        return [one.delivery_id for one in log]

    return run(browser, look)
