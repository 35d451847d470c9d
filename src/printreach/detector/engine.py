"""Scoring in threads of this process, from a bounded queue and in small batches.

The event loop owns the queue. An idle thread gets the images queued by then, up to a small batch,
so no image waits for a batch to become full.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from printreach.detector.image_queue import ImageQueue, QueuedImage
from printreach.ports.scoring import (
    ImageScore,
    PictureTooLarge,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection import MAX_IMAGE_BYTES, ImageAssessment
from printreach.rules.detection.detector import DetectorOff
from printreach.rules.watch.choices import Region

MAX_BATCH: Final = 4
"""Enough that the handover to a thread costs next to nothing; the first waits for few others."""
SCORE_TIMEOUT_S: Final = 10.0
"""A caller that waited longer has likely given up, or retries."""

log = logging.getLogger(__name__)

Outcome: TypeAlias = ImageAssessment | ScoringRefused | None
ScoreBatch: TypeAlias = Callable[[Sequence[QueuedImage]], Sequence[Outcome]]
"""Scores images, in any thread. The outcome is None for one whose caller has gone."""


class ModelUnavailable(Exception):
    """The model can't be used. The message tells an operator why."""


class Engine:
    """ports.scoring.Scorer, in one event loop until close().

    load: loads the model; called once, in a thread, when the first image comes. If it raises, that
    is logged once and every image is refused. off: what is known beforehand.
    """

    def __init__(
        self,
        load: Callable[[], ScoreBatch],
        *,
        threads: int,
        timeout_s: float = SCORE_TIMEOUT_S,
        off: DetectorOff | None = None,
    ) -> None:
        self.off = off
        self._load = load
        self._timeout_s = timeout_s
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="detector")
        self._idle_threads = threads
        self._queue = ImageQueue()
        self._score_batch: ScoreBatch | None = None
        self._loading: asyncio.Task[None] | None = None
        self._problem: str | None = None
        self._running: set[asyncio.Task[None]] = set()

    @property
    def load(self) -> float:
        """The load of the queue, 0 to 1."""
        return self._queue.load

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> ImageScore:
        self.check_admission(len(picture))
        image = QueuedImage(picture, tuple(masked), asyncio.get_running_loop().create_future())
        self._queue.put(image)
        try:
            self._start_batches()
            async with asyncio.timeout(self._timeout_s):
                assessment = await image.answer
        except TimeoutError:
            raise ScorerBusy(f"no score within {self._timeout_s:g} s") from None
        finally:
            image.abandon()
            self._queue.remove(image)
        return ImageScore(assessment=assessment, load=self.load)

    def check_admission(self, size: int) -> None:
        """Raise ScoringRefused if an image of `size` bytes would be refused now, whatever it
        shows.
        """
        if size > MAX_IMAGE_BYTES:
            raise PictureTooLarge(f"{size} bytes; {MAX_IMAGE_BYTES} are taken")
        if self._problem is not None:
            raise ScorerUnavailable(self._problem)
        if not self._queue.has_room_for(size):
            raise ScorerBusy("too many pictures wait already")

    async def ready(self) -> None:
        """Load the model unless it is loaded already. Raises ScorerUnavailable."""
        await asyncio.shield(self._start_loading())
        if self._problem is not None:
            raise ScorerUnavailable(self._problem)

    async def close(self) -> None:
        """Refuse queued images and wait for batches that are being scored, which takes less than a
        second.
        """
        self._refuse_all("the service is being stopped")
        running = [*self._running, *([self._loading] if self._loading is not None else [])]
        await asyncio.gather(*running, return_exceptions=True)
        self._pool.shutdown()

    # --- the threads ------------------------------------------------------------------------------

    def _start_batches(self) -> None:
        """Give queued images to idle threads."""
        if self._score_batch is None:
            self._start_loading()
            return
        while self._idle_threads and (batch := self._queue.take(MAX_BATCH)):
            self._idle_threads -= 1
            task = asyncio.get_running_loop().create_task(self._run(self._score_batch, batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, score_batch: ScoreBatch, batch: list[QueuedImage]) -> None:
        try:
            outcomes = await self._outcomes(score_batch, batch)
        finally:
            self._idle_threads += 1
        for image, outcome in zip(batch, outcomes, strict=True):
            image.resolve(outcome)
        self._start_batches()

    async def _outcomes(
        self, score_batch: ScoreBatch, batch: Sequence[QueuedImage]
    ) -> Sequence[Outcome]:
        """Score a batch; return one outcome for each image. If scoring fails on an image, it fails
        alone.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, score_batch, batch)
        except Exception:
            if len(batch) == 1:
                log.exception("the detector failed on a picture of %d bytes", len(batch[0].picture))
                return [ScoringFailed("the detector failed on this picture")]
        return [(await self._outcomes(score_batch, [image]))[0] for image in batch]

    # --- the model --------------------------------------------------------------------------------

    def _start_loading(self) -> "asyncio.Task[None]":
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load_once())
        return self._loading

    async def _load_once(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            self._score_batch = await loop.run_in_executor(self._pool, self._load)
        except ModelUnavailable as error:
            log.error("Failure detection is off until the next start: %s.", error)
            self._fail(str(error))
        except Exception:
            log.exception(
                "Failure detection is off until the next start: its model can't be loaded."
            )
            self._fail("the detector's model can't be loaded")
        else:
            self._start_batches()

    def _fail(self, why: str) -> None:
        self.off = self.off or DetectorOff.BROKEN
        self._refuse_all(why)

    def _refuse_all(self, why: str) -> None:
        self._problem = why
        for image in self._queue.take():
            image.resolve(ScorerUnavailable(why))
