"""Pauses of an Elegoo printer, for both protocols.

The firmware keeps its heaters on in a pause and has no smart pause, so it is made of the commands
for temperatures and moves. Filament is not retracted: no command for that is known. That the
printer accepts these commands in a pause is a guess; if it refuses, the pause is an ordinary one.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any

from printreach.contract.commands import Axis, MoveAxis, Pause, SetTemp
from printreach.contract.status import Feature, State
from printreach.contract.unset import UNSET
from printreach.printers.pause_plan import PausePlan
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .live_view import LiveView

HOTEND, BED = "hotend_c", "bed_c"


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The commands of one protocol."""

    pause: Callable[[], Awaitable[object]]
    resume: Callable[[], Awaitable[object]]
    stop: Callable[[], Awaitable[object]]
    heat: Callable[[SetTemp], Coroutine[Any, Any, None]]
    move: Callable[[MoveAxis], Coroutine[Any, Any, None]]


class ElegooPausePlan(PausePlan):
    file = "elegoo-smart-pause.json"
    shape = StoredShape(path="file_name", heaters=(HOTEND, BED))
    bed = BED
    close_enough_c = 5.0
    pauses_slowly = True

    def __init__(
        self, orders: Orders, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(limits)
        self._orders = orders
        self._live_view = live_view

    def print_report(self) -> PrintReport | None:
        view = self._live_view.view
        if view.trouble is not None:
            return None
        current = view.job.current_print
        return PrintReport(
            state=view.job.state,
            is_paused=view.job.state is State.PAUSED and view.job.sub_state is None,
            path=current.file_name,
            progress=PrintProgress(
                print_id=self._live_view.print_id,
                duration_s=current.duration_sec,
                position=positions(current.progress, current.current_layer),
            ),
        )

    def temperature_c(self, heater: str) -> float:
        temps = self._live_view.view.job.current_print.temps
        return temps.bed_actual if heater == BED else temps.hotend_actual

    def targets(self) -> Mapping[str, float]:
        temps = self._live_view.view.job.current_print.temps
        return {HOTEND: temps.hotend_target, BED: temps.bed_target}

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        can_move = Feature.AXIS_MOVEMENT in self._live_view.view.features
        return replace(saved, lift_mm=saved.lift_mm if can_move else 0, retract_mm=0)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    async def pause_print(self) -> None:
        await self._orders.pause()

    async def resume_print(self) -> None:
        await self._orders.resume()

    async def cancel_print(self) -> None:
        await self._orders.stop()

    async def park(self, saved: SavedState) -> None:
        await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=saved.lift_mm))

    async def cool(self, saved: SavedState) -> None:
        await self._set(dict.fromkeys(saved.targets, 0.0))

    async def heat(self, saved: SavedState) -> None:
        await self._set(saved.targets)

    async def move_back(self, saved: SavedState) -> None:
        await self._orders.move(MoveAxis(axis=Axis.Z, distance_mm=-saved.lift_mm))

    async def until_resumable(self) -> None:
        await self._live_view.until_paused()

    async def _set(self, targets: Mapping[str, float]) -> None:
        tool_c, bed_c = targets.get(HOTEND, UNSET), targets.get(BED, UNSET)
        await self._orders.heat(SetTemp(tool_c=tool_c, bed_c=bed_c))
