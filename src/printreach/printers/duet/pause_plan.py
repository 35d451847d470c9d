"""Pauses of a Duet.

The firmware runs the owner's own pause.g and resume.g, which retract and lift as the machine needs
it, and moves back to where the print was by itself. What a smart pause does beyond that is done and
undone here. A tool that is switched off keeps its temperatures.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.printers import loose
from printreach.printers.pause_plan import PAUSED_WITHIN_S, PausePlan
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintReport, SavedState, StoredShape
from printreach.rules.printers.commands import DEFAULT_LIMITS, MAX_TOOL_NUMBER, CommandLimits

from . import gcode
from . import model as duet
from .known_state import is_fully_paused, is_pausing, print_report
from .live_view import LiveView

BED = "bed_c"
SWITCHED_ON = frozenset({"active", "standby"})
_NUMBERS = frozenset(str(number) for number in range(MAX_TOOL_NUMBER + 1))


def _tools_in(stored: object) -> Mapping[str, Mapping[str, str]]:
    """Return the tools that were switched off: the state before by the number."""
    tools = loose.obj(stored, "tools")
    states = {number: loose.text(tools, number) for number in tools if number in _NUMBERS}
    return {"tools": {number: state for number, state in states.items() if state in SWITCHED_ON}}


class DuetPausePlan(PausePlan):
    file = "duet-smart-pause.json"
    shape = StoredShape(heaters=(BED,), details=_tools_in)
    bed = BED
    repauses = True

    def __init__(self, live_view: LiveView, limits: CommandLimits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._live_view = live_view

    # --- what the board says ----------------------------------------------------------------------

    def print_report(self) -> PrintReport | None:
        view = self._live_view
        return print_report(view.known) if view.view.trouble is None else None

    def temperature_c(self, heater: str) -> float:  # noqa: ARG002  # there is the bed alone
        bed = duet.bed(self._live_view.known.model)
        return bed.actual_c or 0.0 if bed is not None else 0.0

    def targets(self) -> Mapping[str, float]:
        bed = duet.bed(self._live_view.known.model)
        return {BED: bed.target_c} if bed is not None else {}

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self._live_view.wait_until(lambda _: condition(), seconds)

    # --- what is changed --------------------------------------------------------------------------

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        tools = {
            str(tool.number): tool.heater.state
            for tool in duet.tools(self._live_view.known.model)
            if tool.heater.state in SWITCHED_ON and tool.heater.target_c <= self.limits.hotend_c
        }
        return replace(saved, details={"tools": tools if order.disable_hotend else {}})

    async def completed(self, planned: SavedState, order: Pause) -> SavedState:
        """The owner's pause.g may have switched tools, and resume.g undoes that."""
        return replace(self.planned(order), path=planned.path)

    def has_heat(self, saved: SavedState) -> bool:
        return bool(saved.targets or saved.details["tools"])

    def has_moves_back(self, saved: SavedState) -> bool:
        """The board itself moves back to the print."""
        return bool(saved.retract_mm)

    def is_warm(self, saved: SavedState) -> bool:
        """Return whether the board has taken the targets, and reached them."""
        model = self._live_view.known.model
        heaters = {str(tool.number): tool.heater for tool in duet.tools(model)}
        has_tools = all(
            number in heaters
            and heaters[number].state == state
            and self._has_reached(heaters[number])
            for number, state in saved.details["tools"].items()
        )
        bed = duet.bed(model)
        has_bed = all(bed and bed.target_c >= target for target in saved.targets.values())
        return has_tools and has_bed and super().is_warm(saved)

    def hottest_c(self, saved: SavedState) -> float:
        """The tools' temperatures are the board's own, and may have been changed there since."""
        model = self._live_view.known.model
        tools = saved.details["tools"].items()
        return max((duet.set_target_c(model, int(n), state) for n, state in tools), default=0.0)

    def _has_reached(self, heater: duet.Heater) -> bool:
        actual_c = heater.actual_c
        return actual_c is not None and actual_c >= heater.target_c - self.close_enough_c

    # --- orders -----------------------------------------------------------------------------------

    async def pause_print(self) -> None:
        await self._live_view.order(gcode.PAUSE)

    async def resume_print(self) -> None:
        await self._live_view.order(gcode.RESUME)

    async def cancel_print(self) -> None:
        """Pause and cancel: the firmware cancels only a paused print."""
        self._live_view.expect_cancel(True)
        try:
            if not is_pausing(self._live_view.known):
                await self._live_view.order(gcode.PAUSE)
            if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
                raise failed("The print is pausing, which comes first: cancel it again in a while.")
            await self._live_view.order(gcode.CANCEL)
        except PrinterRefused:
            self._live_view.expect_cancel(False)
            raise

    async def park(self, saved: SavedState) -> None:
        moves = [f"G1 E-{saved.retract_mm} F{gcode.RETRACT_MM_PER_MIN}"] if saved.retract_mm else []
        if saved.lift_mm:
            moves.append(f"G1 Z{saved.lift_mm} F{gcode.MOVE_MM_PER_MIN['Z']}")
        await self._live_view.order(gcode.relatively(*moves))

    async def cool(self, saved: SavedState) -> None:
        tools = [gcode.switch_tool(int(number), "off") for number in saved.details["tools"]]
        await self._live_view.order([*tools, *(gcode.heat_bed(0) for _ in saved.targets)])

    async def heat(self, saved: SavedState) -> None:
        await self._live_view.order(heat_commands(saved))

    async def move_back(self, saved: SavedState) -> None:
        await self._live_view.order(move_back_commands(saved))

    async def until_resumable(self) -> None:
        if not await self._live_view.wait_until(is_fully_paused, PAUSED_WITHIN_S):
            raise failed("The print is still pausing.")


def heat_commands(saved: SavedState) -> list[str]:
    tools = saved.details["tools"].items()
    beds = [gcode.heat_bed(target_c) for target_c in saved.targets.values()]
    return [*(gcode.switch_tool(int(number), state) for number, state in tools), *beds]


def move_back_commands(saved: SavedState) -> list[str]:
    return gcode.relatively(f"G1 E{saved.retract_mm} F{gcode.RETRACT_MM_PER_MIN}")
