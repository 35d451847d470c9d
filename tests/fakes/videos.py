"""What makes no real videos: it says which pictures it was given."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from printreach.ports.videos import VideoFailed


@dataclass
class FakeVideos:
    """ports.VideoMaker. given: the pictures of each video. fails: whether it fails."""

    given: list[list[bytes]] = field(default_factory=list)
    fails: bool = False

    async def make(self, pictures: AsyncIterator[bytes], a_second: int) -> bytes:
        taken = [picture async for picture in pictures]
        if self.fails:
            raise VideoFailed("the disk is full")
        self.given.append(taken)
        return b"video of %d pictures, %d a second" % (len(taken), a_second)
