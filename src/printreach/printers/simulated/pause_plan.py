"""Pauses of the simulated printer, which has no smart pause of its own."""

from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.contract.status import State
from printreach.printers.pause_plan import BED, HOTEND, Action, PausePlan
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import CommandLimits

from .api import Api, SimulatedView
from .machine import COLD_BELOW_C


class SimulatedPausePlan(PausePlan[SimulatedView]):
    """The printer pauses with its heaters on, and returns to its place by itself."""

    file = "simulated-smart-pause.json"
    shape = StoredShape(heaters=(HOTEND, BED))
    repauses = True

    def __init__(self, api: Api, live_view: SimulatedView, limits: CommandLimits) -> None:
        super().__init__(live_view, limits)
        self._api = api

    def reported_print(self) -> PrintReport:
        job = self.live_view.view.job
        current = job.current_print
        return PrintReport(
            state=job.state,
            is_paused=job.state is State.PAUSED,
            path=current.file_name,
            progress=PrintProgress(
                print_id=self.live_view.print_id,
                duration_s=current.duration_sec,
                position=positions(current.progress, current.current_layer),
            ),
        )

    def planned(self, order: Pause) -> SavedState:
        temps, saved = self.live_view.view.job.current_print.temps, super().planned(order)
        # What is retracted is fed again as soon as the hotend counts as warm.
        hot_c = COLD_BELOW_C + self.close_enough_c
        is_cold = min(temps.hotend_actual, temps.hotend_target) < hot_c
        return replace(saved, retract_mm=0) if is_cold else saved

    async def order(self, action: Action) -> None:
        await self._api.order("print", Action=action)

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:  # noqa: ARG002 - it returns by itself
        if lift_mm < 0:
            await self._api.order("move", Axis="Z", DistanceMm=lift_mm)
        if extrude_mm:
            await self._api.order("extrude", DistanceMm=extrude_mm)
        if lift_mm > 0:
            await self._api.order("move", Axis="Z", DistanceMm=lift_mm)

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        names, targets = {HOTEND: "ToolC", BED: "BedC"}, saved.targets_to_set(on=on)
        await self._api.order("temperature", **{names[h]: c for h, c in targets.items()})
