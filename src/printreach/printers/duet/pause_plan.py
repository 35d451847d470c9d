"""Pauses of a Duet.

The firmware runs the owner's own pause.g and resume.g, which retract and lift as the machine needs
it, and moves back to where the print was by itself. What a smart pause does beyond that is done and
undone here. A tool that is switched off keeps its temperatures.
"""

from collections.abc import Mapping
from dataclasses import replace

from printreach.contract.commands import Pause
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.pause_plan import BED, PAUSED_WITHIN_S, Action, PausePlan, g1_moves
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintReport, SavedState, StoredShape
from printreach.rules.printers.commands import MAX_TOOL_NUMBER

from . import gcode
from . import model as duet
from .known_state import is_fully_paused, is_pausing, print_report
from .live_view import LiveView

SWITCHED_ON = frozenset({"active", "standby"})
_NUMBERS = frozenset(str(number) for number in range(MAX_TOOL_NUMBER + 1))


def _tools_in(stored: object) -> Mapping[str, Mapping[str, str]]:
    """Return the tools that were switched off: the state before by the number."""
    tools = loose.obj(stored, "tools")
    states = {number: loose.text(tools, number) for number in tools if number in _NUMBERS}
    return {"tools": {number: state for number, state in states.items() if state in SWITCHED_ON}}


class DuetPausePlan(PausePlan[LiveView]):
    file = "duet-smart-pause.json"
    shape = StoredShape(heaters=(BED,), details=_tools_in)
    repauses = True
    loses_resumes = True

    def reported_print(self) -> PrintReport | None:
        return print_report(self.live_view.known)

    def targets(self) -> Mapping[str, float]:
        """Return the bed's alone: the board itself keeps those of the tools."""
        return {BED: super().targets()[BED]}

    # --- what is changed --------------------------------------------------------------------------

    def planned(self, order: Pause) -> SavedState:
        saved = super().planned(order)
        tools = {
            str(tool.number): tool.heater.state
            for tool in duet.tools(self.live_view.known.model)
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
        model = self.live_view.known.model
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
        model = self.live_view.known.model
        tools = saved.details["tools"].items()
        return max((duet.set_target_c(model, int(n), state) for n, state in tools), default=0.0)

    def _has_reached(self, heater: duet.Heater) -> bool:
        actual_c = heater.actual_c
        return actual_c is not None and actual_c >= heater.target_c - self.close_enough_c

    # --- orders -----------------------------------------------------------------------------------

    async def order(self, action: Action) -> None:
        if action == "cancel":
            await self._cancel()
        else:
            await self.live_view.order(gcode.PAUSE if action == "pause" else gcode.RESUME)

    async def _cancel(self) -> None:
        """Pause and cancel: the firmware cancels only a paused print."""
        self.live_view.expect_cancel(True)
        try:
            if not is_pausing(self.live_view.known):
                await self.live_view.order(gcode.PAUSE)
            if not await self.wait_until(
                lambda: is_fully_paused(self.live_view.known), PAUSED_WITHIN_S
            ):
                raise failed(
                    N_("The print is pausing, which comes first: cancel it again in a while.")
                )
            await self.live_view.order(gcode.CANCEL)
        except PrinterRefused:
            self.live_view.expect_cancel(False)
            raise

    async def move(self, saved: SavedState, *, lift_mm: int, extrude_mm: int) -> None:  # noqa: ARG002
        await self.live_view.order(pause_moves(lift_mm, extrude_mm))

    async def set_heaters(self, saved: SavedState, *, on: bool) -> None:
        await self.live_view.order(heat_commands(saved, on=on))


def pause_moves(lift_mm: int, extrude_mm: int) -> list[str]:
    """Lift, but don't lower: the board itself moves back to the print."""
    feeds = {"lift_feed": gcode.MOVE_MM_PER_MIN["Z"], "extrude_feed": gcode.RETRACT_MM_PER_MIN}
    return gcode.relatively(*g1_moves(max(lift_mm, 0), extrude_mm, **feeds))


def heat_commands(saved: SavedState, *, on: bool) -> list[str]:
    tools = [
        gcode.switch_tool(int(number), state if on else "off")
        for number, state in saved.details["tools"].items()
    ]
    return [*tools, *map(gcode.heat_bed, saved.targets_to_set(on=on).values())]
