"""Pauses and resumes prints, smart pauses included."""

import logging
from urllib.parse import quote

from printreach.contract.commands import Pause
from printreach.contract.features import Feature
from printreach.printers.pending_restore import PendingRestore
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.saved_state import SavedStateStore

from .api import OctoPrintApi
from .live_view import LiveView
from .smart_pause import (
    ModeSearch,
    SavedState,
    pause_commands,
    plan_saved_state,
    restore_commands,
)
from .translate import is_fully_paused, job_path, targets_of

log = logging.getLogger(__name__)

PAUSE_S = 20.0
"""The firmware first finishes its queued moves; a command may take 25 s in all."""
MAX_SEARCHED_BYTES = 4 * 1024 * 1024
"""Slicers put thumbnails before the first line of G-code."""


class PauseController:
    def __init__(
        self, api: OctoPrintApi, live_view: LiveView, store: SavedStateStore[SavedState]
    ) -> None:
        self._api = api
        self._live_view = live_view
        self._pending = PendingRestore(store, self._restore)

    async def pause(self, order: Pause) -> None:
        await self._tell_job("pause")
        if not order.smart_pause or Feature.AXIS_MOVEMENT not in self._live_view.view.features:
            return  # without the right to control the printer a smart pause is a plain one
        targets, path = targets_of(self._live_view.known), job_path(self._live_view.known) or ""
        if not await self._live_view.wait_until(is_fully_paused, PAUSE_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        saved = plan_saved_state(
            order,
            path,
            targets,
            has_tools=self._live_view.profile.extruders > 1,
            is_relative=await self._extrudes_relatively(path),
        )
        if not saved.is_empty:
            self._pending.remember(saved)
            await self._send(pause_commands(saved))

    async def resume(self) -> None:
        """Resume the print, once it is fully paused: before that OctoPrint ignores a resume."""
        if not await self._live_view.wait_until(is_fully_paused, PAUSE_S):
            raise failed("The print is still pausing.")
        saved = self._pending.take()
        try:
            if saved is not None:
                await self._send(restore_commands(saved))
                saved = saved.without_moves()  # which must not be made twice
            await self._tell_job("resume")
        except PrinterRefused:
            if saved is not None:
                self._pending.remember(
                    saved
                )  # for the next try: without it the print would go on cold
            raise

    def on_update(self) -> None:
        """Check whether the print was resumed or ended elsewhere."""
        self._pending.on_update(
            self._live_view.known.condition.state, job_path(self._live_view.known)
        )

    async def close(self) -> None:
        await self._pending.close()

    async def _restore(self, saved: SavedState) -> None:
        """Pause a print that was resumed cold and lifted, restore it, and resume it again."""
        try:
            await self._tell_job("pause")
            await self._live_view.wait_until(is_fully_paused, PAUSE_S)
            await self._send(restore_commands(saved))
            await self._tell_job("resume")
        except PrinterRefused as refused:
            log.warning("the print could not be given its heat back: %s", refused)

    async def _tell_job(self, action: str) -> None:
        await self._api.post("/api/job", {"command": "pause", "action": action})

    async def _send(self, commands: list[str]) -> None:
        await self._api.post("/api/printer/command", {"commands": list(commands)})

    async def _extrudes_relatively(self, path: str) -> bool:
        search, size = ModeSearch(), 0
        try:
            async with self._api.open(f"/downloads/files/local/{quote(path)}") as answer:
                async for chunk in self._api.chunks(answer):
                    size += len(chunk)
                    if search.feed(chunk) or size > MAX_SEARCHED_BYTES:
                        break
        except PrinterRefused as refused:
            log.info("the print's file could not be read: %s", refused)
        return search.is_relative
