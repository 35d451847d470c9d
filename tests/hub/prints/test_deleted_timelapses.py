"""Timelapses of an account that is deleted, while one is made and stored, too."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from printreach.backends.snapshots_disk import DiskSnapshots
from printreach.hub.accounts import Accounts
from printreach.rules.printers.cameras import Pose
from printreach.rules.prints.timelapse import MIN_PICTURES
from tests.fakes.loop import on_a_loop
from tests.fakes.videos import FakeVideos
from tests.hub.prints.test_timelapses import cinema
from tests.hub.world import OpenWorld


@on_a_loop
async def test_a_deleted_accounts_videos_are_deleted(open_world: OpenWorld) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        await here.ends()
        await here.world.accounts.delete("ada@example.org")
        await here.timelapses.forget_nobodys()

        assert here.files(".mp4") == 0


class Interrupted(FakeVideos):
    """Deletes the account while it makes the video."""

    def __init__(self, accounts: Accounts) -> None:
        super().__init__()
        self._accounts = accounts

    async def make(self, pictures: AsyncIterator[bytes], a_second: int, pose: Pose) -> bytes:
        await self._accounts.delete("ada@example.org")
        return await super().make(pictures, a_second, pose)


@on_a_loop
async def test_a_video_that_is_made_while_its_account_is_deleted_is_not_stored(
    open_world: OpenWorld,
) -> None:
    async with cinema(open_world) as here:
        await here.prints(MIN_PICTURES)
        here.making.maker = Interrupted(here.world.accounts)
        await here.ends()

        assert here.files(".mp4") == 0


class SlowFolder(DiskSnapshots):
    """Runs something between the store's look at the account and the file's being there."""

    before_put: Callable[[], Awaitable[object]]

    async def put(self, snapshot_id: str, content: bytes) -> None:
        await self.before_put()
        await super().put(snapshot_id, content)


@pytest.mark.parametrize("is_swept", [True, False])
def test_a_video_whose_account_is_deleted_while_it_is_stored_leaves_no_file(
    open_world: OpenWorld, is_swept: bool
) -> None:
    @on_a_loop
    async def body() -> None:
        async with cinema(open_world) as here:
            await here.prints(MIN_PICTURES)
            folder = SlowFolder(here.world.data_dir / "v", ".mp4")

            async def delete() -> None:
                await here.world.accounts.delete("ada@example.org")
                if is_swept:
                    await here.timelapses.forget_nobodys()

            folder.before_put = delete
            here.making.videos = folder
            await here.ends()

            assert here.files(".mp4") == 0

    body()
