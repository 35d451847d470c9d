"""Pictures for events: taken in time or left out, kept for a week, bounded for each printer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.events import EventType
from printreach.hub.prints import snapshots as module
from printreach.hub.prints.snapshots import Snapshots
from printreach.ports.printer_http import NO_QUERY, PrinterAnswer, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.prints.snapshots import (
    ACCOUNT_CHECKED_APART,
    KEPT_FOR,
    LAST_APART,
    MAX_BYTES_PER_PRINTER,
    MAX_PER_PRINTER,
)
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records, Store
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE, FakePrinterHttp
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World
from tests.rules.connections.test_live_links import event
from tests.rules.detection.test_jpeg import archive, picture

SECOND = timedelta(seconds=1)


class Camera(FakePrinterHttp):
    """answer: what it gives; None hangs for ever. asked: how often it was."""

    answer: bytes | PrinterRefusal | None = b""
    asked = 0

    @asynccontextmanager
    async def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AsyncIterator[PrinterAnswer | PrinterRefusal]:
        self.asked += 1
        if self.answer is None:
            await asyncio.Event().wait()
        if not isinstance(self.answer, bytes):
            yield self.answer or OFFLINE
            return

        async def chunks(body: bytes) -> AsyncIterator[bytes]:
            for at in range(0, len(body), 65536):
                yield body[at : at + 65536]

        yield PrinterAnswer("image/jpeg", None, chunks(self.answer))


@dataclass
class Studio:
    world: World
    account_id: str
    camera: Camera
    snapshots: Snapshots

    def happened(self, printer_id: str = PRINTER_ID) -> StoredEvent:
        return StoredEvent(
            seq=1,
            account_id=self.account_id,
            printer_id=printer_id,
            event=event(EventType.COMPLETE),
            received_at=self.world.clock.now(),
        )

    async def take(self) -> str | None:
        return await self.snapshots.take(self.happened())

    def files(self) -> int:
        return len(list(self.world.data_dir.rglob("*.jpg")))


@asynccontextmanager
async def studio(open_world: OpenWorld) -> AsyncIterator[Studio]:
    async with open_world() as world:
        printer = await world.set_up()
        camera = Camera()
        camera.answer = picture()
        snapshots = Snapshots(
            core=world.core, kept=DiskSnapshots(world.data_dir / "snapshots"), http=camera
        )
        yield Studio(world, printer.account_id, camera, snapshots)


@on_a_loop
async def test_a_picture_is_kept_for_a_week(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        taken = await here.take()
        assert taken is not None
        here.world.clock.advance(KEPT_FOR - SECOND)
        assert await here.snapshots.public(taken) == picture_of(here)
        here.world.clock.advance(SECOND)
        assert await here.snapshots.public(taken) is None


def picture_of(here: Studio) -> bytes:
    assert isinstance(here.camera.answer, bytes)
    return here.camera.answer


@on_a_loop
async def test_what_is_too_old_is_removed_but_for_the_last_one(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        await here.take()
        here.world.clock.advance(SECOND)
        await here.take()
        here.world.clock.advance(KEPT_FOR)
        await here.snapshots.forget_old()
        assert here.files() == 1
        last = await here.snapshots.last(here.account_id, PRINTER_ID)
        assert last is not None
        await here.world.accounts.delete("ada@example.org")
        await here.snapshots.forget_old()

        assert here.files() == 0


@on_a_loop
async def test_a_deleted_accounts_pictures_are_deleted_however_new(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        await here.take()
        await here.world.accounts.delete("ada@example.org")
        await here.snapshots.forget_nobodys()

        assert here.files() == 0


@on_a_loop
async def test_pictures_stored_at_the_same_time_need_not_be_kept_apart(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else PostgreSQL would end most of them, and run them again one after the other."""
    async with studio(open_world) as here:
        kept_apart: list[bool] = []
        write = Store.write

        async def noting(
            self: Store,
            work: Callable[[Records], Awaitable[object]],
            *,
            may_overlap: bool = False,
        ) -> object:
            kept_apart.append(not may_overlap)
            return await write(self, work, may_overlap=may_overlap)

        monkeypatch.setattr(Store, "write", noting)
        taken = await asyncio.gather(*(here.take() for _ in range(10)))

        assert None not in taken
        assert here.files() == 10
        assert kept_apart == [False] * 20


@pytest.mark.parametrize("is_swept", [True, False])
def test_a_picture_whose_account_is_deleted_while_it_is_stored_leaves_no_file(
    open_world: OpenWorld, is_swept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_a_loop
    async def body() -> None:
        async with studio(open_world) as here:
            put = here.snapshots.kept.put

            async def slow_put(snapshot_id: str, content: bytes) -> None:
                await here.world.accounts.delete("ada@example.org")
                if is_swept:
                    await here.snapshots.forget_nobodys()
                await put(snapshot_id, content)

            monkeypatch.setattr(here.snapshots.kept, "put", slow_put)
            await here.take()

            assert here.files() == 0

    body()


@pytest.mark.parametrize(
    "answer", [OFFLINE, archive(), b"", picture()[:-5], b"\xff\xd8" * 5_000_000]
)
def test_without_a_whole_picture_there_is_none(
    open_world: OpenWorld, answer: bytes | PrinterRefusal
) -> None:
    @on_a_loop
    async def body() -> None:
        async with studio(open_world) as here:
            here.camera.answer = answer
            assert await here.take() is None
            assert here.files() == 0
            here.camera.answer = picture()
            assert await here.take() is not None

    body()


def test_a_camera_that_hangs_is_left_out(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WITHIN_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with studio(open_world) as here:
            here.camera.answer = None
            assert await here.take() is None

    body()


@on_a_loop
async def test_a_printer_without_a_camera_is_not_asked_again_for_a_while(
    open_world: OpenWorld,
) -> None:
    async with studio(open_world) as here:
        here.camera.answer = PrinterRefusal(404, "There is no camera.")
        for _ in range(5):
            assert await here.take() is None
        assert here.camera.asked == 1
        here.world.clock.advance(module.NO_CAMERA_FOR)
        here.camera.answer = picture()

        assert await here.take() is not None


def test_a_printer_that_prints_all_week_floods_nobody() -> None:
    pictures = 24 * KEPT_FOR.days * 13  # its start and end, two layers, and each 10 %

    assert pictures <= MAX_PER_PRINTER
    assert pictures * 200_000 <= MAX_BYTES_PER_PRINTER


def test_a_printer_that_floods_us_loses_its_oldest_pictures(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PER_PRINTER", 3)

    @on_a_loop
    async def body() -> None:
        async with studio(open_world) as here:
            taken = []
            for _ in range(8):
                here.world.clock.advance(SECOND)
                taken.append(await here.take())

            assert here.files() == 4  # the last one isn't counted
            assert await here.snapshots.public(taken[-1] or "") is not None
            assert await here.snapshots.public(taken[0] or "") is None

    body()


def test_an_account_that_floods_us_with_printers_loses_its_oldest_pictures(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES_PER_ACCOUNT", int(3.5 * len(picture())))

    @on_a_loop
    async def body() -> None:
        async with studio(open_world) as here:
            taken = []
            for _ in range(8):
                here.world.clock.advance(ACCOUNT_CHECKED_APART)
                taken.append(await here.take())

            assert here.files() == 4  # the last one may not be deleted
            assert await here.snapshots.public(taken[-1] or "") is not None
            assert await here.snapshots.public(taken[0] or "") is None

    body()


@on_a_loop
async def test_who_looks_renews_the_last_picture_once_in_a_while(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        for _ in range(5):
            await here.snapshots.note(here.account_id, PRINTER_ID, picture())
        assert here.files() == 1
        at = here.world.clock.advance(LAST_APART)
        await here.snapshots.note(here.account_id, PRINTER_ID, picture())

        last = await here.snapshots.last(here.account_id, PRINTER_ID)
        assert last is not None
        assert last.taken_at == at


@on_a_loop
async def test_the_last_picture_is_shown_to_nobody_else(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        await here.take()
        assert await here.snapshots.last(here.account_id, PRINTER_ID) is not None

        assert await here.snapshots.last("bob", PRINTER_ID) is None
        assert await here.snapshots.last(here.account_id, "another") is None


@on_a_loop
async def test_a_full_disk_costs_the_picture_and_nothing_else(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        here.world.data_dir.joinpath("snapshots").write_bytes(b"in the way")
        await here.snapshots.note(here.account_id, PRINTER_ID, picture())

        assert await here.snapshots.public("a" * 32) is None
        later = here.world.clock.now() + KEPT_FOR
        assert await here.world.store.read(lambda rows: rows.snapshots.outdated(later, 10)) == []


@on_a_loop
async def test_an_event_of_a_former_owner_gets_no_picture_of_the_next_ones_room(
    open_world: OpenWorld,
) -> None:
    async with studio(open_world) as here:
        await here.world.printers.remove(PRINTER_ID)
        assert await here.take() is None
        await here.world.add_account(BOB)
        await here.world.link_printer(BOB)

        assert await here.take() is None
        assert here.camera.asked == 0


@on_a_loop
async def test_a_picture_of_another_camera_is_not_the_printers_last(open_world: OpenWorld) -> None:
    async with studio(open_world) as here:
        taken = await here.take()
        here.world.clock.advance(SECOND)
        other = await here.snapshots.keep(here.account_id, PRINTER_ID, picture(), is_last=False)
        last = await here.snapshots.last(here.account_id, PRINTER_ID)

        assert taken is not None
        assert last is not None
        assert last.jpeg == await here.snapshots.public(taken)
        assert await here.snapshots.public(other) is not None


@on_a_loop
async def test_what_is_dropped_is_gone_but_for_the_printers_last_picture(
    open_world: OpenWorld,
) -> None:
    async with studio(open_world) as here:
        first = await here.snapshots.keep(here.account_id, PRINTER_ID, picture())
        here.world.clock.advance(SECOND)
        last = await here.snapshots.keep(here.account_id, PRINTER_ID, picture())
        await here.snapshots.drop(PRINTER_ID, [first, last])

        assert await here.snapshots.public(first) is None
        assert await here.snapshots.public(last) is not None
        assert here.files() == 1
