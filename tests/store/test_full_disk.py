"""A full disk: acknowledged events are stored, and refused ones are sent again."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from printreach.backends.snapshots_disk import KEPT_FREE, DiskSnapshots
from printreach.contract import signin
from printreach.contract.events import PrintEvent
from printreach.ports import StoreUnavailable
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.relay import event_intake
from printreach.relay.event_intake import EventIntake, EventLimiter
from printreach.rules.backoff import Backoff
from printreach.store.relay import SqlEventInbox
from printreach.store.store import Store, open_store
from tests.fakes.clock import FakeClock
from tests.fakes.events import some_events
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.rigs.full_disk import full_database, no_room_for_files
from tests.store.records import store_all

pytestmark = pytest.mark.sqlite

MANY = 60
PATIENCE_S = 60.0
PICTURE = b"\xff\xd8" + bytes(100_000)


def files_in(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


async def stored_ids(store: Store) -> list[str]:
    found = await store.read(lambda records: records.events.awaiting_fan_out(2 * MANY))
    return [one.event.event_id for one in found.events]


async def put_each(inbox: SqlEventInbox, events: Sequence[PrintEvent]) -> list[str]:
    """Each for itself; the ids of those that were acknowledged."""
    taken = []
    for event in events:
        try:
            await inbox.put("p1", [event])
        except StoreUnavailable:
            continue
        taken.append(event.event_id)
    return taken


@on_a_loop
async def test_what_the_inbox_took_on_a_full_disk_is_stored_and_the_rest_comes_again(
    database: Path,
) -> None:
    events = some_events(MANY)
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        async with full_database(store):
            taken = await put_each(inbox, events)
            assert len(taken) < MANY
            assert await stored_ids(store) == taken

        again = await put_each(inbox, events)
        assert len(again) == MANY
        assert sorted(await stored_ids(store)) == sorted(again)


@on_a_loop
async def test_nothing_is_half_stored_of_events_that_came_together(database: Path) -> None:
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        async with full_database(store):
            with pytest.raises(StoreUnavailable, match="database or disk is full"):
                await inbox.put("p1", some_events(MANY))

            assert await stored_ids(store) == []


@on_a_loop
async def test_an_agent_hears_that_its_events_are_stored_when_there_is_room_again(
    database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_intake, "RETRY", Backoff.doubling(0.01, 30.0))
    monkeypatch.setattr(event_intake, "BURST", MANY)
    said: list[signin.FromService] = []
    async with open_store(database) as store:
        await store_all(store)
        inbox = SqlEventInbox(store, FakeClock())
        intake = EventIntake(inbox, EventLimiter(), "p1", said.append)
        async with full_database(store):
            intake.receive(some_events(MANY))
            await until(lambda: "database or disk is full" in caplog.text, PATIENCE_S)
            assert said == []

        await until(lambda: said, PATIENCE_S)
        [word] = said
        assert isinstance(word, signin.EventsStored)
        assert await stored_ids(store) == word.event_ids


def test_pictures_leave_room_for_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(free=KEPT_FREE + len(PICTURE) - 1)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    kept = DiskSnapshots(tmp_path)

    with pytest.raises(SnapshotsUnavailable, match="256 MiB"):
        asyncio.run(kept.put("a" * 32, PICTURE))

    assert files_in(tmp_path) == []
    usage.free += 1
    asyncio.run(kept.put("a" * 32, PICTURE))


def test_a_picture_without_room_leaves_nothing_behind_and_the_next_one_is_kept(
    tmp_path: Path,
) -> None:
    kept = DiskSnapshots(tmp_path)

    async def put() -> None:
        with (
            no_room_for_files(at_most=50_000),
            pytest.raises(SnapshotsUnavailable, match="not kept"),
        ):
            await kept.put("a" * 32, PICTURE)
        assert files_in(tmp_path) == []
        await kept.put("a" * 32, PICTURE)
        assert await kept.get("a" * 32) == PICTURE

    asyncio.run(put())
