"""Pauses of Klipper, through Moonraker.

Klipper keeps the heaters as they are in a pause, so a smart pause is made of G-code. The agent
waits for the heat by observing it, not by a command that waits: during such a command Klipper would
accept no other, not even a cancel.
"""

from collections.abc import Mapping

from printreach.contract.commands import CommandStatus
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.pause_plan import PAUSED_WITHIN_S, Action, PausePlan, g1_moves
from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import (
    PrintReport,
    SavedState,
    StoredShape,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from . import gcode
from .api import MoonrakerApi
from .live_view import LiveView
from .status import heater_targets, obj, print_report

BED = "heater_bed"


class MoonrakerPausePlan(PausePlan[LiveView]):
    file = "moonraker-smart-pause.json"
    shape = StoredShape(is_heater=lambda name: name.replace("_", "").isalnum())
    bed = BED

    def __init__(
        self, api: MoonrakerApi, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(live_view, limits)
        self._api = api

    def reported_print(self) -> PrintReport:
        return print_report(self.live_view.known)

    def temperature_c(self, heater: str) -> float:
        return loose.number(obj(self.live_view.known, heater), "temperature") or 0.0

    def targets(self) -> Mapping[str, float]:
        return heater_targets(self.live_view.known)

    async def order(self, action: Action) -> None:
        await self._press(action)

    async def pause_fully(self) -> None:
        if not await self._press("pause", PAUSED_WITHIN_S):
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                N_("The printer pauses as soon as it can; its heaters are left as they are."),
            )

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:  # noqa: ARG002
        """A script ends at the line that Klipper refuses."""
        try:
            await self._api.run(pause_moves(lift_mm, extrude_mm))
        except PrinterRefused:
            await self._api.run(gcode.RESTORE)
            raise

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        await self._api.run(gcode.set_targets(saved.targets_to_set(on=on)))

    async def _press(self, button: Action, timeout_s: float | None = None) -> bool:
        """Order it; False where it is still under way after the timeout."""
        is_done = await self._api.order(f"printer.print.{button}", timeout_s=timeout_s)
        await self.live_view.refresh()
        return is_done


def pause_moves(lift_mm: int, extrude_mm: int) -> str:
    feeds = {"lift_feed": gcode.Z_MM_MIN, "extrude_feed": gcode.RETRACT_MM_MIN}
    return gcode.relatively(*g1_moves(lift_mm, extrude_mm, **feeds))
