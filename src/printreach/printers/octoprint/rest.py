"""Pausing and resuming a print, with what a smart pause takes from it in between."""

import asyncio
import logging
from urllib.parse import quote

from printreach.contract.commands import Pause
from printreach.contract.status import State
from printreach.printers.port import PrinterRefused, failed

from .api import OctoPrintApi
from .smart_pause import (
    ModeSearch,
    Rest,
    RestStore,
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
    """Owns what rests."""

    def __init__(self, api: OctoPrintApi, watch: Watch, store: RestStore) -> None:
        self._api = api
        self._watch = watch
        self._store = store
        self._rest = store.load()
        self._waking: asyncio.Task[None] | None = None

    async def pause(self, order: Pause) -> None:
        await self._tell_job("pause")
        if not order.smart_pause:
            return
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
            self._remember(rest)
            await self._send(commands_to_rest(rest))

    async def resume(self) -> None:
        """OctoPrint takes a resume for none while it is still pausing."""
        if not await self._watch.until(is_quite_paused, PAUSE_S):
            raise failed("The print is still pausing.")
        rest = self._take()
        if rest is not None:
            await self._send(commands_to_wake(rest))
        await self._tell_job("resume")

    def on_heard(self) -> None:
        """Someone may have resumed or ended the print elsewhere."""
        if self._rest is None:
            return
        state = self._watch.heard.condition.state
        if state is State.PAUSED and job_path(self._watch.heard) == self._rest.path:
            return
        rest = self._take()
        if rest is not None and state in (State.RESUMING, State.PRINTING, State.WARMING_UP):
            self._waking = asyncio.create_task(self._wake(rest))

    async def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)

    async def _wake(self, rest: Rest) -> None:
        """A print that goes on cold and lifted is paused again, and given back what it lacks."""
        log.warning("a smart pause was ended at the printer: the print waits until it is hot")
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

    def _remember(self, rest: Rest) -> None:
        self._rest = rest
        try:
            self._store.save(rest)
        except OSError as exc:
            log.warning("a restart of the agent would forget this smart pause: %s", exc.strerror)

    def _take(self) -> Rest | None:
        rest, self._rest = self._rest, None
        self._store.forget()
        return rest
