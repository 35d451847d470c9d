"""Scoring in threads of this process: a bounded queue and small batches; nothing piles up.

The event loop owns the queue. A thread that has nothing to do gets what waits by then, up to a
small batch, so nobody waits for a batch to become full.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from printreach.detector.waiting import Line, Waiting
from printreach.ports.scoring import (
    PictureTooLarge,
    Scored,
    ScorerBusy,
    ScorerUnavailable,
    ScoringFailed,
    ScoringRefused,
)
from printreach.rules.detection import Sight
from printreach.rules.detection_images import MOST_BYTES
from printreach.rules.watching import Region

MOST_TOGETHER: Final = 4
"""Enough that handing pictures over costs next to nothing, and the first waits for few others."""
PATIENCE_S: Final = 10.0
"""Whoever waited longer has likely given up, or asks anew."""

log = logging.getLogger(__name__)

Outcome: TypeAlias = Sight | ScoringRefused | None
Look: TypeAlias = Callable[[Sequence[Waiting]], Sequence[Outcome]]
"""Looks at pictures, in any thread; None for one that nobody wants to know of any more."""


class CannotLook(Exception):
    """There is no model. Its words tell an operator why."""


class Engine:
    """ports.scoring.Scorer, in one event loop until close().

    load: makes what looks at pictures; called once, in a thread, when the first one comes. Where
    it raises, that is logged once, and every picture is refused.
    """

    def __init__(
        self, load: Callable[[], Look], *, threads: int, patience_s: float = PATIENCE_S
    ) -> None:
        self._load = load
        self._patience_s = patience_s
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="detector")
        self._idle_threads = threads
        self._line = Line()
        self._look: Look | None = None
        self._loading: asyncio.Task[None] | None = None
        self._problem: str | None = None
        self._running: set[asyncio.Task[None]] = set()

    @property
    def load(self) -> float:
        """How full the queue is, 0 to 1."""
        return self._line.load

    async def score(self, picture: bytes, masked: Sequence[Region] = ()) -> Scored:
        self.refuse_beforehand(len(picture))
        waiting = Waiting(picture, tuple(masked), asyncio.get_running_loop().create_future())
        self._line.join(waiting)
        try:
            self._begin()
            async with asyncio.timeout(self._patience_s):
                sight = await waiting.answer
        except TimeoutError:
            raise ScorerBusy(f"no score within {self._patience_s:g} s") from None
        finally:
            waiting.give_up()
            self._line.leave(waiting)
        return Scored(sight=sight, load=self.load)

    def refuse_beforehand(self, size: int) -> None:
        """Raise what a picture of so many bytes would be refused with now, whatever it shows."""
        if size > MOST_BYTES:
            raise PictureTooLarge(f"{size} bytes; {MOST_BYTES} are taken")
        if self._problem is not None:
            raise ScorerUnavailable(self._problem)
        if not self._line.has_room_for(size):
            raise ScorerBusy("too many pictures wait already")

    async def ready(self) -> None:
        """Load the model now, where it isn't yet. Raises ScorerUnavailable."""
        await asyncio.shield(self._start_loading())
        if self._problem is not None:
            raise ScorerUnavailable(self._problem)

    async def close(self) -> None:
        """Refuse what waits, and let threads end what they have begun: it takes no second."""
        self._refuse_from_now_on("the service is being stopped")
        begun = [*self._running, *([self._loading] if self._loading is not None else [])]
        await asyncio.gather(*begun, return_exceptions=True)
        self._pool.shutdown()

    # --- the threads ------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Give what waits to threads that have nothing to do."""
        if self._look is None:
            self._start_loading()
            return
        while self._idle_threads and (batch := self._line.take(MOST_TOGETHER)):
            self._idle_threads -= 1
            task = asyncio.get_running_loop().create_task(self._run(self._look, batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, look: Look, batch: list[Waiting]) -> None:
        try:
            outcomes = await self._looked(look, batch)
        finally:
            self._idle_threads += 1
        for waiting, outcome in zip(batch, outcomes, strict=True):
            waiting.tell(outcome)
        self._begin()

    async def _looked(self, look: Look, batch: Sequence[Waiting]) -> Sequence[Outcome]:
        """One outcome for each. Where the look fails, only for the picture that it fails on."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, look, batch)
        except Exception:
            if len(batch) == 1:
                log.exception("the detector failed on a picture of %d bytes", len(batch[0].picture))
                return [ScoringFailed("the detector failed on this picture")]
        return [(await self._looked(look, [waiting]))[0] for waiting in batch]

    # --- the model --------------------------------------------------------------------------------

    def _start_loading(self) -> "asyncio.Task[None]":
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load_once())
        return self._loading

    async def _load_once(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            self._look = await loop.run_in_executor(self._pool, self._load)
        except CannotLook as error:
            log.error("Failure detection is off until the next start: %s.", error)
            self._refuse_from_now_on(str(error))
        except Exception:
            log.exception(
                "Failure detection is off until the next start: its model can't be loaded."
            )
            self._refuse_from_now_on("the detector's model can't be loaded")
        else:
            self._begin()

    def _refuse_from_now_on(self, why: str) -> None:
        self._problem = why
        for waiting in self._line.take():
            waiting.tell(ScorerUnavailable(why))
