"""Pausing and resuming a print, with what a smart pause takes from it in between."""

import logging
from urllib.parse import quote

from printreach.contract.commands import Pause
from printreach.contract.features import Feature
from printreach.printers.owed import Owed
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.rests import RestStore

from .api import OctoPrintApi
from .smart_pause import (
    ModeSearch,
    Rest,
    commands_to_rest,
    commands_to_wake,
    plan_rest,
)
from .translate import is_quite_paused, job_path, targets_of
from .watch import Watch

log = logging.getLogger(__name__)

PAUSE_S = 20.0
"""The firmware first ends the moves it holds; a command has 25 s in all."""
MAX_SEARCHED_BYTES = 4 * 1024 * 1024
"""Slicers put pictures before the first line that does something."""


class Pausing:
    def __init__(self, api: OctoPrintApi, watch: Watch, store: RestStore[Rest]) -> None:
        self._api = api
        self._watch = watch
        self._owed = Owed(store, self._wake)

    async def pause(self, order: Pause) -> None:
        await self._tell_job("pause")
        if not order.smart_pause or Feature.AXIS_MOVEMENT not in self._watch.view.features:
            return  # without the right to control the printer a smart pause is a plain one
        targets, path = targets_of(self._watch.heard), job_path(self._watch.heard) or ""
        if not await self._watch.until(is_quite_paused, PAUSE_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        rest = plan_rest(
            order,
            path,
            targets,
            has_tools=self._watch.profile.extruders > 1,
            is_relative=await self._extrudes_relatively(path),
        )
        if not rest.is_nothing:
            self._owed.remember(rest)
            await self._send(commands_to_rest(rest))

    async def resume(self) -> None:
        """OctoPrint takes a resume for none while it is still pausing."""
        if not await self._watch.until(is_quite_paused, PAUSE_S):
            raise failed("The print is still pausing.")
        rest = self._owed.take()
        try:
            if rest is not None:
                await self._send(commands_to_wake(rest))
                rest = rest.without_moves()  # which must not be made twice
            await self._tell_job("resume")
        except PrinterRefused:
            if rest is not None:
                self._owed.remember(rest)  # for the next try: without it the print would go on cold
            raise

    def on_heard(self) -> None:
        """Someone may have resumed or ended the print elsewhere."""
        self._owed.on_heard(self._watch.heard.condition.state, job_path(self._watch.heard))

    async def close(self) -> None:
        await self._owed.close()

    async def _wake(self, rest: Rest) -> None:
        """A print that goes on cold and lifted is paused again, and given back what it lacks."""
        try:
            await self._tell_job("pause")
            await self._watch.until(is_quite_paused, PAUSE_S)
            await self._send(commands_to_wake(rest))
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
