"""Several workers on one database: one of them takes each picture, and hands its events out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.events import PrintEvent
from printreach.hub.prints.fanout import LEASED_FOR, Fanout
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports import Notice, Topic
from printreach.rules.printers import Printer
from printreach.store.leases import Claim, LeaseKind, leases
from printreach.store.location import DatabaseLocation
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import notices
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.events import an_event
from tests.fakes.loop import on_a_loop
from tests.hub.prints.test_fanout import fresh, replace_time
from tests.hub.prints.test_snapshots import Camera
from tests.hub.world import core_of
from tests.rigs.databases import NewDatabase
from tests.rules.detection.test_jpeg import picture
from tests.store.records import PRINTER, store_all

PRINTERS = 20


class EventNotes:
    """A consumer that leaves a notice for each event, so that the database has the order."""

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        await records.notify(Notice(Topic.PRINTER, stored.event.event_id), NOON)


@dataclass
class Worker:
    """A worker with its own connections to the database; the clock and the printers are shared."""

    store: Store
    fanout: Fanout

    async def hand_out(self) -> None:
        await self.fanout.fan_out_due()
        await self.fanout.settled()


@dataclass
class World:
    """camera: of all printers."""

    location: DatabaseLocation
    folder: Path
    ends: AsyncExitStack
    clock: FakeClock = field(default_factory=FakeClock)
    camera: Camera = field(default_factory=Camera)

    async def worker(self) -> Worker:
        store = await self.ends.enter_async_context(open_store(self.location))
        core = core_of(store, self.clock)
        snapshots = Snapshots(core=core, kept=DiskSnapshots(self.folder), http=self.camera)
        # A machine under load must not lose pictures.
        fanout = Fanout(core, [EventNotes()], snapshots.take, picture_within_s=60.0)
        self.ends.push_async_callback(fanout.close)
        return Worker(store, fanout)

    async def append(self, worker: Worker, *events: PrintEvent, printer_id: str = "p1") -> None:
        await worker.store.write(lambda records: records.events.append(printer_id, events, NOON))

    async def handed_out(self, worker: Worker) -> list[str]:
        """Return which events were handed out by now, in this order."""

        async def look(records: Records) -> list[str]:
            found = await records.connection.scalars(
                select(notices.c.key).where(notices.c.topic == Topic.PRINTER).order_by("notice_id")
            )
            return list(found)

        return await worker.store.read(look)

    async def leased(self, worker: Worker) -> list[str]:
        async def look(records: Records) -> list[str]:
            return list(await records.connection.scalars(select(leases.c.name)))

        return await worker.store.read(look)


OpenWorkers = Callable[[], AbstractAsyncContextManager[tuple[World, Worker, Worker]]]


@pytest.fixture
def open_workers(new_database: NewDatabase, tmp_path: Path) -> OpenWorkers:
    """Open a database with printers that are linked, and two workers on it."""
    location = new_database(tmp_path / "data")

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[World, Worker, Worker]]:
        async with AsyncExitStack() as ends:
            world = World(location, tmp_path / "snapshots", ends)
            world.camera.answer = picture()
            one, other = await world.worker(), await world.worker()
            await store_all(one.store)
            for number in range(2, PRINTERS + 1):
                printer = replace(PRINTER, printer_id=f"p{number}", public_key=b"%032d" % number)
                await one.store.write(linking(printer))
            yield world, one, other

    return opened


def linking(printer: Printer) -> Callable[[Records], Awaitable[None]]:
    return lambda records: records.printers.link(printer)


@on_a_loop
async def test_two_workers_ask_each_printer_for_one_picture(open_workers: OpenWorkers) -> None:
    async with open_workers() as (world, one, other):
        for number in range(1, PRINTERS + 1):
            await world.append(one, *fresh([an_event(number)]), printer_id=f"p{number}")
        await asyncio.gather(one.hand_out(), other.hand_out())

        assert world.camera.asked == PRINTERS
        handed_out = await world.handed_out(one)
        assert sorted(handed_out) == [f"event-{number:04}" for number in range(1, PRINTERS + 1)]
        assert await world.leased(one) == []


@pytest.mark.slow
@on_a_loop
async def test_events_of_one_printer_stay_in_order_whichever_worker_takes_their_picture(
    open_workers: OpenWorkers,
) -> None:
    async with open_workers() as (world, one, other):
        for number in range(1, 21):
            await world.append(one, *fresh([an_event(number)]))
            await asyncio.gather(one.hand_out(), other.hand_out())

        assert world.camera.asked == 20
        assert await world.handed_out(one) == [f"event-{number:04}" for number in range(1, 21)]


@on_a_loop
async def test_the_events_of_a_worker_that_died_are_handed_out_when_its_lease_ends(
    open_workers: OpenWorkers,
) -> None:
    async with open_workers() as (world, dead, other):
        begun = asyncio.Event()

        async def never_ends(stored: StoredEvent) -> str | None:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError(stored)

        dead.fanout = Fanout(core_of(dead.store, world.clock), [EventNotes()], never_ends)
        await world.append(dead, *fresh([an_event()]))
        await dead.fanout.fan_out_due()
        await begun.wait()

        world.clock.advance(LEASED_FOR - timedelta(seconds=1))
        await other.hand_out()
        assert await world.handed_out(other) == []

        world.clock.advance(timedelta(seconds=1))
        await other.hand_out()
        assert await world.handed_out(other) == ["event-0001"]
        latest = await other.store.read(lambda records: records.events.latest("ada"))
        assert latest is not None
        assert latest.snapshot_id is not None
        assert world.camera.asked == 1
        await dead.fanout.close()


@on_a_loop
async def test_a_worker_whose_lease_was_taken_over_hands_nothing_out(
    open_workers: OpenWorkers,
) -> None:
    async with open_workers() as (world, slow, other):
        pictures, begun, may_end = world.camera, asyncio.Event(), asyncio.Event()

        async def takes_long(stored: StoredEvent) -> str | None:
            begun.set()
            await may_end.wait()
            return "a picture that came late"

        slow.fanout = Fanout(core_of(slow.store, world.clock), [EventNotes()], takes_long)
        await world.append(slow, *fresh([an_event()]))
        await slow.fanout.fan_out_due()
        await begun.wait()
        world.clock.advance(LEASED_FOR)
        pictures.answer = None
        await other.fanout.fan_out_due()
        may_end.set()
        await slow.fanout.settled()
        assert await world.handed_out(slow) == [], "the other worker takes its picture now"
        await other.fanout.close()


@on_a_loop
async def test_a_worker_that_stops_leaves_its_events_to_the_others_at_once(
    open_workers: OpenWorkers,
) -> None:
    async with open_workers() as (world, stopping, other):
        world.camera.answer = None
        await world.append(stopping, *fresh([an_event()]))
        await stopping.fanout.fan_out_due()
        await stopping.fanout.close()
        world.camera.answer = picture()
        await other.hand_out()

        assert await world.handed_out(other) == ["event-0001"]


@on_a_loop
async def test_a_worker_that_stops_in_the_middle_of_a_claim_leaves_its_events_to_the_others(
    open_workers: OpenWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_workers() as (world, stopping, other):
        write, claiming = stopping.store.write, asyncio.Event()

        async def write_after_a_word(*args: Any, **options: Any) -> Any:
            claiming.set()
            return await write(*args, **options)

        await stopping.hand_out()  # takes up what could not be read before
        await world.append(stopping, *fresh([an_event()]))
        monkeypatch.setattr(stopping.store, "write", write_after_a_word)
        handing_out = asyncio.create_task(stopping.fanout.fan_out_due())
        await claiming.wait()
        handing_out.cancel()
        await asyncio.gather(handing_out, return_exceptions=True)
        await stopping.fanout.close()
        await other.hand_out()

        assert await world.handed_out(other) == ["event-0001"]
        assert await world.leased(other) == []


@on_a_loop
async def test_an_event_without_a_picture_waits_for_no_lease_but_that_of_its_own_printer(
    open_workers: OpenWorkers,
) -> None:
    async with open_workers() as (world, one, other):
        world.camera.answer = None
        old = replace_time(an_event(2), int(NOON.timestamp()) - 3600)
        old_too = replace_time(an_event(3), int(NOON.timestamp()) - 3600)
        await world.append(one, *fresh([an_event(1)]))
        await one.fanout.fan_out_due()
        await world.append(one, old)
        await world.append(one, old_too, printer_id="p2")
        await other.fanout.fan_out_due()

        # those of the first printer keep their order
        assert await world.handed_out(other) == ["event-0003"]


@on_a_loop
async def test_what_was_handed_out_between_the_look_and_the_claim_gets_no_second_picture(
    open_workers: OpenWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_workers() as (world, quick, slow):
        write = slow.store.write

        async def write_after_the_other(*args: Any, **options: Any) -> Any:
            await quick.hand_out()
            return await write(*args, **options)

        await world.append(quick, *fresh([an_event()]))
        await slow.fanout.fan_out_due()  # the first one takes up what could not be read before
        await slow.fanout.settled()
        world.camera.asked = 0
        await world.append(quick, *fresh([an_event(2)]))
        monkeypatch.setattr(slow.store, "write", write_after_the_other)
        await slow.hand_out()

        assert world.camera.asked == 1
        assert await world.handed_out(quick) == ["event-0001", "event-0002"]
        assert await world.leased(quick) == []


@on_a_loop
async def test_a_lease_that_a_wrong_clock_gave_for_hours_is_free(open_workers: OpenWorkers) -> None:
    async with open_workers() as (world, one, other):
        hours_ahead = NOON + timedelta(hours=3)
        claim = Claim(token="t", at=hours_ahead, until=hours_ahead + LEASED_FOR, at_most=1)
        await other.store.write(
            lambda records: records.leases.claim(LeaseKind.EVENTS, ["p1"], claim)
        )
        await world.append(one, *fresh([an_event()]))
        await one.hand_out()

        assert await world.handed_out(one) == ["event-0001"]


@on_a_loop
async def test_leases_of_workers_that_died_are_forgotten(open_workers: OpenWorkers) -> None:
    async with open_workers() as (world, one, _other):
        claim = Claim(token="t", at=NOON, until=NOON + LEASED_FOR, at_most=1)
        await one.store.write(lambda records: records.leases.claim(LeaseKind.EVENTS, ["p1"], claim))
        world.clock.advance(timedelta(days=8))
        await one.fanout.prune()

        assert await world.leased(one) == []


@on_a_loop
async def test_a_worker_that_is_alone_leases_nothing(open_workers: OpenWorkers) -> None:
    async with open_workers() as (world, alone, _):
        begun, leased = asyncio.Event(), list[str]()

        async def looks(stored: StoredEvent) -> str | None:
            leased.extend(await world.leased(alone))
            begun.set()
            return stored.snapshot_id

        core = core_of(alone.store, world.clock)
        alone.fanout = Fanout(core, [EventNotes()], looks, is_alone=True)
        await world.append(alone, *fresh([an_event()]))
        await alone.hand_out()

        assert begun.is_set()
        assert leased == []
        assert await world.handed_out(alone) == ["event-0001"]
