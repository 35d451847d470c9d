"""Pauses and resumes prints, smart pauses included, for both protocols.

The firmware keeps its heaters on in a pause and has no smart pause, so it is made of the commands
for temperatures and moves. Filament is not retracted: no command for that is known. That the
printer accepts these commands in a pause is a guess; if it refuses, the pause is an ordinary one.
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
from printreach.printers.saved_state import (
    CurrentSavedState,
    SavedStateStore,
    distance_mm,
    target_c,
)

from .live_view import LiveView

log = logging.getLogger(__name__)

STORE = "elegoo-smart-pause.json"
UNTIL_PAUSED_S = 120.0
UNTIL_WARM_S = 900.0
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What a smart pause changed.

    file_name: of the print. Targets are 0 where nothing was changed.
    """

    file_name: str
    hotend_c: float
    bed_c: float
    lift_mm: int

    @property
    def is_empty(self) -> bool:
        return not (self.hotend_c or self.bed_c or self.lift_mm)

    @property
    def heat(self) -> SetTemp | None:
        """The targets before the pause."""
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
    """The commands of one protocol."""

    pause: Callable[[], Awaitable[object]]
    resume: Callable[[], Awaitable[object]]
    stop: Callable[[], Awaitable[object]]
    heat: Callable[[SetTemp], Awaitable[None]]
    move: Callable[[MoveAxis], Awaitable[None]]


class PauseController:
    """Pauses one printer. folder: where the saved state is kept across restarts of the agent."""

    def __init__(self, orders: Orders, live_view: LiveView, folder: Path) -> None:
        self._orders = orders
        self._live_view = live_view
        self._current = CurrentSavedState(saved_state_store(folder))
        self._task: asyncio.Task[None] | None = None

    async def pause(self, order: Pause) -> None:
        view = self._live_view.view
        saved = plan_saved_state(order, view) if order.smart_pause else None
        await self._orders.pause()
        if saved is not None and not saved.is_empty:
            self._current.remember(saved)
            await self._begin(lambda: self._enter_smart_pause(saved))

    async def resume(self) -> None:
        """Resume; returns when the printer has resumed, or has begun to warm up for it."""
        saved = self._current.saved
        if saved is None or saved.file_name != _file_name(self._live_view.view):
            await self._live_view.until_paused()
            await self._orders.resume()
        elif not self._live_view.is_restoring:
            await self._stop()
            if saved.heat is not None:
                await self._orders.heat(saved.heat)
            await self._begin(lambda: self._restore(saved))
            self._live_view.is_restoring = True

    async def cancel(self) -> None:
        await self._stop()
        await self._orders.stop()
        self._current.take()

    async def close(self) -> None:
        await self._stop()

    async def on_update(self) -> None:
        """Turn the heaters on again for a print that was resumed at the printer itself."""
        saved, view = self._current.saved, self._live_view.view
        if saved is None or self._task is not None or view.trouble is not None:
            return
        heat = saved.heat
        is_same = saved.file_name == _file_name(view)
        if is_same and view.job.state is State.PAUSED:
            return
        self._current.take()
        if is_same and view.job.state is State.PRINTING and heat is not None:
            log.warning("the print was resumed at the printer: its heaters are turned on again")
            await self._begin(lambda: self._orders.heat(heat))

    # --- smart pause and restore ------------------------------------------------------------------

    async def _enter_smart_pause(self, saved: SavedState) -> None:
        if not await self._live_view.wait_until(_is_fully_paused, UNTIL_PAUSED_S):
            return  # it was resumed or cancelled before it was paused
        if saved.lift_mm:
            await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=saved.lift_mm))
        if saved.cold is not None:
            await self._orders.heat(saved.cold)

    async def _restore(self, saved: SavedState) -> None:
        if not await self._live_view.wait_until(lambda view: _is_warm(saved, view), UNTIL_WARM_S):
            raise failed("It does not get warm.")
        if saved.lift_mm:
            await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=-saved.lift_mm))
        await self._orders.resume()
        self._current.take()

    async def _begin(self, steps: Callable[[], Awaitable[None]]) -> None:
        await self._stop()
        self._task = asyncio.create_task(self._attempt(steps))

    async def _attempt(self, steps: Callable[[], Awaitable[None]]) -> None:
        try:
            await steps()
        except PrinterRefused as refused:
            log.warning("a smart pause could not go on: %s", refused.sentence)
        self._task = None
        self._live_view.is_restoring = False

    async def _stop(self) -> None:
        task, self._task = self._task, None
        self._live_view.is_restoring = False
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def plan_saved_state(order: Pause, view: View) -> SavedState:
    temps = view.job.current_print.temps
    return SavedState(
        file_name=_file_name(view),
        hotend_c=temps.hotend_target if order.disable_hotend else 0.0,
        bed_c=temps.bed_target if order.disable_bed else 0.0,
        lift_mm=order.z_lift_mm if Feature.AXIS_MOVEMENT in view.features else 0,
    )


def parse_saved_state(told: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    file_name = loose.text(told, "file_name")
    if file_name is None:
        return None
    return SavedState(
        file_name=file_name,
        hotend_c=target_c(told, "hotend_c"),
        bed_c=target_c(told, "bed_c"),
        lift_mm=distance_mm(told, "lift_mm"),
    )


def saved_state_store(folder: Path) -> SavedStateStore[SavedState]:
    """Return the store, which keeps the state across a restart of the agent during a pause."""
    return SavedStateStore(folder / STORE, parse_saved_state)


def _file_name(view: View) -> str:
    return view.job.current_print.file_name


def _is_fully_paused(view: View) -> bool:
    return view.job.state is State.PAUSED and view.job.sub_state is None


def _is_warm(saved: SavedState, view: View) -> bool:
    return view.trouble is None and saved.is_warm(view.job.current_print.temps)
