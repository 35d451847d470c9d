"""A worker that delivers webhooks, with its dependencies, on a database of its own."""

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from printreach.backends.bus_rows import open_bus
from printreach.backends.clock import SystemClock
from printreach.backends.passwords import Argon2Passwords
from printreach.backends.webhook_keys import open_webhook_keys
from printreach.contract.events import PrintEvent
from printreach.hub.account_mailer import SealedOutbox
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.prints.fanout import Fanout
from printreach.hub.webhooks.deliveries import Deliveries, WebhookEnqueuer
from printreach.ports import Bus, Notice, Topic
from printreach.ports.webhooks import WebhookSender
from printreach.rules.accounts import Account
from printreach.rules.apps import App
from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.printers import Printer
from printreach.rules.webhooks import NewDelivery, Outcome, Webhook
from printreach.run.dependencies import core_of, open_webhook_sender
from printreach.run.process import steady_time
from printreach.run.settings import settings_from
from printreach.store.relay import SqlEventInbox
from printreach.store.sealing import DataDirSealer
from printreach.store.store import Records, Store, open_store

ACCOUNT_ID = "a"
PRINTER_ID = "p1"
BODY = b'{"PrinterId":"p1","PrintId":"x","Filler":"' + b"-" * 400 + b'"}'
AT_ONCE = 1000


@dataclass
class CountingSender:
    """Sends for real, and records the time of each answer."""

    sender: WebhookSender
    answered_at: dict[str, float] = field(default_factory=dict)
    count: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def problem_with(self, url: str) -> str | None:
        return await self.sender.problem_with(url)

    async def send(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        outcome = await self.sender.send(url, headers, body)
        assert outcome.is_success, outcome
        self.count += 1
        self.answered_at.setdefault(headers[0][1], asyncio.get_running_loop().time())
        self.changed.set()
        return outcome

    async def until_answered(self, event_ids: Collection[str]) -> None:
        while not all(one in self.answered_at for one in event_ids):
            self.changed.clear()
            await self.changed.wait()


@dataclass
class Worker:
    """url: of every webhook. connection_ids: those that have one."""

    core: Core
    store: Store
    sender: CountingSender
    deliveries: Deliveries
    connection_ids: list[str]

    async def queue(self, count: int, prefix: str = "event") -> None:
        """Enqueue due deliveries, the same number for each webhook. prefix: of their event ids."""
        clock = SystemClock()
        for first in range(0, count, AT_ONCE):
            at = clock.now()
            rows = [
                NewDelivery(
                    connection_id=self.connection_ids[number % len(self.connection_ids)],
                    event_id=f"{prefix}-{number:08}",
                    event_type=1,
                    print_id="x",
                    at=at,
                    body=BODY,
                )
                for number in range(first, min(first + AT_ONCE, count))
            ]

            async def add(records: Records, rows: list[NewDelivery] = rows) -> None:
                await records.deliveries.add(rows, clock.now())

            await self.store.write(add)

    async def deliver(self, count: int) -> float:
        """Deliver this many; return the seconds it took."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        self.deliveries.on_freed(woken.set)
        began, goal = loop.time(), self.sender.count + count
        while self.sender.count < goal:
            woken.clear()
            if not await self.deliveries.begin_due() or self.sender.count < goal:
                await _soon(woken)
        return loop.time() - began

    async def latencies_ms(self, events_a_second: int, seconds: int) -> list[float]:
        """Return the latencies from an event's arrival to the answer of its first receiver."""
        loop = asyncio.get_running_loop()
        async with passing(self):
            inbox = SqlEventInbox(self.store, SystemClock())
            begun: dict[str, float] = {}
            began = loop.time()
            tasks = []
            for number in range(events_a_second * seconds):
                await asyncio.sleep(max(0.0, began + number / events_a_second - loop.time()))
                event = PrintEvent(event_id=f"timed-{number:06}", event_type=1, event_time_sec=1)
                begun[event.event_id] = loop.time()
                tasks.append(asyncio.create_task(inbox.put(PRINTER_ID, [event])))
            await asyncio.gather(*tasks)
            await self.sender.until_answered(begun.keys())
        return [1000 * (self.sender.answered_at[one] - at) for one, at in begun.items()]


@asynccontextmanager
async def worker(
    folder: Path, url: str, webhooks: int, database_url: str = ""
) -> AsyncIterator[Worker]:
    """Run it on a database, with `webhooks` new webhooks that lead to the same receiver.

    database_url: of a PostgreSQL database; by default a new file.
    """
    settings = settings_from(
        {
            "PRINTREACH_DATA_DIR": str(folder),
            "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
            "PRINTREACH_DATABASE_URL": database_url,
        }
    )
    async with AsyncExitStack() as ends:
        store = await ends.enter_async_context(open_store(settings.database))
        sender = CountingSender(open_webhook_sender(settings, ends))
        outbox = SealedOutbox(
            sealer=DataDirSealer(settings.data_dir), token_bytes=secrets.token_bytes
        )
        core = core_of(settings, store, SystemClock(), Argon2Passwords(), outbox)
        made = Deliveries(
            core=core,
            sender=sender,
            keys=open_webhook_keys(settings.data_dir),
            clock_history=ClockHistory(steady_time),
            jitter=random.SystemRandom().random,
        )
        ends.push_async_callback(made.close)
        connection_ids = await store.write(lambda records: _set_up(records, url, webhooks))
        yield Worker(core, store, sender, made, connection_ids)


async def _set_up(records: Records, url: str, webhooks: int) -> list[str]:
    at = SystemClock().now()
    account = Account(
        account_id=ACCOUNT_ID,
        email="a@example.org",
        password_hash="",
        is_admin=False,
        supporter_granted=True,
        supporter_until=None,
        created_at=at,
    )
    await records.accounts.add(account)
    await records.apps.add(App(app_id="app", name="App", return_prefixes=(), created_at=at))
    printer = Printer(
        printer_id=PRINTER_ID, account_id=ACCOUNT_ID, name="P", public_key=b"k" * 32, linked_at=at
    )
    await records.printers.link(printer)
    connection_ids = [f"c{number}-{secrets.token_hex(4)}" for number in range(webhooks)]
    for connection_id in connection_ids:
        connection = Connection(
            connection_id=connection_id,
            unique_id=f"app-{connection_id}",
            kind=ConnectionKind.APP,
            app_id="app",
            printer_id=PRINTER_ID,
            account_id=ACCOUNT_ID,
            port=None,
            created_at=at,
        )
        await records.connections.add(connection, None)
        hook = Webhook(connection_id=connection_id, url=url, event_filter=(), set_at=at)
        await records.webhooks.put(hook)
    return connection_ids


@asynccontextmanager
async def passing(here: Worker) -> AsyncIterator[Bus]:
    """Make passes as the worker role does: at each hint, and periodically without one."""
    clock, woken = SystemClock(), {Topic.INBOX: asyncio.Event(), Topic.EVENT: asyncio.Event()}
    fanout = Fanout(
        here.core,
        [WebhookEnqueuer(core=here.core, clock_history=ClockHistory(time.monotonic))],
    )
    here.deliveries.on_freed(woken[Topic.EVENT].set)

    def hear(notice: Notice) -> None:
        if notice.topic in woken:
            woken[notice.topic].set()

    async def hand_out() -> None:
        while True:
            woken[Topic.INBOX].clear()
            await fanout.fan_out_due()
            await _soon(woken[Topic.INBOX])

    async def call() -> None:
        while True:
            woken[Topic.EVENT].clear()
            await here.deliveries.begin_due()
            await _soon(woken[Topic.EVENT])

    async with open_bus(here.store, clock) as bus:
        bus.subscribe(hear, *Topic)
        tasks = [asyncio.create_task(hand_out()), asyncio.create_task(call())]
        try:
            yield bus
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await fanout.close()


async def _soon(woken: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(1):
            await woken.wait()
    except TimeoutError:
        pass  # the interval is over
