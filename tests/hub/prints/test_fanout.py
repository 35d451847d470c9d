"""Events are handed out once, whole, and in the order of their printer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import select

from printreach.contract.events import PrintEvent
from printreach.hub.prints.fanout import (
    KEPT_FOR,
    LEASED_FOR,
    WAIT_FOR_STORE_S,
    Fanout,
    TakePicture,
)
from printreach.ports import Notice, StoreUnavailable, Topic
from printreach.rules.printers import Printer
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import notices
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.events import an_event, some_events
from tests.fakes.loop import on_a_loop
from tests.hub.world import core_of
from tests.store.records import PRINTER, store_all

SECOND = replace(PRINTER, printer_id="p2", public_key=b"2" * 32)


class Notes:
    """A consumer that leaves a notice for each event.

    fails_at: events at which it fails behind its writing. pictures: what came with each.
    """

    def __init__(self) -> None:
        self.fails_at: set[str] = set()
        self.pictures: dict[str, str | None] = {}
        self.failed = asyncio.Event()

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        event_id = stored.event.event_id
        await records.notify(Notice(Topic.PRINTER, event_id), NOON)
        self.pictures[event_id] = stored.snapshot_id
        if event_id in self.fails_at:
            self.failed.set()
            raise ValueError("This can't be owed.")


class Camera:
    """Takes pictures when it is let. fails: raises instead."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.lets = asyncio.Event()
        self.never: set[str] = set()
        self.fails = False

    async def __call__(self, stored: StoredEvent) -> str | None:
        self.asked.append(stored.event.event_id)
        if stored.printer_id in self.never:
            await asyncio.Event().wait()
        await self.lets.wait()
        if self.fails:
            raise OSError("no film")
        return f"picture of {stored.event.event_id}"


def replace_time(event: PrintEvent, unix_s: int) -> PrintEvent:
    return structs.replace(event, event_time_sec=unix_s)


def fresh(events: list[PrintEvent]) -> list[PrintEvent]:
    """Happened just now."""
    return [replace_time(event, int(NOON.timestamp())) for event in events]


def linking(printer: Printer) -> Callable[[Records], Awaitable[None]]:
    return lambda records: records.printers.link(printer)


@dataclass
class World:
    store: Store
    clock: FakeClock = field(default_factory=FakeClock)
    notes: Notes = field(default_factory=Notes)

    def fanout(self, picture: TakePicture | None = None, **waits: Any) -> Fanout:
        return Fanout(core_of(self.store, self.clock), [self.notes], picture, **waits)

    async def append(self, *events: PrintEvent, printer_id: str = "p1") -> None:
        await self.store.write(lambda records: records.events.append(printer_id, events, NOON))

    async def owed(self) -> list[str]:
        """For which events something is owed by now, in the order in which it was written."""
        return await self._told(Topic.PRINTER)

    async def told_accounts(self) -> list[str]:
        """Whose readers were told that there is something new."""
        return await self._told(Topic.EVENT)

    async def _told(self, topic: Topic) -> list[str]:
        async def look(records: Records) -> list[str]:
            found = await records.connection.scalars(
                select(notices.c.key).where(notices.c.topic == topic.value).order_by("notice_id")
            )
            return list(found)

        return await self.store.read(look)


@pytest.fixture
def path(migrated: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "database.sqlite3"
    copy.write_bytes(migrated.read_bytes())
    return copy


@asynccontextmanager
async def world_at(path: Path) -> AsyncIterator[World]:
    async with open_store(path) as store:
        await store_all(store)
        await store.write(lambda records: records.printers.link(SECOND))
        yield World(store)


@on_a_loop
async def test_each_event_is_handed_out_once_in_its_order(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(450))
        fanout = world.fanout()

        assert await fanout.fan_out_due() == 450
        assert await fanout.fan_out_due() == 0
        assert await world.owed() == [one.event_id for one in some_events(450)]


@on_a_loop
async def test_the_accounts_readers_hear_of_it(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(3))
        await world.fanout().fan_out_due()

        assert await world.told_accounts() == ["ada"]


@on_a_loop
async def test_two_workers_at_once_owe_nothing_twice(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(200))
        await asyncio.gather(*(world.fanout().fan_out_due() for _ in range(4)))

        assert await world.owed() == [one.event_id for one in some_events(200)]


@on_a_loop
async def test_where_a_consumer_fails_nothing_is_owed_and_other_printers_go_on(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(3))
        await world.append(an_event(4), printer_id="p2")
        world.notes.fails_at = {"event-0002"}
        fanout = world.fanout()
        await fanout.fan_out_due()

        assert await world.owed() == ["event-0001", "event-0004"]


@on_a_loop
async def test_what_failed_comes_again_behind_a_while_in_its_order(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(*some_events(3))
        world.notes.fails_at = {"event-0002"}
        fanout = world.fanout(wait_after_fault_s=0.0)
        async with asyncio.timeout(60):
            trying = asyncio.create_task(fanout.fan_out_due())
            await world.notes.failed.wait()
            world.notes.fails_at.clear()
            await trying
            await fanout.fan_out_due()

        assert await world.owed() == ["event-0001", "event-0002", "event-0003"]


@on_a_loop
async def test_a_store_that_is_away_is_not_taken_for_a_consumers_fault(path: Path) -> None:
    async with world_at(path) as world:
        await world.append(an_event())
        fanout = world.fanout()
    with pytest.raises(StoreUnavailable):
        await fanout.fan_out_due()


@on_a_loop
async def test_events_with_a_picture_wait_shortly_for_a_store_that_took_no_change(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LEASED_FOR.total_seconds() > WAIT_FOR_STORE_S, "the worker takes its own events up again"
    async with world_at(path) as world:
        camera = Camera()
        await world.append(*fresh([an_event()]))
        fanout = world.fanout(camera, wait_after_fault_s=3600.0, wait_for_store_s=0.0)
        await fanout.fan_out_due()
        with monkeypatch.context() as away:
            away.setattr(world.store, "write", unavailable)
            camera.lets.set()
            await fanout.settled()
        assert await world.owed() == []

        await fanout.fan_out_due()
        await fanout.settled()
        assert await world.owed() == ["event-0001"]


async def unavailable(*_: object, **_options: object) -> None:
    raise StoreUnavailable("away")


@on_a_loop
async def test_events_that_wait_together_go_out_with_one_picture(path: Path) -> None:
    async with world_at(path) as world:
        camera = Camera()
        camera.lets.set()
        await world.append(*fresh(some_events(2)))
        fanout = world.fanout(camera)
        await fanout.fan_out_due()
        await fanout.settled()

        assert camera.asked == ["event-0002"]
        assert set(world.notes.pictures.values()) == {"picture of event-0002"}
        latest = await world.store.read(lambda records: records.events.latest("ada"))
        assert latest is not None
        assert latest.snapshot_id == "picture of event-0002"


@on_a_loop
async def test_what_happened_long_ago_is_in_no_picture_of_now(path: Path) -> None:
    async with world_at(path) as world:
        camera = Camera()
        await world.append(replace_time(an_event(), int(NOON.timestamp()) - 61))
        await world.fanout(camera).fan_out_due()

        assert camera.asked == []
        assert await world.owed() == ["event-0001"]


@on_a_loop
async def test_a_printer_whose_picture_takes_long_holds_up_no_other(path: Path) -> None:
    async with world_at(path) as world:
        camera = Camera()
        camera.never = {"p1"}
        camera.lets.set()
        await world.append(*fresh(some_events(300)))
        await world.append(*fresh([an_event(301)]), printer_id="p2")
        fanout, freed = world.fanout(camera, picture_within_s=300.0), asyncio.Event()
        fanout.on_freed(freed.set)
        await fanout.fan_out_due()
        async with asyncio.timeout(60):
            await freed.wait()
        await fanout.close()

        assert await world.owed() == ["event-0301"]


@on_a_loop
async def test_events_whose_pictures_come_at_the_same_time_are_handed_out_together(
    path: Path,
) -> None:
    async with world_at(path) as world:
        camera, names = Camera(), [f"many-{number}" for number in range(10)]
        for number, name in enumerate(names):
            one = replace(PRINTER, printer_id=name, public_key=b"%032d" % number)
            await world.store.write(linking(one))
            await world.append(*fresh([an_event(number)]), printer_id=name)
        fanout = world.fanout(camera)
        await fanout.fan_out_due()
        camera.lets.set()
        await fanout.settled()

        assert len(await world.owed()) == 10
        units = len(await world.told_accounts())
        assert units <= 2, "each would conflict with the others, since positions follow each other"


@pytest.mark.parametrize("breaks", [False, True])
@on_a_loop
async def test_without_its_picture_an_event_goes_out_all_the_same(path: Path, breaks: bool) -> None:
    async with world_at(path) as world:
        camera = Camera()
        camera.fails = breaks
        if breaks:
            camera.lets.set()
        await world.append(*fresh([an_event()]))
        fanout = world.fanout(camera, picture_within_s=0.01)
        await fanout.fan_out_due()
        await fanout.settled()

        assert world.notes.pictures == {"event-0001": None}
        assert await world.owed() == ["event-0001"]


@on_a_loop
async def test_events_behind_a_slow_picture_follow_it_once_it_is_taken(path: Path) -> None:
    async with world_at(path) as world:
        camera, freed = Camera(), asyncio.Event()
        fanout = world.fanout(camera, picture_within_s=300.0)
        fanout.on_freed(freed.set)
        await world.append(*fresh([an_event(1)]))
        await fanout.fan_out_due()
        await world.append(*fresh([an_event(2)]))
        await fanout.fan_out_due()
        assert camera.asked in ([], ["event-0001"])

        camera.lets.set()
        async with asyncio.timeout(60):
            await freed.wait()
        await fanout.fan_out_due()
        await fanout.settled()

        assert await world.owed() == ["event-0001", "event-0002"]


@on_a_loop
async def test_what_a_stop_cut_short_is_handed_out_after_the_next_start(path: Path) -> None:
    async with world_at(path) as world:
        fanout = world.fanout(Camera(), picture_within_s=300.0)
        await world.append(*fresh([an_event()]))
        await fanout.fan_out_due()
        await fanout.close()
        assert await world.owed() == []

        await world.fanout().fan_out_due()

        assert await world.owed() == ["event-0001"]


@on_a_loop
async def test_what_is_too_old_to_be_resumed_from_is_forgotten(path: Path) -> None:
    async with world_at(path) as world:
        old, last = an_event(), an_event(2)
        await world.append(old, last)
        fanout = world.fanout()
        await fanout.fan_out_due()

        async def is_kept(event_id: str) -> bool:
            return await world.store.read(lambda records: records.events.holds("ada", event_id))

        world.clock.advance(KEPT_FOR)
        await fanout.prune()
        assert await is_kept(old.event_id)
        world.clock.advance(timedelta(seconds=1))
        await fanout.prune()

        assert not await is_kept(old.event_id)
        assert await is_kept(last.event_id), "who has heard it goes on from it"
