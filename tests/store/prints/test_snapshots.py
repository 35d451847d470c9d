"""Kept pictures: as files, and what is known of them."""

import asyncio
import stat
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.snapshots import Snapshot
from printreach.store.location import DatabaseLocation
from printreach.store.store import Records, Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.store.records import store_all

ONE, TWO = "a" * 32, "b" * 32
SECOND = timedelta(seconds=1)
SNAPSHOT = Snapshot(snapshot_id=ONE, account_id="ada", printer_id="p1", taken_at=NOON, size=100)


# --- files ------------------------------------------------------------------------------------


@on_a_loop
async def test_a_picture_is_kept_until_it_is_removed(tmp_path: Path) -> None:
    kept = DiskSnapshots(tmp_path / "snapshots")
    await kept.put(ONE, b"picture")
    await kept.put(TWO, b"another")
    assert await kept.get(ONE) == b"picture"

    await kept.remove([ONE, "c" * 32])
    assert await kept.get(ONE) is None
    assert await kept.get(TWO) == b"another"


def test_only_this_user_can_read_the_pictures(tmp_path: Path) -> None:
    asyncio.run(DiskSnapshots(tmp_path / "snapshots").put(ONE, b"picture"))
    [file] = [path for path in tmp_path.rglob("*") if path.is_file()]

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 32, "a" * 31, "a" * 32 + "/"])
def test_a_name_that_is_no_picture_leads_to_no_file(tmp_path: Path, name: str) -> None:
    kept = DiskSnapshots(tmp_path)
    for call in (kept.get(name), kept.put(name, b""), kept.remove([name])):
        with pytest.raises(ValueError, match="no picture's id"):
            asyncio.run(call)

    assert list(tmp_path.iterdir()) == []


@on_a_loop
async def test_a_place_that_takes_nothing_says_so_and_keeps_no_half_picture(tmp_path: Path) -> None:
    place = tmp_path / "snapshots"
    place.write_bytes(b"a file where the folder should be")
    kept = DiskSnapshots(place)

    with pytest.raises(SnapshotsUnavailable, match="was not kept"):
        await kept.put(ONE, b"picture")
    with pytest.raises(SnapshotsUnavailable):
        await kept.get(ONE)


@on_a_loop
async def test_a_picture_that_is_replaced_is_whole_all_the_time(tmp_path: Path) -> None:
    kept = DiskSnapshots(tmp_path)
    pictures = {bytes([number]) * 200_000 for number in range(10)}
    await kept.put(ONE, bytes(200_000))

    async def write() -> None:
        for picture in pictures:
            await kept.put(ONE, picture)

    writing = asyncio.create_task(write())
    while not writing.done():
        assert await kept.get(ONE) in pictures


# --- rows -------------------------------------------------------------------------------------


async def put(store: Store, *snapshots: Snapshot, last: Snapshot | None = None) -> None:
    async def add(records: Records) -> None:
        for one in snapshots:
            await records.snapshots.add(one)
        if last is not None:
            await records.snapshots.make_last(last)

    await store.write(add)


async def _forget(store: Store, snapshot_ids: Sequence[str]) -> None:
    await store.write(lambda records: records.snapshots.forget(snapshot_ids))


def made(count: int, size: int = 100) -> Sequence[Snapshot]:
    return [
        replace(
            SNAPSHOT,
            snapshot_id="abcdefghij"[number] * 32,
            taken_at=NOON + number * SECOND,
            size=size,
        )
        for number in range(count)
    ]


@on_a_loop
async def test_the_oldest_of_too_many_are_told(database: DatabaseLocation) -> None:
    async with open_store(database) as store:
        await store_all(store)
        five = made(5)
        await put(store, *five)

        async def beyond(count: int, size: int) -> list[str]:
            return await store.read(lambda records: records.snapshots.beyond("p1", count, size))

        assert await beyond(5, 500) == []
        assert await beyond(3, 500) == [five[1].snapshot_id, five[0].snapshot_id]
        assert await beyond(5, 450) == [five[0].snapshot_id]
        await put(store, last=five[0])
        assert await beyond(3, 500) == [five[1].snapshot_id]


@on_a_loop
async def test_old_pictures_are_told_but_for_the_last_of_a_printer(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        three = made(3)
        await put(store, *three, last=three[0])

        async def outdated() -> set[str]:
            """As whoever removes them finds them, piece by piece."""
            found = set[str]()
            while some := await store.read(lambda r: r.snapshots.outdated(NOON + SECOND, 10)):
                found.update(some)
                await _forget(store, some)
            return found

        async def nobodys() -> list[str]:
            return await store.read(lambda records: records.snapshots.nobodys(10))

        assert await outdated() == {three[1].snapshot_id}
        await store.write(lambda records: records.printers.remove("p1", NOON))
        assert await outdated() == {three[0].snapshot_id}
        assert await nobodys() == []
        await store.write(lambda records: records.accounts.delete("ada"))
        assert await nobodys() == [three[2].snapshot_id]


@on_a_loop
async def test_a_printer_has_one_last_picture_and_its_owner_sees_when_it_was(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        two = made(2)
        await put(store, *two, last=two[0])
        await put(store, last=two[1])

        last = await store.read(lambda records: records.snapshots.last_of("p1"))
        row = await store.read(lambda records: records.printers.row("p1"))
        assert last == two[1]
        assert row is not None
        assert row.pictured_at == two[1].taken_at


@on_a_loop
async def test_the_next_owner_of_a_printer_sees_no_picture_of_the_one_before(
    database: DatabaseLocation,
) -> None:
    async with open_store(database) as store:
        await store_all(store)
        bobs = replace(SNAPSHOT, account_id="bob")
        await put(store, bobs, last=bobs)

        row = await store.read(lambda records: records.printers.row("p1"))
        assert row is not None
        assert row.pictured_at is None
