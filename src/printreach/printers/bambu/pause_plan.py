"""Pauses of a Bambu Lab printer.

The firmware keeps the temperatures in a pause and has no smart pause, so it is made of G-code.
"""

from printreach.contract.commands import Axis, SetTemp
from printreach.contract.unset import UNSET
from printreach.printers.pause_plan import BED, HOTEND, Action, PausePlan
from printreach.printers.print_progress import PrintReport, SavedState, StoredShape
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import BambuApi
from .live_view import LiveView
from .orders import PRINT_ORDERS, extrude_lines, gcode, move_lines, temp_lines
from .stopwatch import print_report


class BambuPausePlan(PausePlan[LiveView]):
    file = "bambu-smart-pause.json"
    shape = StoredShape(path="job", heaters=(HOTEND, BED))
    close_enough_c = 5.0
    pauses_slowly = True

    def __init__(
        self, api: BambuApi, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(live_view, limits)
        self._api = api

    def reported_print(self) -> PrintReport:
        return print_report(self.live_view.known.report)

    async def order(self, action: Action) -> None:
        await self._api.order(PRINT_ORDERS[action])

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:  # noqa: ARG002
        await self._api.order(gcode(*pause_moves(lift_mm, extrude_mm)))

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        await self._api.order(gcode(*heat_lines(saved, on=on)))


def pause_moves(lift_mm: int, extrude_mm: int) -> list[str]:
    lift = move_lines(Axis.Z, lift_mm) if lift_mm else []
    extrude = extrude_lines(extrude_mm) if extrude_mm else []
    return [*lift, *extrude] if lift_mm < 0 else [*extrude, *lift]


def heat_lines(saved: SavedState, *, on: bool) -> list[str]:
    targets = saved.targets_to_set(on=on)
    order = SetTemp(tool_c=targets.get(HOTEND, UNSET), bed_c=targets.get(BED, UNSET))
    return temp_lines(order, extruders=1)
