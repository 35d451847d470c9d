"""Ada's printer with an app that wants its events, and the worker that sends them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from printreach.contract.events import PrintEvent
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.prints.fanout import Fanout
from printreach.hub.webhooks.deliveries import Deliveries, WebhookEnqueuer
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.addresses import Addresses
from printreach.rules.webhooks import LoggedDelivery, NewDelivery, Webhook
from tests.fakes.webhook_sender import FakeKeys, FakeSender
from tests.hub.world import ADA, PRINTER_ID, OpenWorld, World

URL = "https://hook.example/"
ADDRESSES = Addresses(base_url="https://reach.example", tunnel_domain="tunnel.example")
EVERYONE = SupporterPolicy.EVERYONE


@dataclass
class WebhookWorld:
    """connection_id: that of the app. worker: of this world; more can be made.

    lived_s: what a clock says that nobody sets.
    """

    world: World
    connection_id: str
    supporters: SupporterPolicy
    sender: FakeSender = field(default_factory=FakeSender)
    workers: list[Deliveries] = field(default_factory=list)
    lived_s: float = 0.0

    def __post_init__(self) -> None:
        self.clock_history = ClockHistory(lambda: self.lived_s)
        self.worker = self.new_worker()
        self.enqueuer = WebhookEnqueuer(
            core=self.world.core,
            clock_history=self.clock_history,
        )
        self.fanout = Fanout(self.world.core, [self.enqueuer])

    def new_worker(self) -> Deliveries:
        worker = Deliveries(
            core=self.world.core,
            sender=self.sender,
            keys=FakeKeys(),
            clock_history=self.clock_history,
            jitter=lambda: 0.0,
        )
        self.workers.append(worker)
        return worker

    async def kill(self, worker: Deliveries) -> None:
        """It dies in the middle of what it does, and writes nothing any more."""
        for task in list(worker._running):
            task.cancel()
        await worker.settled()

    async def set_webhook(
        self, url: str = URL, *event_filter: int, connection_id: str | None = None
    ) -> None:
        hook = Webhook(
            connection_id=connection_id or self.connection_id,
            url=url,
            event_filter=event_filter,
            set_at=self.world.clock.now(),
        )
        await self.world.store.write(lambda records: records.webhooks.put(hook))

    async def account(self) -> Account:
        found = await self.world.store.read(lambda records: records.accounts.with_email(ADA))
        assert found is not None
        return found

    async def webhook(self) -> Webhook | None:
        return await self.world.store.read(lambda records: records.webhooks.get(self.connection_id))

    async def happens(self, *events: PrintEvent) -> None:
        """Events arrive and are handed out."""
        at = self.world.clock.now()
        await self.world.store.write(
            lambda records: records.events.append(PRINTER_ID, list(events), at)
        )
        await self.fanout.fan_out_due()

    async def deliver(self, after: timedelta = timedelta(0)) -> None:
        """What is due by then is tried, and has ended."""
        self.world.clock.advance(after)
        while await self.worker.begin_due():
            await self.worker.settled()

    async def enqueue(self, count: int) -> None:
        """Queue `count` deliveries for this webhook, each of its own event."""
        at = self.world.clock.now()
        deliveries = [
            NewDelivery(
                connection_id=self.connection_id,
                event_id=f"event-{number:05}",
                event_type=1,
                print_id="print-1",
                at=at,
                body=b"{}",
            )
            for number in range(1, count + 1)
        ]
        await self.world.store.write(lambda records: records.deliveries.add(deliveries, at))

    async def log(self) -> list[LoggedDelivery]:
        """The oldest first."""
        log = await self.world.store.read(
            lambda records: records.deliveries.log_of_connection(self.connection_id, 10_000)
        )
        return log[::-1]


def event(number: int = 1, event_type: int = 1, print_id: str = "print-1") -> PrintEvent:
    return PrintEvent(
        event_id=f"event-{number:05}",
        event_type=event_type,
        event_time_sec=1_777_000_000 + number,
        print_id=print_id,
    )


@asynccontextmanager
async def webhook_world(
    open_world: OpenWorld, supporters: SupporterPolicy = EVERYONE
) -> AsyncIterator[WebhookWorld]:
    async with open_world(supporters=supporters) as world:
        await world.set_up()
        made = await world.connect_app()
        here = WebhookWorld(world, made.connection_id, supporters)
        await here.set_webhook()
        try:
            yield here
        finally:
            here.sender.let_all_go()
            for worker in here.workers:
                await worker.close()


def in_world(
    open_world: OpenWorld,
    test: Callable[[WebhookWorld], Awaitable[None]],
    supporters: SupporterPolicy = EVERYONE,
) -> None:
    """Run a test with a webhook that is set."""

    async def run() -> None:
        async with webhook_world(open_world, supporters) as here:
            await test(here)

    asyncio.run(run())
