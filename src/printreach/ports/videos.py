"""What makes a video of pictures."""

from collections.abc import AsyncIterator
from typing import Protocol


class VideoFailed(Exception):
    """No video came of these pictures."""


class VideoMaker(Protocol):
    """Makes videos, one at a time."""

    async def make(self, pictures: AsyncIterator[bytes], a_second: int) -> bytes:
        """Return an MP4 of these JPEG pictures, of which a_second are shown each second.

        Raises VideoFailed, and what the pictures raise.
        """
        ...
