"""Timelapses: collected while a print is watched, made once, kept for as long as one chose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.contract.cameras import CameraChoice
from printreach.contract.events import EventType, PrintEvent
from printreach.contract.status import (
    CurrentPrint,
    JobStatus,
    ServiceStatus,
    State,
    StatusResult,
    WebcamEntry,
    WebcamList,
)
from printreach.hub.accounts import block
from printreach.hub.prints.fanout import Fanout
from printreach.hub.prints.snapshots import Snapshots
from printreach.hub.prints.timelapses import (
    MAX_TRIES,
    PictureCollector,
    TimelapseConsumer,
    TimelapseMaking,
    Timelapses,
)
from printreach.rules.accounts import Account
from printreach.rules.printers.cameras import Pose
from printreach.rules.prints.timelapse import (
    ABANDONED_AFTER,
    DEFAULT_DAYS,
    FIRST_GAP_S,
    MAX_BYTES_OF_ACCOUNT,
    MAX_PICTURES,
    MIN_PICTURES,
    PrintKey,
    Timelapse,
)
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.videos import FakeVideos
from tests.hub.prints.test_snapshots import Camera
from tests.hub.world import PRINTER_ID, OpenWorld, World
from tests.rules.detection.test_jpeg import picture

PRINT = "print-1"
VIDEO_ID = "v" * 32
GAP = timedelta(seconds=FIRST_GAP_S)


@dataclass
class Cinema:
    """A world with a printer whose prints become videos."""

    world: World
    key: PrintKey
    collector: PictureCollector
    making: TimelapseMaking
    timelapses: Timelapses
    maker: FakeVideos
    camera: Camera
    taken: list[bytes] = field(default_factory=list)
    owners: dict[bytes, str] = field(default_factory=dict)

    async def prints(self, pictures: int) -> None:
        """The watch takes so many pictures, each as soon as it is wanted."""
        for _ in range(pictures):
            known = await self.timelapses.of_print(self.key)
            self.world.clock.advance(timedelta(seconds=known.gap_s) if known else GAP)
            self.taken.append(picture())
            await self.collector.add(self.key, self.taken[-1])

    async def happens(self, kind: EventType) -> None:
        at = self.world.clock.now()
        happened = PrintEvent(
            event_id=f"event-{kind:d}-{at.timestamp():.0f}",
            event_type=kind,
            event_time_sec=int(at.timestamp()),
            print_id=PRINT,
        )
        await self.world.store.write(
            lambda records: records.events.append(PRINTER_ID, [happened], at)
        )
        consumer = TimelapseConsumer(self.world.core.token_bytes)
        fanout = Fanout(self.world.core, [consumer], self.collector.snapshots.take)
        await fanout.fan_out_due()
        await fanout.settled()
        await fanout.close()

    async def make(self) -> None:
        await self.making.begin_due()
        await self.making.settled()

    async def was_printed(self, account: Account, prints: int = 1) -> None:
        """So many prints of the account have ended."""
        for number in range(prints):
            self.key = PrintKey(
                account_id=account.account_id, printer_id=PRINTER_ID, print_id=f"print-{number}"
            )
            await self.prints(MIN_PICTURES)
            self.owners.update(dict.fromkeys(self.taken[-MIN_PICTURES:], account.email))
            await self.world.store.write(self.make_due)

    def turns(self) -> list[str]:
        """Whose videos were begun, in this order."""
        return [self.owners[pictures[0]] for pictures in self.maker.asked]

    async def make_due(self, records: Records) -> None:
        key = self.key
        at = self.world.clock.now()
        await records.timelapses.make_due(key.account_id, key.printer_id, key.print_id, at)

    async def ends(self) -> Timelapse | None:
        await self.happens(EventType.COMPLETE)
        await self.make()
        return await self.timelapses.of_print(self.key)

    def files(self, suffix: str) -> int:
        return len(list(self.world.data_dir.rglob(f"*{suffix}")))


@asynccontextmanager
async def cinema(open_world: OpenWorld) -> AsyncIterator[Cinema]:
    async with open_world() as world:
        printer = await world.set_up()
        folder, camera, maker = world.data_dir, Camera(), FakeVideos()
        camera.answer = picture()
        snapshots = Snapshots(core=world.core, kept=DiskSnapshots(folder / "s"), http=camera)
        videos = DiskSnapshots(folder / "v", ".mp4")
        yield Cinema(
            world,
            PrintKey(account_id=printer.account_id, printer_id=PRINTER_ID, print_id=PRINT),
            PictureCollector(core=world.core, snapshots=snapshots),
            TimelapseMaking(core=world.core, snapshots=snapshots, videos=videos, maker=maker),
            Timelapses(core=world.core, videos=videos, is_offered=True),
            maker,
            camera,
        )


@on_a_loop
async def test_the_pictures_of_a_watched_print_become_a_video(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(12)
        made = await here.ends()

        assert made is not None
        assert here.maker.given == [here.taken]
        assert made.video_id is not None
        video = await here.timelapses.video(made.video_id)
        assert video == b"video of 12 pictures, 3 a second"
        assert made.size == len(video)
        assert here.files(".jpg") == 1  # the one of the event


@on_a_loop
async def test_a_video_is_turned_as_the_owner_chose_for_the_camera(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        camera = WebcamEntry(name="Door", flip_h=True)
        here.camera.statuses[PRINTER_ID] = StatusResult(
            job_status=JobStatus(state=State.COMPLETE, current_print=CurrentPrint()),
            service_status=ServiceStatus(),
            platform_version="1.0",
            features=63,
            list_webcams=WebcamList(webcams=[camera]),
        )
        chosen = CameraChoice(camera="Door", rotation=90)
        await here.world.store.write(
            lambda records: records.printers.choose_cameras(PRINTER_ID, (chosen,))
        )
        await here.ends()

        assert here.maker.pose == Pose(flip_h=True, rotation=90)


@on_a_loop
async def test_a_picture_that_comes_too_early_is_not_kept(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(2)
        here.world.clock.advance(GAP / 2)
        await here.collector.add(here.key, picture())

        assert here.files(".jpg") == 2


@pytest.mark.slow
@on_a_loop
async def test_the_pictures_of_a_long_print_are_bounded_and_span_all_of_it(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        await here.prints(3 * MAX_PICTURES // 2)
        begun = await here.timelapses.of_print(here.key)
        assert begun is not None
        assert begun.gap_s > FIRST_GAP_S
        assert here.files(".jpg") < MAX_PICTURES
        await here.ends()

        [shown] = here.maker.given
        assert MAX_PICTURES // 2 <= len(shown) < MAX_PICTURES
        assert shown[0] == here.taken[0]
        assert shown[-1] == here.taken[-1]


@pytest.mark.slow
@on_a_loop
async def test_a_print_that_is_not_watched_has_the_pictures_of_its_events(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        await here.happens(EventType.STARTED)
        for _ in range(MIN_PICTURES):
            here.world.clock.advance(timedelta(minutes=5))
            await here.happens(EventType.PROGRESS)
        made = await here.ends()

        assert made is not None
        assert made.made_at is not None
        # They stay, for apps were given their addresses.
        assert here.files(".jpg") == MIN_PICTURES + 2


@on_a_loop
async def test_too_few_pictures_make_no_video_and_leave_nothing(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES - 2)

        assert await here.ends() is None
        assert here.maker.given == []
        assert here.files(".jpg") == 1


@on_a_loop
async def test_who_wants_none_gets_none_and_loses_what_there_was(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        assert await here.ends() is not None
        assert not await here.timelapses.choose_days(here.key.account_id, "1")
        assert await here.timelapses.choose_days(here.key.account_id, "0")
        await here.timelapses.forget_old()
        assert here.files(".mp4") == 0
        await here.prints(MIN_PICTURES)

        assert await here.ends() is None


@on_a_loop
async def test_a_video_is_kept_for_as_long_as_was_chosen(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        await here.ends()
        here.world.clock.advance(timedelta(days=DEFAULT_DAYS) - GAP)
        await here.timelapses.forget_old()
        assert here.files(".mp4") == 1
        here.world.clock.advance(GAP)
        await here.timelapses.forget_old()

        assert here.files(".mp4") == 0
        assert await here.timelapses.of_print(here.key) is None


@on_a_loop
async def test_a_blocked_accounts_video_is_not_shown(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        made = await here.ends()
        assert made is not None
        assert made.video_id is not None

        async def block_her(records: Records) -> None:
            account = await records.accounts.get(here.key.account_id)
            assert account is not None
            await block(records, account, here.world.clock.now())

        await here.world.store.write(block_her)

        assert await here.timelapses.video(made.video_id) is None


@on_a_loop
async def test_the_oldest_videos_make_room(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        first = await here.ends()
        assert first is not None

        async def grow(records: Records) -> None:
            at = here.world.clock.now()
            await records.timelapses.settle(first.timelapse_id, MAX_BYTES_OF_ACCOUNT, at)

        await here.world.store.write(grow)
        here.world.clock.advance(GAP)
        here.key = PrintKey(
            account_id=here.key.account_id, printer_id=PRINTER_ID, print_id="another"
        )
        await here.prints(MIN_PICTURES)
        await here.world.store.write(here.make_due)
        await here.make()

        assert here.files(".mp4") == 1
        assert await here.timelapses.of_print(here.key) is not None


@on_a_loop
async def test_a_print_that_nobody_saw_end_gets_its_video_a_day_later(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        await here.making.end_abandoned()
        await here.make()
        assert here.maker.given == []
        here.world.clock.advance(ABANDONED_AFTER + GAP)
        await here.making.end_abandoned()
        await here.make()

        assert len(here.maker.given) == 1


@on_a_loop
async def test_a_video_that_fails_is_tried_again_and_then_given_up(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with cinema(open_world) as here:
        here.maker.fails = True
        await here.prints(MIN_PICTURES)
        await here.ends()
        for _ in range(MAX_TRIES):
            here.world.clock.advance(TimelapseMaking.lease)
            await here.make()

        assert caplog.text.count("the disk is full") == MAX_TRIES
        assert await here.timelapses.of_print(here.key) is None
        assert here.files(".jpg") == 1


@on_a_loop
async def test_a_worker_that_died_while_making_leaves_it_to_the_next(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        here.maker.fails = True
        await here.prints(MIN_PICTURES)
        await here.ends()
        here.maker.fails = False
        here.world.clock.advance(TimelapseMaking.lease)
        await here.make()

        assert here.files(".mp4") == 1


@on_a_loop
async def test_what_a_try_stored_before_it_was_stopped_is_deleted_when_it_is_given_up(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        here.maker.fails = True
        await here.prints(MIN_PICTURES)
        begun = await here.ends()
        assert begun is not None
        await here.timelapses.videos.put(VIDEO_ID, b"a video")
        await here.world.store.write(
            lambda records: records.timelapses.reserve(begun.timelapse_id, VIDEO_ID)
        )
        for _ in range(MAX_TRIES):
            here.world.clock.advance(TimelapseMaking.lease)
            await here.make()

        assert await here.timelapses.of_print(here.key) is None
        assert here.files(".mp4") == 0


@on_a_loop
async def test_the_owner_deletes_it(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        await here.ends()
        stranger = PrintKey(account_id="somebody", printer_id=PRINTER_ID, print_id=PRINT)
        await here.timelapses.delete(stranger)
        assert here.files(".mp4") == 1
        await here.timelapses.delete(here.key)

        assert here.files(".mp4") == 0
