"""Pauses and resumes prints, smart pauses included."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from printreach.contract.commands import Pause
from printreach.contract.status import State, Temps
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.saved_state import CurrentSavedState, SavedStateStore

from .api import BambuApi
from .orders import PAUSE, RESUME, STOP, gcode
from .smart_pause import SavedState, pause_lines, plan_saved_state, unpark_lines, warm_up_lines

log = logging.getLogger(__name__)

UNTIL_PAUSED_S = 120.0
"""The printer first finishes its current move, and may park its head."""
UNTIL_WARM_S = 900.0


class StatusSource(Protocol):
    """The part of the printer's state that pausing needs."""

    @property
    def state(self) -> State: ...
    @property
    def temps(self) -> Temps: ...
    @property
    def job(self) -> str: ...
    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool: ...


class PauseController:
    """One printer's pauses."""

    def __init__(
        self, api: BambuApi, store: SavedStateStore[SavedState], printer: StatusSource
    ) -> None:
        self._api = api
        self._printer = printer
        self._current = CurrentSavedState(store)
        self._task: asyncio.Task[None] | None = None
        self.is_restoring = False

    async def pause(self, order: Pause) -> None:
        printer = self._printer
        saved = plan_saved_state(order, printer.job, printer.temps) if order.smart_pause else None
        await self._api.order(PAUSE)
        if saved is not None and not saved.is_empty:
            self._current.remember(saved)
            await self._replace_task(self._enter_smart_pause(saved))

    async def resume(self) -> None:
        """Resume; returns when the printer has resumed, or has begun to warm up for it."""
        saved = self._current.saved
        if saved is None or saved.job != self._printer.job:
            await self._api.order(RESUME)
            return
        if self.is_restoring:
            return
        await self._stop_task()
        await self._tell(warm_up_lines(saved))
        await self._replace_task(self._restore(saved))

    async def cancel(self) -> None:
        await self._stop_task()
        await self._api.order(STOP)
        self._current.take()

    async def close(self) -> None:
        await self._stop_task()

    async def on_update(self) -> None:
        """Turn the heaters on again for a print that was resumed at the printer itself."""
        saved = self._current.saved
        if saved is None or self._task is not None:
            return
        printer = self._printer
        if printer.state is State.PAUSED and saved.job == printer.job:
            return
        self._current.take()
        if printer.state is State.PRINTING and saved.job == printer.job:
            log.warning("the print was resumed at the printer: its heaters are turned on again")
            await self._replace_task(self._attempt(self._tell(warm_up_lines(saved))))

    # --- smart pause and restore ------------------------------------------------------------------

    async def _enter_smart_pause(self, saved: SavedState) -> None:
        async def enter() -> None:
            printer = self._printer
            if not await printer.wait_until(lambda: printer.state is State.PAUSED, UNTIL_PAUSED_S):
                return  # it was resumed or cancelled before it was paused
            await self._tell(pause_lines(saved))

        await self._attempt(enter())

    async def _restore(self, saved: SavedState) -> None:
        async def restore() -> None:
            printer = self._printer
            if not await printer.wait_until(lambda: saved.is_warm(printer.temps), UNTIL_WARM_S):
                raise failed("It does not get warm.")
            await self._tell(unpark_lines(saved))
            await self._api.order(RESUME)
            self._current.take()

        self.is_restoring = True
        try:
            await self._attempt(restore())
        finally:
            self.is_restoring = False

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
