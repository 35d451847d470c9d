"""The events of an account, one after the other, from where a reader is."""

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest

from printreach.contract.events import EventType, PrintEvent
from printreach.hub.prints.event_stream import (
    MAX_STREAMS,
    OLDEST,
    PAGE,
    EventGone,
    EventStreams,
    StreamedEvent,
    TooManyStreams,
)
from printreach.hub.prints.fanout import Fanout
from printreach.ports import Notice, Topic
from tests.fakes.loop import on_a_loop
from tests.fakes.memory_bus import MemoryBus
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World

Stream = AsyncGenerator[StreamedEvent | None, None]
OTHER_KEY = b"o" * 32


class Streams:
    """Ada's streams. bus: only what a test tells it is told."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.bus = MemoryBus()
        self.streams = EventStreams(core=world.core, bus=self.bus, look_every_s=0.05)
        self.fanout = Fanout(world.core, [])

    async def happen(self, *event_ids: str, printer_id: str = PRINTER_ID) -> None:
        """Events arrive and are handed out; readers get no hint."""
        at = self.world.clock.now()
        events = [
            PrintEvent(event_id=one, event_type=EventType.PROGRESS, event_time_sec=0)
            for one in event_ids
        ]
        await self.world.store.write(lambda records: records.events.append(printer_id, events, at))
        await self.fanout.fan_out_due()


async def read(stream: Stream, count: int) -> list[str]:
    """The ids of the next events, however long they take."""
    ids: list[str] = []
    async with asyncio.timeout(120):
        while len(ids) < count:
            told = await anext(stream)
            if told is not None:
                ids.append(told.event_id)
    return ids


async def account_id(world: World) -> str:
    return (await world.set_up()).account_id


def ids(first: int, last: int) -> list[str]:
    return [f"event-{number:05d}" for number in range(first, last)]


@on_a_loop
async def test_a_reader_goes_on_after_the_event_it_has(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        await here.happen(*ids(0, 5))
        stream = await here.streams.open(ada, "event-00002")

        assert await read(stream, 2) == ids(3, 5)
        await stream.aclose()


@on_a_loop
async def test_a_reader_without_an_event_hears_what_happens_from_now_on(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        await here.happen(*ids(0, 3))
        stream = await here.streams.open(ada, None)
        await here.happen(*ids(3, 5))

        assert await read(stream, 2) == ids(3, 5)
        await stream.aclose()


@on_a_loop
async def test_the_first_event_of_an_account_is_heard(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        stream = await here.streams.open(ada, None)
        await here.happen(*ids(0, 1))

        assert await read(stream, 1) == ids(0, 1)
        await stream.aclose()


@on_a_loop
async def test_from_the_oldest_a_reader_gets_more_than_a_page_in_order(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        everything = ids(0, 2 * PAGE + 50)
        await here.happen(*everything)
        stream = await here.streams.open(ada, OLDEST)

        assert await read(stream, len(everything)) == everything
        await stream.aclose()


@pytest.mark.slow
@on_a_loop
async def test_nothing_is_lost_or_told_twice_while_events_rush_in(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        everything = ids(0, 300)

        async def rush() -> None:
            for event_id in everything:
                await here.happen(event_id)
                await here.bus.publish(Notice(Topic.EVENT, ada))

        stream = await here.streams.open(ada, None)
        rushing = asyncio.create_task(rush())
        heard = await read(stream, len(everything))
        await rushing
        await stream.aclose()

        assert heard == everything


@on_a_loop
async def test_events_are_heard_without_any_hint(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        stream = await here.streams.open(ada, None)
        assert await anext(stream) is None  # it has looked, and found nothing
        await here.happen(*ids(0, 1))

        assert await read(stream, 1) == ids(0, 1)
        await stream.aclose()


@on_a_loop
async def test_an_account_hears_of_its_own_events_alone(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        await world.add_account(BOB)
        bobs = await world.link_printer(BOB, OTHER_KEY)
        stream = await here.streams.open(ada, OLDEST)
        await here.happen("bobs-event", printer_id=bobs.printer_id)
        await here.happen("adas-event")

        assert await read(stream, 1) == ["adas-event"]
        with pytest.raises(EventGone):
            await here.streams.open(ada, "bobs-event")
        await stream.aclose()


@pytest.mark.parametrize("after", ["never-was", "", "x" * 10_000, "' OR 1=1 --"])
def test_an_event_that_is_not_kept_is_told_and_nothing_is_skipped_silently(
    open_world: OpenWorld, after: str
) -> None:
    async def ask() -> None:
        async with open_world() as world:
            ada, here = await account_id(world), Streams(world)
            await here.happen(*ids(0, 2))
            with pytest.raises(EventGone):
                await here.streams.open(ada, after)

    asyncio.run(ask())


@on_a_loop
async def test_an_event_is_told_as_a_webhook_would(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        await here.happen("event-00001")
        stream = await here.streams.open(ada, OLDEST)
        told = await anext(stream)
        assert told is not None
        await stream.aclose()

        assert json.loads(told.body) == {
            "PrinterId": PRINTER_ID,
            "PrintId": "",
            "EventType": 6,
            "EventId": "event-00001",
            "EventTimeSec": 0,
            "PrinterName": "Workshop",
            "QuickViewUrl": f"https://reach.example/printers/{PRINTER_ID}",
        }


@on_a_loop
async def test_an_account_has_so_many_streams_at_once_and_its_room_back_afterwards(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        await here.happen("event-00001")
        streams = [await here.streams.open(ada, OLDEST) for _ in range(MAX_STREAMS)]
        for stream in streams:
            await anext(stream)
        with pytest.raises(TooManyStreams):
            await here.streams.open(ada, OLDEST)
        for stream in streams:
            await stream.aclose()

        again = await here.streams.open(ada, OLDEST)
        assert await read(again, 1) == ["event-00001"]
        await again.aclose()


@on_a_loop
async def test_streams_that_are_asked_for_all_together_are_no_more_than_any_others(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada, here = await account_id(world), Streams(world)
        asked = [here.streams.open(ada, None) for _ in range(2 * MAX_STREAMS)]
        streams = await asyncio.gather(*asked)
        told = await asyncio.gather(*(anext(stream) for stream in streams), return_exceptions=True)

        assert [isinstance(one, StopAsyncIteration) for one in told].count(False) == MAX_STREAMS
        for stream in streams:
            await stream.aclose()
