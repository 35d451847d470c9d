"""Pauses of Klipper, through Moonraker.

Klipper keeps the heaters as they are in a pause, so a smart pause is made of G-code. The agent
waits for the heat by observing it, not by a command that waits: during such a command Klipper would
accept no other, not even a cancel.
"""

from collections.abc import Callable, Mapping

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers import loose
from printreach.printers.following import UpdateSignal
from printreach.printers.pause_plan import PAUSED_WITHIN_S, PausePlan
from printreach.printers.port import PrinterRefused
from printreach.printers.print_progress import (
    PrintProgress,
    PrintReport,
    SavedState,
    StoredShape,
    positions,
)
from printreach.rules.printers.commands import DEFAULT_LIMITS, CommandLimits

from . import gcode
from .api import MoonrakerApi
from .session import Session
from .status import KnownState, active_extruder, obj, print_path, state_of

BED = "heater_bed"


class MoonrakerPausePlan(PausePlan):
    """current_session: returns the present one. is_connected: whether Klipper can be reached by it.
    updates: told whenever something of the printer has changed, or it was lost.
    """

    file = "moonraker-smart-pause.json"
    shape = StoredShape(is_heater=lambda name: name.replace("_", "").isalnum())
    bed = BED

    def __init__(
        self,
        api: MoonrakerApi,
        current_session: Callable[[], Session],
        is_connected: Callable[[], bool],
        limits: CommandLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(limits)
        self.updates = UpdateSignal()
        self._api = api
        self._current_session = current_session
        self._is_connected = is_connected

    @property
    def _known(self) -> KnownState:
        return self._current_session().known

    def print_report(self) -> PrintReport | None:
        return print_report(self._known) if self._is_connected() else None

    def temperature_c(self, heater: str) -> float:
        return loose.number(obj(self._known, heater), "temperature") or 0.0

    def targets(self) -> Mapping[str, float]:
        return targets_of(self._known)

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        return await self.updates.wait_until(condition, seconds)

    async def pause_print(self) -> None:
        await self._press("pause")

    async def pause_fully(self) -> None:
        if not await self._press("pause", PAUSED_WITHIN_S):
            raise PrinterRefused(
                CommandStatus.TIMED_OUT,
                "The printer pauses as soon as it can; its heaters are left as they are.",
            )

    async def resume_print(self) -> None:
        await self._press("resume")

    async def cancel_print(self) -> None:
        await self._press("cancel")

    async def park(self, saved: SavedState) -> None:
        await self._move(gcode.park(saved.retract_mm, saved.lift_mm))

    async def cool(self, saved: SavedState) -> None:
        await self._api.run(gcode.set_targets(dict.fromkeys(saved.targets, 0.0)))

    async def heat(self, saved: SavedState) -> None:
        await self._api.run(gcode.set_targets(saved.targets))

    async def move_back(self, saved: SavedState) -> None:
        await self._move(gcode.unpark(saved.retract_mm, saved.lift_mm))

    async def _press(self, button: str, timeout_s: float | None = None) -> bool:
        """Order it; False where it is still under way after the timeout."""
        is_done = await self._api.order(f"printer.print.{button}", timeout_s=timeout_s)
        await self._current_session().refresh()
        return is_done

    async def _move(self, script: str) -> None:
        """A script ends at the line that Klipper refuses."""
        try:
            await self._api.run(script)
        except PrinterRefused:
            await self._api.run(gcode.RESTORE)
            raise


def targets_of(known: KnownState) -> dict[str, float]:
    """Return the targets of the active hotend and the bed, where they are on."""
    heaters = (active_extruder(known), BED)
    found = {heater: loose.number(obj(known, heater), "target") for heater in heaters if heater}
    return {heater: target for heater, target in found.items() if target is not None and target > 0}


def print_report(known: KnownState) -> PrintReport:
    """The print as it is now."""
    state = state_of(known)
    return PrintReport(
        state=state,
        is_paused=state is State.PAUSED,
        path=print_path(known),
        progress=PrintProgress(
            duration_s=loose.number(obj(known, "print_stats"), "total_duration"),
            began_s=known.began_s,
            position=positions(loose.number(obj(known, "virtual_sdcard"), "file_position")),
        ),
    )
