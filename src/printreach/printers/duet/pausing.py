"""Pausing, resuming and cancelling, with what a smart pause takes from a print in between."""

import logging

from printreach.contract.commands import Pause
from printreach.printers.owed import Owed
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.rests import RestStore

from . import gcode
from .heard import is_pausing, is_quite_paused, job_path
from .smart_pause import Rest, commands_to_rest, commands_to_wake, plan_rest
from .watch import Watch

log = logging.getLogger(__name__)

PAUSE_S = 20.0
"""Firmware ends its moves and runs pause.g; a command has 25 s in all."""


class Pausing:
    def __init__(self, watch: Watch, store: RestStore[Rest]) -> None:
        self._watch = watch
        self._owed = Owed(store, self._wake)

    async def pause(self, order: Pause) -> None:
        await self._watch.order(gcode.PAUSE)
        if not order.smart_pause:
            return
        if not await self._watch.until(is_quite_paused, PAUSE_S):
            raise failed("The print is pausing, but not at rest yet: its heaters were left on.")
        heard = self._watch.heard
        rest = plan_rest(order, job_path(heard) or "", heard.model)
        if not rest.is_nothing:
            self._owed.remember(rest)
            await self._watch.order(commands_to_rest(rest))

    async def resume(self) -> None:
        """What was queued before a resume is carried out before it, waiting for heat too."""
        if not await self._watch.until(is_quite_paused, PAUSE_S):
            raise failed("The print is still pausing.")
        rest = self._owed.take()
        wake = commands_to_wake(rest) if rest is not None else []
        try:
            await self._watch.order([*wake, *gcode.RESUME])
        except PrinterRefused:
            if rest is not None:
                self._owed.remember(rest)  # for the next try: without it the print would go on cold
            raise

    async def cancel(self) -> None:
        """Firmware cancels nothing but a paused print."""
        self._watch.expect_cancel(True)
        try:
            if not is_pausing(self._watch.heard):
                await self._watch.order(gcode.PAUSE)
            if not await self._watch.until(is_quite_paused, PAUSE_S):
                raise failed("The print is pausing, which comes first: cancel it again in a while.")
            await self._watch.order(gcode.CANCEL)
        except PrinterRefused:
            self._watch.expect_cancel(False)
            raise

    def on_heard(self) -> None:
        """Someone may have resumed or ended the print elsewhere."""
        if self._watch.view.trouble is None:
            heard = self._watch.heard
            self._owed.on_heard(heard.condition.state, job_path(heard))

    async def close(self) -> None:
        await self._owed.close()

    async def _wake(self, rest: Rest) -> None:
        """A print that goes on cold is paused again, and given back what it lacks."""
        if self._watch.heard.is_cancelling:
            return
        try:
            await self._watch.order(gcode.PAUSE)
            await self._watch.until(is_quite_paused, PAUSE_S)
            await self._watch.order([*commands_to_wake(rest), *gcode.RESUME])
        except PrinterRefused as refused:
            log.warning("the print could not be given its heat back: %s", refused)
