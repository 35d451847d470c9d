"""Pauses, resumes and cancels prints, smart pauses included."""

import logging

from printreach.contract.commands import Pause
from printreach.printers.pending_restore import PendingRestore
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.saved_state import SavedStateStore

from . import gcode
from .known_state import is_fully_paused, is_pausing, job_path
from .live_view import LiveView
from .smart_pause import SavedState, pause_commands, plan_saved_state, restore_commands

log = logging.getLogger(__name__)

PAUSE_S = 20.0
"""The firmware finishes its moves and runs pause.g; a command may take 25 s in all."""


class PauseController:
    def __init__(self, live_view: LiveView, store: SavedStateStore[SavedState]) -> None:
        self._live_view = live_view
        self._pending = PendingRestore(store, self._restore)

    async def pause(self, order: Pause) -> None:
        await self._live_view.order(gcode.PAUSE)
        if not order.smart_pause:
            return
        if not await self._live_view.wait_until(is_fully_paused, PAUSE_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        known = self._live_view.known
        saved = plan_saved_state(order, job_path(known) or "", known.model)
        if not saved.is_empty:
            self._pending.remember(saved)
            await self._live_view.order(pause_commands(saved))

    async def resume(self) -> None:
        """Restore and resume; commands queued before the resume, waits included, run before it."""
        if not await self._live_view.wait_until(is_fully_paused, PAUSE_S):
            raise failed("The print is still pausing.")
        saved = self._pending.take()
        restore = restore_commands(saved) if saved is not None else []
        try:
            await self._live_view.order([*restore, *gcode.RESUME])
        except PrinterRefused:
            if saved is not None:
                self._pending.remember(
                    saved
                )  # for the next try: without it the print would go on cold
            raise

    async def cancel(self) -> None:
        """Pause and cancel: the firmware cancels only a paused print."""
        self._live_view.expect_cancel(True)
        try:
            if not is_pausing(self._live_view.known):
                await self._live_view.order(gcode.PAUSE)
            if not await self._live_view.wait_until(is_fully_paused, PAUSE_S):
                raise failed("The print is pausing, which comes first: cancel it again in a while.")
            await self._live_view.order(gcode.CANCEL)
        except PrinterRefused:
            self._live_view.expect_cancel(False)
            raise

    def on_update(self) -> None:
        """Check whether the print was resumed or ended elsewhere."""
        if self._live_view.view.trouble is None:
            known = self._live_view.known
            self._pending.on_update(known.condition.state, job_path(known))

    async def close(self) -> None:
        await self._pending.close()

    async def _restore(self, saved: SavedState) -> None:
        """Pause a print that was resumed cold, restore it, and resume it again."""
        if self._live_view.known.is_cancelling:
            return
        try:
            await self._live_view.order(gcode.PAUSE)
            await self._live_view.wait_until(is_fully_paused, PAUSE_S)
            await self._live_view.order([*restore_commands(saved), *gcode.RESUME])
        except PrinterRefused as refused:
            log.warning("the print could not be given its heat back: %s", refused)
