"""What makes no real videos: it says which pictures it was given."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from printreach.ports.snapshots import VideoFailed, VideoTooSlow
from printreach.rules.printers.cameras import UNTURNED, Pose


@dataclass
class FakeVideos:
    """ports.VideoMaker. given: the pictures of each video. asked: with those that failed. pose:
    of the last one. fails: whether it fails. is_slow: whether it takes too long.
    """

    asked: list[list[bytes]] = field(default_factory=list)
    given: list[list[bytes]] = field(default_factory=list)
    pose: Pose = UNTURNED
    fails: bool = False
    is_slow: bool = False

    async def make(self, pictures: AsyncIterator[bytes], a_second: int, pose: Pose) -> bytes:
        taken = [picture async for picture in pictures]
        self.asked.append(taken)
        if self.fails:
            raise VideoFailed("the disk is full")
        if self.is_slow:
            raise VideoTooSlow("it took longer than 300 s")
        self.given.append(taken)
        self.pose = pose
        return b"video of %d pictures, %d a second" % (len(taken), a_second)
