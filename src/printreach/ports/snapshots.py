"""The storage of pictures, and of the videos made of them; and what makes those."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from printreach.ports import Unavailable
from printreach.rules.printers.cameras import Pose


class SnapshotsUnavailable(Unavailable):
    """The storage did not do what was asked: full, unreachable, or refused."""


class SnapshotStore(Protocol):
    """Pictures, or videos, by their ids. Each call raises SnapshotsUnavailable."""

    async def put(self, snapshot_id: str, content: bytes) -> None: ...
    async def get(self, snapshot_id: str) -> bytes | None: ...
    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        """Remove these; missing ones are ignored."""
        ...


class VideoFailed(Exception):
    """No video came of these pictures."""


class VideoTooSlow(VideoFailed):
    """It took too long, and would again."""


class VideoMaker(Protocol):
    """Makes videos, one at a time."""

    async def make(self, pictures: AsyncIterator[bytes], a_second: int, pose: Pose) -> bytes:
        """Return an MP4 of these JPEG pictures, of which a_second are shown each second.

        pose: how each of them is flipped and turned.

        Raises VideoFailed, and what the pictures raise.
        """
        ...
