"""Pauses of a Bambu Lab printer.

The firmware keeps the temperatures in a pause and has no smart pause, so it is made of G-code.
"""

from collections.abc import Callable, Mapping, Sequence

from printreach.contract.commands import Axis, SetTemp
from printreach.contract.unset import UNSET
from printreach.printers.pause_plan import PausePlan
from printreach.printers.print_progress import PrintReport, SavedState, StoredShape
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from .api import BambuApi
from .live_view import LiveView
from .orders import PAUSE, RESUME, STOP, extrude_lines, gcode, move_lines, temp_lines
from .stopwatch import print_report

HOTEND, BED = "hotend_c", "bed_c"


class BambuPausePlan(PausePlan):
    file = "bambu-smart-pause.json"
    shape = StoredShape(path="job", heaters=(HOTEND, BED))
    bed = BED
    close_enough_c = 5.0
    pauses_slowly = True

    def __init__(
        self, api: BambuApi, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS
    ) -> None:
        super().__init__(limits)
        self._api = api
        self._live_view = live_view

    def print_report(self) -> PrintReport | None:
        if self._live_view.view.trouble is not None:
            return None
        return print_report(self._live_view.known.report)

    def temperature_c(self, heater: str) -> float:
        temps = self._live_view.temps
        return temps.bed_actual if heater == BED else temps.hotend_actual

    def targets(self) -> Mapping[str, float]:
        temps = self._live_view.temps
        return {HOTEND: temps.hotend_target, BED: temps.bed_target}

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._api.order(PAUSE)

    async def resume_print(self) -> None:
        await self._api.order(RESUME)

    async def cancel_print(self) -> None:
        await self._api.order(STOP)

    async def park(self, saved: SavedState) -> None:
        await self._tell(park_lines(saved))

    async def cool(self, saved: SavedState) -> None:
        await self._tell(cool_lines(saved))

    async def heat(self, saved: SavedState) -> None:
        tool_c, bed_c = saved.targets.get(HOTEND, UNSET), saved.targets.get(BED, UNSET)
        await self._tell(temp_lines(SetTemp(tool_c=tool_c, bed_c=bed_c), extruders=1))

    async def move_back(self, saved: SavedState) -> None:
        await self._tell(move_back_lines(saved))

    async def _tell(self, lines: Sequence[str]) -> None:
        await self._api.order(gcode(*lines))


def park_lines(saved: SavedState) -> Sequence[str]:
    return [
        *(extrude_lines(-saved.retract_mm) if saved.retract_mm else ()),
        *(move_lines(Axis.Z, saved.lift_mm) if saved.lift_mm else ()),
    ]


def cool_lines(saved: SavedState) -> Sequence[str]:
    return [f"{'M140' if heater == BED else 'M104'} S0" for heater in saved.targets]


def move_back_lines(saved: SavedState) -> Sequence[str]:
    return [
        *(move_lines(Axis.Z, -saved.lift_mm) if saved.lift_mm else ()),
        *(extrude_lines(saved.retract_mm) if saved.retract_mm else ()),
    ]
