"""What stands for the model where a test is about the way to it."""

import threading
import zlib
from collections.abc import Sequence

from printreach.detector.engine import Outcome
from printreach.detector.waiting import Waiting
from printreach.ports.scoring import PictureUnreadable
from printreach.rules.detection import Sight
from printreach.rules.detection_scene import Scene

GREY = tuple(range(64))


def seen(picture: bytes) -> Sight:
    """What StandIn sees in these bytes: different for different ones."""
    digest = zlib.crc32(picture)
    scene = Scene(grey=GREY, digest=digest)
    share = (digest % 1000) / 1000
    return Sight(probability=share, scene=scene, evidence=((share, 0.25), (0.5, 1.0)))


class StandIn:
    """Looks at any bytes, and remembers which together. They are looked at while it is open."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.batches: list[list[Waiting]] = []
        self.open = threading.Event()
        self.begun = threading.Event()
        self.fails_on = b""
        if is_open:
            self.open.set()

    @property
    def pictures(self) -> list[bytes]:
        return [waiting.picture for batch in self.batches for waiting in batch]

    def load(self) -> "StandIn":
        return self

    def __call__(self, batch: Sequence[Waiting]) -> list[Outcome]:
        self.batches.append(list(batch))
        self.begun.set()
        assert self.open.wait(60)
        if any(waiting.picture == self.fails_on for waiting in batch):
            raise RuntimeError("the model broke")
        return [self._outcome(waiting) for waiting in batch]

    def _outcome(self, waiting: Waiting) -> Outcome:
        if not waiting.is_wanted:
            return None
        if waiting.picture.startswith(b"bad"):
            return PictureUnreadable("it is truncated or corrupt")
        return seen(waiting.picture)
