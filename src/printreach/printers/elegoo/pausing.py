"""Pausing and resuming, the smart way included, for both protocols.

Firmware keeps its heaters on in a pause and has no word for a smart one, so it is made of the
orders for heat and for moves. Filament stays where it is: no order that retracts it is known. That
the orders are taken in a pause is a guess; where they are refused, the pause is a plain one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from printreach.contract.commands import Axis, MoveAxis, Pause, SetTemp
from printreach.contract.features import Feature
from printreach.contract.status import State, Temps
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.port import PrinterRefused, View, failed
from printreach.printers.rests import Kept, RestStore, distance_mm, target_c

from .live import Live

log = logging.getLogger(__name__)

STORE = "elegoo-smart-pause.json"
UNTIL_PAUSED_S = 120.0
UNTIL_WARM_S = 900.0
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What was taken from a print. file_name: whose. Targets are 0 for what was left as it was."""

    file_name: str
    hotend_c: float
    bed_c: float
    lift_mm: int

    @property
    def is_nothing(self) -> bool:
        return not (self.hotend_c or self.bed_c or self.lift_mm)

    @property
    def heat(self) -> SetTemp | None:
        """The targets that the print had."""
        if not self.hotend_c and not self.bed_c:
            return None
        return SetTemp(tool_c=self.hotend_c or UNSET, bed_c=self.bed_c or UNSET)

    @property
    def cold(self) -> SetTemp | None:
        if not self.hotend_c and not self.bed_c:
            return None
        return SetTemp(tool_c=0.0 if self.hotend_c else UNSET, bed_c=0.0 if self.bed_c else UNSET)

    def is_warm(self, temps: Temps) -> bool:
        return (
            temps.hotend_actual >= self.hotend_c - CLOSE_ENOUGH_C
            and temps.bed_actual >= self.bed_c - CLOSE_ENOUGH_C
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a protocol can be told."""

    pause: Callable[[], Awaitable[object]]
    resume: Callable[[], Awaitable[object]]
    stop: Callable[[], Awaitable[object]]
    heat: Callable[[SetTemp], Awaitable[None]]
    move: Callable[[MoveAxis], Awaitable[None]]


class Pausing:
    """One printer's pauses. folder: where a rest is remembered across restarts of the agent."""

    def __init__(self, orders: Orders, live: Live, folder: Path) -> None:
        self._orders = orders
        self._live = live
        self._kept = Kept(rest_store(folder))
        self._task: asyncio.Task[None] | None = None

    async def pause(self, order: Pause) -> None:
        view = self._live.view
        rest = plan_rest(order, view) if order.smart_pause else None
        await self._orders.pause()
        if rest is not None and not rest.is_nothing:
            self._kept.remember(rest)
            await self._begin(lambda: self._lie_down(rest))

    async def resume(self) -> None:
        """Returns when the printer goes on, or has begun to warm up for it."""
        rest = self._kept.rest
        if rest is None or rest.file_name != _file_name(self._live.view):
            await self._live.until_paused()
            await self._orders.resume()
        elif not self._live.is_waking:
            await self._stop()
            if rest.heat is not None:
                await self._orders.heat(rest.heat)
            await self._begin(lambda: self._wake(rest))
            self._live.is_waking = True

    async def cancel(self) -> None:
        await self._stop()
        await self._orders.stop()
        self._kept.take()

    async def close(self) -> None:
        await self._stop()

    async def on_heard(self) -> None:
        """A print that somebody resumed at the printer itself gets its heat back."""
        rest, view = self._kept.rest, self._live.view
        if rest is None or self._task is not None or view.trouble is not None:
            return
        heat = rest.heat
        is_same = rest.file_name == _file_name(view)
        if is_same and view.job.state is State.PAUSED:
            return
        self._kept.take()
        if is_same and view.job.state is State.PRINTING and heat is not None:
            log.warning("the print was resumed at the printer: its heaters are turned on again")
            await self._begin(lambda: self._orders.heat(heat))

    # --- the way down and up ----------------------------------------------------------------------

    async def _lie_down(self, rest: Rest) -> None:
        if not await self._live.until(_is_quite_paused, UNTIL_PAUSED_S):
            return  # it was resumed or cancelled before it came to rest
        if rest.lift_mm:
            await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=rest.lift_mm))
        if rest.cold is not None:
            await self._orders.heat(rest.cold)

    async def _wake(self, rest: Rest) -> None:
        if not await self._live.until(lambda view: _is_warm(rest, view), UNTIL_WARM_S):
            raise failed("It does not get warm.")
        if rest.lift_mm:
            await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=-rest.lift_mm))
        await self._orders.resume()
        self._kept.take()

    async def _begin(self, steps: Callable[[], Awaitable[None]]) -> None:
        await self._stop()
        self._task = asyncio.create_task(self._attempt(steps))

    async def _attempt(self, steps: Callable[[], Awaitable[None]]) -> None:
        try:
            await steps()
        except PrinterRefused as refused:
            log.warning("a smart pause could not go on: %s", refused.sentence)
        self._task = None
        self._live.is_waking = False

    async def _stop(self) -> None:
        task, self._task = self._task, None
        self._live.is_waking = False
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def plan_rest(order: Pause, view: View) -> Rest:
    temps = view.job.current_print.temps
    return Rest(
        file_name=_file_name(view),
        hotend_c=temps.hotend_target if order.disable_hotend else 0.0,
        bed_c=temps.bed_target if order.disable_bed else 0.0,
        lift_mm=order.z_lift_mm if Feature.AXIS_MOVEMENT in view.features else 0,
    )


def rest_of(told: object) -> Rest | None:
    """What was remembered; None where that isn't legible."""
    file_name = loose.text(told, "file_name")
    if file_name is None:
        return None
    return Rest(
        file_name=file_name,
        hotend_c=target_c(told, "hotend_c"),
        bed_c=target_c(told, "bed_c"),
        lift_mm=distance_mm(told, "lift_mm"),
    )


def rest_store(folder: Path) -> RestStore[Rest]:
    """Remembers a rest across a restart of the agent, which may come in the middle of a pause."""
    return RestStore(folder / STORE, rest_of)


def _file_name(view: View) -> str:
    return view.job.current_print.file_name


def _is_quite_paused(view: View) -> bool:
    return view.job.state is State.PAUSED and view.job.sub_state is None


def _is_warm(rest: Rest, view: View) -> bool:
    return view.trouble is None and rest.is_warm(view.job.current_print.temps)
