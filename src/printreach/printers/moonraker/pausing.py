"""Pausing a print and letting it go on, also where more than that is asked for."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import State
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.rests import Kept, RestStore

from . import gcode
from .api import MoonrakerApi
from .session import Session
from .smart_pause import Rest, is_of_this_print, is_warm, plan_rest, targets_of
from .status import Known, print_path, state_of

log = logging.getLogger(__name__)

PAUSED_WITHIN_S = 20.0
"""Klipper finishes the moves it has planned, and carries out the pause macro of its owner."""
WARM_WITHIN_S = 1800.0


class Pausing:
    """live: the session there is now."""

    def __init__(
        self, api: MoonrakerApi, store: RestStore[Rest], live: Callable[[], Session]
    ) -> None:
        self._api = api
        self._live = live
        self._kept = Kept(store)
        self._was_paused = self._kept.rest is not None  # a pause takes a moment to show
        self._waking: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()

    @property
    def is_waking(self) -> bool:
        """The print will go on as soon as everything is as it was."""
        return self._waking is not None

    async def close(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)

    def on_heard(self) -> None:
        """Something of the printer has changed."""
        self._heard.set()
        rest = self._kept.rest
        if rest is None or self.is_waking:
            return
        known = self._known
        state = state_of(known)
        if state is State.PAUSED and is_of_this_print(rest, known):
            self._was_paused = True
        if state is State.PAUSED or not self._was_paused:
            return
        self._kept.take()
        if state in (State.PRINTING, State.WARMING_UP) and is_of_this_print(rest, known):
            # Somebody lets it go on at the printer, which knows nothing of the heaters.
            self._start(self._give_heat_back(rest))

    @property
    def _known(self) -> Known:
        return self._live().known

    # --- orders -----------------------------------------------------------------------------------

    async def pause(self, order: Pause) -> None:
        known = self._known
        rest = plan_rest(order, print_path(known), targets_of(known))
        if not order.smart_pause or rest.is_nothing:
            await self._press("pause")
            return
        if not await self._press("pause", PAUSED_WITHIN_S):
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                "The printer pauses as soon as it can; its heaters are left as they are.",
            )
        await self._lay_down(rest)

    async def resume(self) -> None:
        """Returns when the printer has begun to: heaters may need minutes."""
        if self.is_waking:
            return
        rest = self._kept.rest
        if rest is None or not is_of_this_print(rest, self._known):
            await self._press("resume")
            return
        if rest.targets:
            await self._api.run(gcode.set_targets(rest.targets))
        self._start(self._wake(rest))

    async def cancel(self) -> None:
        await self._press("cancel")

    async def _press(self, button: str, patience_s: float | None = None) -> bool:
        """False: it is under way."""
        is_done = await self._api.order(f"printer.print.{button}", patience_s=patience_s)
        await self._live().refresh()
        return is_done

    # --- smart pause ------------------------------------------------------------------------------

    async def _lay_down(self, rest: Rest) -> None:
        """The nozzle first, while it is hot. A move that is refused keeps no heater on."""
        refusal = None
        moves = gcode.rest(rest.retract_mm, rest.lift_mm)
        try:
            if moves:
                await self._move(moves)
        except PrinterRefused as refused:
            refusal = refused
            rest = Rest(path=rest.path, targets=rest.targets, lift_mm=0, retract_mm=0)
        self._remember(rest)
        if rest.targets:
            await self._api.run(gcode.set_targets(dict.fromkeys(rest.targets, 0.0)))
        if refusal is not None:
            raise failed(f"The print is paused, but its nozzle not moved: {refusal.sentence}")

    async def _wake(self, rest: Rest) -> None:
        """Heat is on its way: wait for it, then put everything back and go on."""
        async with asyncio.timeout(WARM_WITHIN_S):
            while not is_warm(rest, self._known):
                await self._hear()
                if state_of(self._known) is not State.PAUSED:
                    self._kept.take()  # cancelled, or let go on at the printer
                    return
        moves = gcode.wake(rest.retract_mm, rest.lift_mm)
        if moves:
            await self._move(moves)
        self._kept.take()
        await self._press("resume")

    async def _give_heat_back(self, rest: Rest) -> None:
        if rest.targets:
            await self._api.run(gcode.set_targets(rest.targets))

    async def _move(self, script: str) -> None:
        try:
            await self._api.run(script)
        except PrinterRefused:
            await self._api.run(gcode.RESTORE)
            raise

    async def _hear(self) -> None:
        self._heard.clear()
        await self._heard.wait()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._waking = asyncio.create_task(work)
        self._waking.add_done_callback(self._woken)
        self._live().redraw()

    def _woken(self, task: "asyncio.Task[None]") -> None:
        self._waking = None
        if not task.cancelled() and task.exception() is not None:
            log.warning("the print could not be let go on: %s", task.exception())
        self._live().redraw()

    def _remember(self, rest: Rest) -> None:
        self._kept.remember(rest)
        self._was_paused = state_of(self._known) is State.PAUSED
