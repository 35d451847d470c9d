"""What makes a video of pictures."""

from collections.abc import AsyncIterator
from typing import Protocol

from printreach.rules.printers.cameras import Pose


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
