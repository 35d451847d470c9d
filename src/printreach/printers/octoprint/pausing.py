"""Pauses and resumes prints, smart pauses included."""

import logging
from collections.abc import Callable
from urllib.parse import quote

from printreach.contract.commands import Pause
from printreach.contract.status import Feature
from printreach.printers.connecting import chunks_of
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintReport
from printreach.printers.saved_state import SavedStateStore
from printreach.printers.smart_pauses import PAUSED_WITHIN_S, SmartPauses
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import OctoPrintApi
from .live_view import LiveView
from .smart_pause import (
    ModeSearch,
    SavedState,
    heat_commands,
    is_warm,
    limit_problem,
    move_back_commands,
    pause_commands,
    plan_saved_state,
    print_report,
)
from .translate import is_fully_paused, job_path, targets_of

log = logging.getLogger(__name__)

MAX_SEARCHED_BYTES = 4 * 1024 * 1024
"""Slicers put thumbnails before the first line of G-code."""


class PauseController:
    """printers.pause_platform.PausePlatform."""

    repauses = True
    refuses_moves_whole = True  # OctoPrint takes a list of commands or none of it

    def __init__(
        self,
        api: OctoPrintApi,
        live_view: LiveView,
        store: SavedStateStore[SavedState],
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        self._api = api
        self._live_view = live_view
        self._limits = limits
        self.smart = SmartPauses(store, self, live_view.changes.tell)

    async def pause(self, order: Pause) -> None:
        require_paused = await self.smart.begin_pause()
        await self.pause_print()
        if not order.smart_pause or Feature.AXIS_MOVEMENT not in self._live_view.view.features:
            return  # without the right to control the printer a smart pause is a plain one
        targets, path = targets_of(self._live_view.known), job_path(self._live_view.known) or ""
        if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        saved = plan_saved_state(
            order,
            path,
            targets,
            has_tools=self._live_view.profile.extruders > 1,
            is_relative=await self._extrudes_relatively(path),
            limits=self._limits,
        )
        if not saved.is_empty:
            require_paused()
            if self.smart.remember(saved) is not None:
                await self.smart.send(self._send(pause_commands(saved)))

    async def resume(self) -> None:
        await self.smart.resume(self._until_paused)

    async def cancel(self) -> None:
        await self.smart.cancel(lambda: self._api.post("/api/job", {"command": "cancel"}))

    # --- printers.pause_platform.PausePlatform ----------------------------------------------------

    def print_report(self) -> PrintReport | None:
        view = self._live_view
        return print_report(view.known) if view.view.trouble is None else None

    def is_warm(self, saved: SavedState) -> bool:
        return is_warm(saved, self._live_view.known.temps)

    def without_moves(self, saved: SavedState) -> SavedState:
        return saved.without_moves()

    def limit_problem(self, saved: SavedState) -> str | None:
        return limit_problem(saved, self._limits)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    async def pause_print(self) -> None:
        await self._tell_job("pause")

    async def resume_print(self) -> None:
        await self._tell_job("resume")

    async def heat(self, saved: SavedState) -> None:
        await self._send(heat_commands(saved))

    async def move_back(self, saved: SavedState) -> None:
        await self._send(move_back_commands(saved))

    # --- OctoPrint --------------------------------------------------------------------------------

    async def _until_paused(self) -> None:
        """Before that OctoPrint ignores a resume."""
        if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
            raise failed("The print is still pausing.")

    async def _tell_job(self, action: str) -> None:
        await self._api.post("/api/job", {"command": "pause", "action": action})

    async def _send(self, commands: list[str]) -> None:
        await self._api.post("/api/printer/command", {"commands": list(commands)})

    async def _extrudes_relatively(self, path: str) -> bool:
        search, size = ModeSearch(), 0
        try:
            async with self._api.open(f"/downloads/files/local/{quote(path)}") as answer:
                async for chunk in chunks_of(answer, self._api.where):
                    size += len(chunk)
                    if search.feed(chunk) or size > MAX_SEARCHED_BYTES:
                        break
        except PrinterRefused as refused:
            log.info("the print's file could not be read: %s", refused)
        return search.is_relative
