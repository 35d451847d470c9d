"""Events: from agents to the store, and on to the account's event streams."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

import uvloop

from bench.measures import percentile
from bench.report import Figure, Measurement, Reading
from bench.webhooks import ACCOUNT_ID, PRINTER_ID, Worker, passing, worker
from bench.world import World
from printreach.backends.clock import SystemClock
from printreach.contract.events import PrintEvent
from printreach.hub.prints.event_stream import EventStreams, StreamedEvent
from printreach.store.relay import SqlEventInbox
from tests.rigs.postgresql import DURABLE, PostgresqlServer

TITLE = "events, stored and followed"
OURS = "printreach"
EVENTS = 3000
AGENTS = 64
"""Each tells its next event when the last one is stored."""
READERS = 20
"""As many as an account may have."""
EVENTS_A_SECOND = 100


def run(world: World) -> Measurement:
    rounds = range(world.plan.rounds)
    stored = [uvloop.run(_stored("")) for _ in rounds]
    with PostgresqlServer(*DURABLE, parent=Path(tempfile.gettempdir())) as server:
        on_server = [_stored_on(server) for _ in rounds]
    late = [uvloop.run(_latencies(world.plan.seconds)) for _ in rounds]
    p99 = [percentile(one, 99) for one in late]
    return Measurement(
        [
            Reading.of(OURS, "stored", "/s", stored),
            Reading.of(OURS, "stored on PostgreSQL", "/s", on_server),
            Reading.of(OURS, "p50 until it is read", "ms", [percentile(one, 50) for one in late]),
            Reading.of(OURS, "p99 until it is read", "ms", p99),
        ],
        [
            Figure.of("events.rate", stored),
            Figure.of("events.server_rate", on_server),
            Figure.of("events.p99", p99),
        ],
    )


def _stored_on(server: PostgresqlServer) -> float:
    with server.database() as url:
        return uvloop.run(_stored(url))


async def _stored(database_url: str) -> float:
    """Return events per second that survive a loss of power."""
    with tempfile.TemporaryDirectory() as folder:
        async with worker(Path(folder) / "data", "", 0, database_url) as here:
            inbox, loop = SqlEventInbox(here.store, SystemClock()), asyncio.get_running_loop()
            events = iter([_event(number) for number in range(EVENTS)])

            async def agent() -> None:
                for event in events:
                    await inbox.put(PRINTER_ID, [event])

            began = loop.time()
            await asyncio.gather(*(agent() for _ in range(AGENTS)))
            return EVENTS / (loop.time() - began)


async def _latencies(seconds: int) -> list[float]:
    """Return the latency from an event's arrival to each reader of the stream, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        async with worker(Path(folder) / "data", "", 0) as here:
            return await _followed(here, EVENTS_A_SECOND * seconds)


async def _followed(here: Worker, count: int) -> list[float]:
    loop, clock = asyncio.get_running_loop(), SystemClock()
    begun: dict[str, float] = {}
    late: list[float] = []

    async def read(told: AsyncGenerator[StreamedEvent | None, None]) -> None:
        left = count
        async for one in told:
            if one is not None:
                late.append(1000 * (loop.time() - begun[one.event_id]))
                left -= 1
            if not left:
                break
        await told.aclose()

    async with passing(here) as bus:
        inbox = SqlEventInbox(here.store, clock)
        streams = EventStreams(core=here.core, bus=bus)
        followed = [await streams.open(ACCOUNT_ID, None) for _ in range(READERS)]
        readers = [asyncio.create_task(read(one)) for one in followed]
        began, telling = loop.time(), []
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / EVENTS_A_SECOND - loop.time()))
            event = _event(number)
            begun[event.event_id] = loop.time()
            telling.append(asyncio.create_task(inbox.put(PRINTER_ID, [event])))
        await asyncio.gather(*telling, *readers)
    return late


def _event(number: int) -> PrintEvent:
    return PrintEvent(event_id=f"event-{number:06}", event_type=1, event_time_sec=1)
