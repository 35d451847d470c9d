"""Pauses, resumes and cancels prints, smart pauses included."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.contract.status import State
from printreach.printers.print_progress import PrintReport
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import SmartPauses
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import BambuApi
from .live_view import LiveView
from .orders import PAUSE, RESUME, STOP, gcode
from .smart_pause import (
    SavedState,
    limit_problem,
    pause_lines,
    plan_saved_state,
    unpark_lines,
    warm_up_lines,
)
from .stopwatch import print_report

UNTIL_PAUSED_S = 120.0
"""The printer first finishes its current move, and may park its head."""


class PauseController:
    """printers.pause_platform.PausePlatform."""

    repauses = False
    refuses_moves_whole = False

    def __init__(
        self,
        api: BambuApi,
        store: SavedStateStore[SavedState],
        live_view: LiveView,
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        self._api = api
        self._live_view = live_view
        self._limits = limits
        self.smart = SmartPauses(store, self)

    async def pause(self, order: Pause) -> None:
        live_view = self._live_view
        saved = plan_saved_state(order, live_view.job, live_view.temps, self._limits)
        require_paused = await self.smart.begin_pause()
        await self.pause_print()
        if order.smart_pause and not saved.is_empty:
            self.smart.start(self._enter_smart_pause(saved, require_paused))

    async def resume(self) -> None:
        await self.smart.resume()

    async def cancel(self) -> None:
        await self.smart.cancel(lambda: self._api.order(STOP))

    async def _enter_smart_pause(
        self, saved: SavedState, require_paused: Callable[[], None]
    ) -> None:
        live_view = self._live_view
        if not await live_view.wait_until(lambda: live_view.state is State.PAUSED, UNTIL_PAUSED_S):
            return  # it was resumed or cancelled before it was paused
        require_paused()
        if self.smart.remember(saved) is not None:
            await self.smart.send(self._tell(pause_lines(saved)))

    # --- printers.pause_platform.PausePlatform ----------------------------------------------------

    def print_report(self) -> PrintReport | None:
        if self._live_view.view.trouble is not None:
            return None
        return print_report(self._live_view.known.report)

    def is_warm(self, saved: SavedState) -> bool:
        return saved.is_warm(self._live_view.temps)

    def without_moves(self, saved: SavedState) -> SavedState:
        return replace(saved, lift_mm=0, retract_mm=0)

    def limit_problem(self, saved: SavedState) -> str | None:
        return limit_problem(saved, self._limits)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._api.order(PAUSE)

    async def resume_print(self) -> None:
        await self._api.order(RESUME)

    async def heat(self, saved: SavedState) -> None:
        await self._tell(warm_up_lines(saved))

    async def move_back(self, saved: SavedState) -> None:
        await self._tell(unpark_lines(saved))

    async def _tell(self, lines: Sequence[str]) -> None:
        if lines:
            await self._api.order(gcode(*lines))
