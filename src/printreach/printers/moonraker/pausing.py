"""Pauses, resumes and cancels prints, smart pauses included."""

from collections.abc import Callable
from dataclasses import replace

from printreach.contract.commands import CommandStatus, Pause
from printreach.printers.following import UpdateSignal
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintReport
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import PAUSED_WITHIN_S, SmartPauses
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from . import gcode
from .api import MoonrakerApi
from .session import Session
from .smart_pause import (
    SavedState,
    is_warm,
    limit_problem,
    plan_saved_state,
    print_report,
    targets_of,
)
from .status import KnownState, print_path


class PauseController:
    """printers.pause_platform.PausePlatform.

    current_session: returns the present one. is_connected: whether Klipper can be reached by it.
    """

    repauses = False
    refuses_moves_whole = False  # a script ends at the line that Klipper refuses

    def __init__(
        self,
        api: MoonrakerApi,
        store: SavedStateStore[SavedState],
        current_session: Callable[[], Session],
        is_connected: Callable[[], bool],
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        self._api = api
        self._current_session = current_session
        self._is_connected = is_connected
        self._limits = limits
        self._updates = UpdateSignal()
        self.smart = SmartPauses(store, self, lambda: current_session().redraw())

    def on_update(self) -> None:
        """Something of the printer has changed, or it was lost."""
        self._updates.tell()
        self.smart.on_update()

    @property
    def _known(self) -> KnownState:
        return self._current_session().known

    # --- orders -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:
        known = self._known
        saved = plan_saved_state(order, print_path(known), targets_of(known), self._limits)
        require_paused = await self.smart.begin_pause()
        if not order.smart_pause or saved.is_empty:
            await self.pause_print()
            return
        if not await self._press("pause", PAUSED_WITHIN_S):
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                "The printer pauses as soon as it can; its heaters are left as they are.",
            )
        require_paused()
        if self.smart.remember(saved) is not None:
            await self._enter_smart_pause(saved, require_paused)

    async def resume(self) -> None:
        await self.smart.resume()

    async def cancel(self) -> None:
        await self.smart.cancel(lambda: self._press("cancel"))

    async def _press(self, button: str, timeout_s: float | None = None) -> bool:
        """Order it; False where it is still under way after the timeout."""
        is_done = await self._api.order(f"printer.print.{button}", timeout_s=timeout_s)
        await self._current_session().refresh()
        return is_done

    # --- printers.pause_platform.PausePlatform ----------------------------------------------------

    def print_report(self) -> PrintReport | None:
        return print_report(self._known) if self._is_connected() else None

    def is_warm(self, saved: SavedState) -> bool:
        return is_warm(saved, self._known)

    def without_moves(self, saved: SavedState) -> SavedState:
        return replace(saved, lift_mm=0, retract_mm=0)

    def limit_problem(self, saved: SavedState) -> str | None:
        return limit_problem(saved, self._limits)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._updates.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._press("pause")

    async def resume_print(self) -> None:
        await self._press("resume")

    async def heat(self, saved: SavedState) -> None:
        if saved.targets:
            await self._api.run(gcode.set_targets(saved.targets))

    async def move_back(self, saved: SavedState) -> None:
        await self._move(gcode.unpark(saved.retract_mm, saved.lift_mm))

    # --- Klipper ----------------------------------------------------------------------------------

    async def _enter_smart_pause(
        self, saved: SavedState, require_paused: Callable[[], None]
    ) -> None:
        """Park the nozzle while it is hot, then turn off heaters even if the move is refused."""
        refusal = None
        moves = gcode.park(saved.retract_mm, saved.lift_mm)
        try:
            if moves:
                await self.smart.send(self._move(moves))
        except PrinterRefused as refused:
            refusal = refused
            saved = self.without_moves(saved)
            require_paused()
            self.smart.remember(saved)
        if saved.targets:
            require_paused()
            off = gcode.set_targets(dict.fromkeys(saved.targets, 0.0))
            await self.smart.send(self._api.run(off))
        if refusal is not None:
            raise failed(f"The print is paused, but its nozzle not moved: {refusal.sentence}")

    async def _move(self, script: str) -> None:
        try:
            await self._api.run(script)
        except PrinterRefused:
            await self._api.run(gcode.RESTORE)
            raise
