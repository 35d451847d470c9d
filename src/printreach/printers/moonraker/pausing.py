"""Pauses and resumes prints, smart pauses included."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import State
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.saved_state import CurrentSavedState, SavedStateStore

from . import gcode
from .api import MoonrakerApi
from .session import Session
from .smart_pause import SavedState, is_of_this_print, is_warm, plan_saved_state, targets_of
from .status import KnownState, print_path, state_of

log = logging.getLogger(__name__)

PAUSED_WITHIN_S = 20.0
"""Klipper finishes its planned moves, and runs the owner's pause macro."""
WARM_WITHIN_S = 1800.0


class PauseController:
    """Pauses one printer. live: returns the current session."""

    def __init__(
        self,
        api: MoonrakerApi,
        store: SavedStateStore[SavedState],
        current_session: Callable[[], Session],
    ) -> None:
        self._api = api
        self._current_session = current_session
        self._current = CurrentSavedState(store)
        self._was_paused = self._current.saved is not None  # the pause is reported a moment later
        self._restoring: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def is_restoring(self) -> bool:
        """Whether the print will be resumed as soon as the state is restored."""
        return self._restoring is not None

    async def close(self) -> None:
        if self._restoring is not None:
            self._restoring.cancel()
            await asyncio.gather(self._restoring, return_exceptions=True)

    def on_update(self) -> None:
        """Check whether the print was resumed or ended elsewhere."""
        self._changed.set()
        saved = self._current.saved
        if saved is None or self.is_restoring:
            return
        known = self._known
        state = state_of(known)
        if state is State.PAUSED and is_of_this_print(saved, known):
            self._was_paused = True
        if state is State.PAUSED or not self._was_paused:
            return
        self._current.take()
        if state in (State.PRINTING, State.WARMING_UP) and is_of_this_print(saved, known):
            # It was resumed at the printer, which knows nothing of the heaters.
            self._start(self._restore_heat(saved))

    @property
    def _known(self) -> KnownState:
        return self._current_session().known

    # --- orders -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:
        known = self._known
        saved = plan_saved_state(order, print_path(known), targets_of(known))
        if not order.smart_pause or saved.is_empty:
            await self._press("pause")
            return
        if not await self._press("pause", PAUSED_WITHIN_S):
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                "The printer pauses as soon as it can; its heaters are left as they are.",
            )
        await self._enter_smart_pause(saved)

    async def resume(self) -> None:
        """Resume; returns when that has begun, since heaters may need minutes."""
        if self.is_restoring:
            return
        saved = self._current.saved
        if saved is None or not is_of_this_print(saved, self._known):
            await self._press("resume")
            return
        if saved.targets:
            await self._api.run(gcode.set_targets(saved.targets))
        self._start(self._restore(saved))

    async def cancel(self) -> None:
        await self._press("cancel")

    async def _press(self, button: str, timeout_s: float | None = None) -> bool:
        """Order it; False where it is still under way after the timeout."""
        is_done = await self._api.order(f"printer.print.{button}", timeout_s=timeout_s)
        await self._current_session().refresh()
        return is_done

    # --- smart pause ------------------------------------------------------------------------------

    async def _enter_smart_pause(self, saved: SavedState) -> None:
        """Park the nozzle while it is hot, then turn off heaters even if the move is refused."""
        refusal = None
        moves = gcode.park(saved.retract_mm, saved.lift_mm)
        try:
            if moves:
                await self._move(moves)
        except PrinterRefused as refused:
            refusal = refused
            saved = SavedState(path=saved.path, targets=saved.targets, lift_mm=0, retract_mm=0)
        self._remember(saved)
        if saved.targets:
            await self._api.run(gcode.set_targets(dict.fromkeys(saved.targets, 0.0)))
        if refusal is not None:
            raise failed(f"The print is paused, but its nozzle not moved: {refusal.sentence}")

    async def _restore(self, saved: SavedState) -> None:
        """Wait until the heaters are warm, then unpark the nozzle and resume."""
        async with asyncio.timeout(WARM_WITHIN_S):
            while not is_warm(saved, self._known):
                await self._wait_for_change()
                if state_of(self._known) is not State.PAUSED:
                    self._current.take()  # cancelled, or resumed at the printer
                    return
        moves = gcode.unpark(saved.retract_mm, saved.lift_mm)
        if moves:
            await self._move(moves)
        self._current.take()
        await self._press("resume")

    async def _restore_heat(self, saved: SavedState) -> None:
        if saved.targets:
            await self._api.run(gcode.set_targets(saved.targets))

    async def _move(self, script: str) -> None:
        try:
            await self._api.run(script)
        except PrinterRefused:
            await self._api.run(gcode.RESTORE)
            raise

    async def _wait_for_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._restoring = asyncio.create_task(work)
        self._restoring.add_done_callback(self._restored)
        self._current_session().redraw()

    def _restored(self, task: "asyncio.Task[None]") -> None:
        self._restoring = None
        if not task.cancelled() and task.exception() is not None:
            log.warning("the print could not be let go on: %s", task.exception())
        self._current_session().redraw()

    def _remember(self, saved: SavedState) -> None:
        self._current.remember(saved)
        self._was_paused = state_of(self._known) is State.PAUSED
