"""Pauses and resumes prints, smart pauses included, for both protocols.

The firmware keeps its heaters on in a pause and has no smart pause, so it is made of the commands
for temperatures and moves. Filament is not retracted: no command for that is known. That the
printer accepts these commands in a pause is a guess; if it refuses, the pause is an ordinary one.
"""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from printreach.contract.commands import Axis, MoveAxis, Pause, SetTemp
from printreach.contract.status import Feature, State, Temps
from printreach.contract.unset import UNSET
from printreach.printers import loose
from printreach.printers.port import View
from printreach.printers.print_progress import (
    UNKNOWN_PROGRESS,
    PrintProgress,
    PrintReport,
    parse_progress,
    positions,
)
from printreach.printers.saved_state import SavedStateStore, distance_mm, target_c
from printreach.printers.smart_pauses import SmartPauses
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits, restore_problem

from .live_view import LiveView

STORE = "elegoo-smart-pause.json"
UNTIL_PAUSED_S = 120.0
CLOSE_ENOUGH_C = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The changes that a smart pause made.

    file_name, progress: of the print. Targets are 0 where nothing was changed.
    """

    file_name: str
    hotend_c: float
    bed_c: float
    lift_mm: int
    progress: PrintProgress = UNKNOWN_PROGRESS

    @property
    def path(self) -> str:
        return self.file_name

    @property
    def is_empty(self) -> bool:
        return not (self.has_heat or self.has_moves)

    @property
    def has_heat(self) -> bool:
        return bool(self.hotend_c or self.bed_c)

    @property
    def has_moves(self) -> bool:
        return bool(self.lift_mm)

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
    heat: Callable[[SetTemp], Coroutine[Any, Any, None]]
    move: Callable[[MoveAxis], Coroutine[Any, Any, None]]


class PauseController:
    """printers.pause_platform.PausePlatform. folder: for the saved state, kept across restarts."""

    repauses = False
    refuses_moves_whole = False

    def __init__(
        self,
        orders: Orders,
        live_view: LiveView,
        folder: Path,
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        self._orders = orders
        self._live_view = live_view
        self._limits = limits
        self.smart = SmartPauses(saved_state_store(folder), self)

    async def pause(self, order: Pause) -> None:
        saved = plan_saved_state(order, self._live_view.view, self._limits)
        require_paused = await self.smart.begin_pause()
        await self.pause_print()
        if order.smart_pause and not saved.is_empty:
            self.smart.start(self._enter_smart_pause(saved, require_paused))

    async def resume(self) -> None:
        await self.smart.resume(self._live_view.until_paused)

    async def cancel(self) -> None:
        await self.smart.cancel(self._orders.stop)

    async def _enter_smart_pause(
        self, saved: SavedState, require_paused: Callable[[], None]
    ) -> None:
        if not await self._live_view.wait_until(_is_fully_paused, UNTIL_PAUSED_S):
            return  # it was resumed or cancelled before it was paused
        require_paused()
        if self.smart.remember(saved) is None:
            return
        if saved.lift_mm:
            lift = MoveAxis(axis=Axis.Z, distance_mm=saved.lift_mm)
            await self.smart.send(self._orders.move(lift))
        if saved.cold is not None:
            require_paused()
            await self.smart.send(self._orders.heat(saved.cold))

    # --- printers.pause_platform.PausePlatform ----------------------------------------------------

    def print_report(self) -> PrintReport | None:
        view = self._live_view.view
        if view.trouble is not None:
            return None
        current = view.job.current_print
        return PrintReport(
            state=view.job.state,
            is_paused=_is_fully_paused(view),
            path=current.file_name,
            progress=PrintProgress(
                print_id=self._live_view.print_id,
                duration_s=current.duration_sec,
                position=positions(current.progress, current.current_layer),
            ),
        )

    def is_warm(self, saved: SavedState) -> bool:
        return _is_warm(saved, self._live_view.view)

    def without_moves(self, saved: SavedState) -> SavedState:
        return replace(saved, lift_mm=0)

    def limit_problem(self, saved: SavedState) -> str | None:
        return restore_problem(
            self._limits,
            hotend_c=saved.hotend_c,
            bed_c=saved.bed_c,
            lift_mm=saved.lift_mm,
        )

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    async def pause_print(self) -> None:
        await self._orders.pause()

    async def resume_print(self) -> None:
        await self._orders.resume()

    async def heat(self, saved: SavedState) -> None:
        if saved.heat is not None:
            await self._orders.heat(saved.heat)

    async def move_back(self, saved: SavedState) -> None:
        await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=-saved.lift_mm))


def plan_saved_state(
    order: Pause, view: View, limits: CommandLimits = DEFAULT_LIMITS
) -> SavedState:
    """Return what is to be turned off; not what a resume wouldn't be allowed to heat again."""
    temps = view.job.current_print.temps
    is_hotend_off = order.disable_hotend and temps.hotend_target <= limits.hotend_c
    is_bed_off = order.disable_bed and temps.bed_target <= limits.bed_c
    return SavedState(
        file_name=_file_name(view),
        hotend_c=temps.hotend_target if is_hotend_off else 0.0,
        bed_c=temps.bed_target if is_bed_off else 0.0,
        lift_mm=order.z_lift_mm if Feature.AXIS_MOVEMENT in view.features else 0,
    )


def parse_saved_state(stored: object) -> SavedState | None:
    """Decode a stored state; None where it can't be read."""
    file_name = loose.text(stored, "file_name")
    if file_name is None:
        return None
    return SavedState(
        file_name=file_name,
        hotend_c=target_c(stored, "hotend_c"),
        bed_c=target_c(stored, "bed_c"),
        lift_mm=distance_mm(stored, "lift_mm"),
        progress=parse_progress(stored),
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
