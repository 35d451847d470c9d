"""The queue of images that wait for a thread, bounded by number and by bytes."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from printreach.ports.scoring import ScoringRefused
from printreach.rules.detection import ImageAssessment
from printreach.rules.watch.choices import Region

MAX_QUEUED: Final = 32
"""At 15 ms each the queue takes half a second; on a slow machine some seconds."""
MAX_QUEUED_BYTES: Final = 64 * 1024 * 1024
"""Ten of the largest images."""


@dataclass(frozen=True, slots=True, eq=False)
class QueuedImage:
    """An image in the queue, and the future of its score."""

    picture: bytes
    masked: tuple[Region, ...]
    answer: asyncio.Future[ImageAssessment]

    @property
    def is_awaited(self) -> bool:
        """Return whether the caller still waits. Thread-safe."""
        return not self.answer.done()

    def resolve(self, outcome: ImageAssessment | ScoringRefused | None) -> None:
        """Set the outcome if the caller still waits. None: the image was not scored."""
        if not self.is_awaited:
            return
        match outcome:
            case ImageAssessment():
                self.answer.set_result(outcome)
            case ScoringRefused():
                self.answer.set_exception(outcome)
            case None:
                self.answer.cancel()

    def abandon(self) -> None:
        """Cancel it, since its caller has gone."""
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()  # else asyncio logs an exception that was never retrieved


class ImageQueue:
    """First in, first out. Not thread-safe: it belongs to one event loop."""

    def __init__(self) -> None:
        self._images: deque[QueuedImage] = deque()
        self._bytes = 0

    @property
    def load(self) -> float:
        """Return how full it is, 0 to 1."""
        return min(1.0, max(len(self._images) / MAX_QUEUED, self._bytes / MAX_QUEUED_BYTES))

    def has_room_for(self, size: int) -> bool:
        return len(self._images) < MAX_QUEUED and self._bytes + size <= MAX_QUEUED_BYTES

    def put(self, image: QueuedImage) -> None:
        self._images.append(image)
        self._bytes += len(image.picture)

    def remove(self, image: QueuedImage) -> None:
        """Remove an image if it is still queued."""
        if image in self._images:
            self._images.remove(image)
            self._bytes -= len(image.picture)

    def take(self, most: int = MAX_QUEUED) -> list[QueuedImage]:
        """Take up to `most` images from the front."""
        taken = [self._images.popleft() for _ in range(min(most, len(self._images)))]
        self._bytes -= sum(len(image.picture) for image in taken)
        return taken
