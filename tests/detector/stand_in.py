"""A stand-in for the model, for tests of the path to it."""

import threading
import zlib
from collections.abc import Sequence

from printreach.detector.engine import Outcome
from printreach.detector.image_queue import QueuedImage
from printreach.ports.scoring import PictureUnreadable
from printreach.rules.detection import ImageAssessment
from printreach.rules.detection.scene import Scene

GREY = tuple(range(256))


def seen(picture: bytes) -> ImageAssessment:
    """Return the result of StandIn for these bytes; other bytes have another result."""
    digest = zlib.crc32(picture)
    scene = Scene(grey=GREY, digest=digest)
    share = (digest % 1000) / 1000
    return ImageAssessment(probability=share, scene=scene, evidence=((share, 0.25), (0.5, 1.0)))


class StandIn:
    """Scores any bytes while it is open, and remembers the batches."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.batches: list[list[QueuedImage]] = []
        self.open = threading.Event()
        self.begun = threading.Event()
        self.fails_on = b""
        if is_open:
            self.open.set()

    @property
    def pictures(self) -> list[bytes]:
        return [image.picture for batch in self.batches for image in batch]

    def load(self) -> "StandIn":
        return self

    def __call__(self, batch: Sequence[QueuedImage]) -> list[Outcome]:
        self.batches.append(list(batch))
        self.begun.set()
        assert self.open.wait(60)
        if any(image.picture == self.fails_on for image in batch):
            raise RuntimeError("the model broke")
        return [self._outcome(image) for image in batch]

    def _outcome(self, image: QueuedImage) -> Outcome:
        if not image.is_awaited:
            return None
        if image.picture.startswith(b"bad"):
            return PictureUnreadable("it is truncated or corrupt")
        return seen(image.picture)
