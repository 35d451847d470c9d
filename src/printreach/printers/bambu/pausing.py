"""Pausing and resuming, the smart way included."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from printreach.contract.commands import Pause
from printreach.contract.status import State, Temps
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.rests import Kept, RestStore

from .api import BambuApi
from .orders import PAUSE, RESUME, STOP, gcode
from .smart_pause import Rest, lines_to_go_on, lines_to_rest, lines_to_warm_up, plan_rest

log = logging.getLogger(__name__)

UNTIL_PAUSED_S = 120.0
"""A printer finishes the move it is in, and may park its head first."""
UNTIL_WARM_S = 900.0


class Known(Protocol):
    """What of the printer's state matters here."""

    @property
    def state(self) -> State: ...
    @property
    def temps(self) -> Temps: ...
    @property
    def job(self) -> str: ...
    async def until(self, is_so: Callable[[], bool], seconds: float) -> bool: ...


class Pausing:
    """One printer's pauses."""

    def __init__(self, api: BambuApi, store: RestStore[Rest], known: Known) -> None:
        self._api = api
        self._known = known
        self._kept = Kept(store)
        self._task: asyncio.Task[None] | None = None
        self.is_waking = False

    async def pause(self, order: Pause) -> None:
        known = self._known
        rest = plan_rest(order, known.job, known.temps) if order.smart_pause else None
        await self._api.order(PAUSE)
        if rest is not None and not rest.is_nothing:
            self._kept.remember(rest)
            await self._replace_task(self._lie_down(rest))

    async def resume(self) -> None:
        """Returns when the printer goes on, or has begun to warm up for it."""
        rest = self._kept.rest
        if rest is None or rest.job != self._known.job:
            await self._api.order(RESUME)
            return
        if self.is_waking:
            return
        await self._stop_task()
        await self._tell(lines_to_warm_up(rest))
        await self._replace_task(self._wake(rest))

    async def cancel(self) -> None:
        await self._stop_task()
        await self._api.order(STOP)
        self._kept.take()

    async def close(self) -> None:
        await self._stop_task()

    async def on_heard(self) -> None:
        """A print that somebody resumed at the printer itself gets its heat back."""
        rest = self._kept.rest
        if rest is None or self._task is not None:
            return
        known = self._known
        if known.state is State.PAUSED and rest.job == known.job:
            return
        self._kept.take()
        if known.state is State.PRINTING and rest.job == known.job:
            log.warning("the print was resumed at the printer: its heaters are turned on again")
            await self._replace_task(self._attempt(self._tell(lines_to_warm_up(rest))))

    # --- the way down and up ----------------------------------------------------------------------

    async def _lie_down(self, rest: Rest) -> None:
        async def lie_down() -> None:
            known = self._known
            if not await known.until(lambda: known.state is State.PAUSED, UNTIL_PAUSED_S):
                return  # it was resumed or cancelled before it came to rest
            await self._tell(lines_to_rest(rest))

        await self._attempt(lie_down())

    async def _wake(self, rest: Rest) -> None:
        async def wake() -> None:
            known = self._known
            if not await known.until(lambda: rest.is_warm(known.temps), UNTIL_WARM_S):
                raise failed("It does not get warm.")
            await self._tell(lines_to_go_on(rest))
            await self._api.order(RESUME)
            self._kept.take()

        self.is_waking = True
        try:
            await self._attempt(wake())
        finally:
            self.is_waking = False

    async def _attempt(self, steps: Coroutine[object, object, None]) -> None:
        try:
            await steps
        except PrinterRefused as refused:
            log.warning("a smart pause could not go on: %s", refused.sentence)
        finally:
            self._task = None

    async def _tell(self, lines: Sequence[str]) -> None:
        if lines:
            await self._api.order(gcode(*lines))

    # --- helpers ----------------------------------------------------------------------------------

    async def _replace_task(self, steps: Coroutine[object, object, None]) -> None:
        await self._stop_task()
        self._task = asyncio.create_task(steps)

    async def _stop_task(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
