"""Pauses, resumes and cancels prints, smart pauses included."""

from collections.abc import Callable
from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintReport
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import PAUSED_WITHIN_S, SmartPauses
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from . import gcode
from .known_state import is_fully_paused, is_pausing, job_path, print_report
from .live_view import LiveView
from .smart_pause import (
    SavedState,
    heat_commands,
    is_warm,
    limit_problem,
    move_back_commands,
    pause_commands,
    plan_saved_state,
)


class PauseController:
    """printers.pause_platform.PausePlatform."""

    repauses = True
    refuses_moves_whole = False

    def __init__(
        self,
        live_view: LiveView,
        store: SavedStateStore[SavedState],
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        self._live_view = live_view
        self._limits = limits
        self.smart = SmartPauses(store, self)

    async def pause(self, order: Pause) -> None:
        require_paused = await self.smart.begin_pause()
        await self.pause_print()
        if not order.smart_pause:
            return
        if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        known = self._live_view.known
        saved = plan_saved_state(order, job_path(known) or "", known.model, self._limits)
        if not saved.is_empty:
            require_paused()
            if self.smart.remember(saved) is not None:
                await self.smart.send(self._live_view.order(pause_commands(saved)))

    async def resume(self) -> None:
        await self.smart.resume(self._until_paused)

    async def cancel(self) -> None:
        await self.smart.cancel(self._cancel)

    # --- printers.pause_platform.PausePlatform ----------------------------------------------------

    def print_report(self) -> PrintReport | None:
        view = self._live_view
        return print_report(view.known) if view.view.trouble is None else None

    def is_warm(self, saved: SavedState) -> bool:
        return is_warm(saved, self._live_view.known.model)

    def without_moves(self, saved: SavedState) -> SavedState:
        return replace(saved, retract_mm=0)

    def limit_problem(self, saved: SavedState) -> str | None:
        return limit_problem(saved, self._live_view.known.model, self._limits)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    async def pause_print(self) -> None:
        await self._live_view.order(gcode.PAUSE)

    async def resume_print(self) -> None:
        await self._live_view.order(gcode.RESUME)

    async def heat(self, saved: SavedState) -> None:
        await self._live_view.order(heat_commands(saved))

    async def move_back(self, saved: SavedState) -> None:
        await self._live_view.order(move_back_commands(saved))

    # --- the board --------------------------------------------------------------------------------

    async def _until_paused(self) -> None:
        if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
            raise failed("The print is still pausing.")

    async def _cancel(self) -> None:
        """Pause and cancel: the firmware cancels only a paused print."""
        self._live_view.expect_cancel(True)
        try:
            if not is_pausing(self._live_view.known):
                await self._live_view.order(gcode.PAUSE)
            if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
                raise failed("The print is pausing, which comes first: cancel it again in a while.")
            await self._live_view.order(gcode.CANCEL)
        except PrinterRefused:
            self._live_view.expect_cancel(False)
            raise
