"""The state of a paused print is restored, at the second try where the first one fails."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from printreach.printers.duet import gcode
from printreach.printers.duet.known_state import KnownState, with_model
from printreach.printers.duet.live_view import LiveView
from printreach.printers.duet.pause_plan import DuetPausePlan, heat_commands, pause_moves
from printreach.printers.duet.translate import view_of
from printreach.printers.pause_plan import SavedStateFile
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.print_progress import PrintProgress, SavedState
from printreach.printers.smart_pauses import SmartPauses
from printreach.rules.printers.commands import CommandLimits
from tests.fakes.loop import on_a_loop

SAVED = SavedState(
    path="0:/gcodes/a.gcode",
    targets={"bed_c": 60.0},
    details={"tools": {"0": "active"}},
    lift_mm=4,
    retract_mm=3,
    progress=PrintProgress(duration_s=60.0, began_s=40.0, position=(4711.0,)),
)
HOT = {"state": "active", "active": 200.0, "standby": 160.0, "current": 199.0}
BED = {"state": "active", "active": 60.0, "standby": 0.0, "current": 59.5}
MODEL = {
    "state": {"status": "paused", "upTime": 110},
    "job": {
        "file": {"fileName": "0:/gcodes/a.gcode"},
        "filePosition": 4711,
        "duration": 61,
        "pauseDuration": 9,
    },
    "heat": {"bedHeaters": [0], "heaters": [BED, HOT]},
    "tools": [{"number": 0, "heaters": [1], "state": "active"}],
}


class BusyWatch:
    """A board that is paused and hot. refuses: how many orders it has no room for."""

    known = with_model(KnownState(), MODEL)
    view = view_of(known, "The Duet")

    def __init__(self, refuses: int = 0) -> None:
        self.refuses = refuses
        self.orders: list[list[str]] = []

    async def wait_until(self, _is_so: Callable[[], bool], _seconds: float) -> bool:
        return True

    async def order(self, lines: list[str]) -> None:
        self.orders.append(lines)
        if len(self.orders) <= self.refuses:
            raise failed("The board has no room for another order.")


def file_in(folder: Path) -> SavedStateFile:
    return SavedStateFile(folder / DuetPausePlan.file, DuetPausePlan.shape)


@on_a_loop
async def test_a_resume_that_was_refused_gives_the_heat_back_when_it_is_tried_again(
    tmp_path: Path,
) -> None:
    file_in(tmp_path).remember(SAVED)
    live_view = BusyWatch(refuses=1)
    pausing = SmartPauses(tmp_path, DuetPausePlan(cast("LiveView", live_view)))

    with pytest.raises(PrinterRefused, match="no room"):
        await pausing.resume()
    await pausing.resume()

    heat, moves = heat_commands(SAVED, on=True), pause_moves(0, 3)
    assert live_view.orders[1:] == [heat, moves, gcode.RESUME]
    assert file_in(tmp_path).saved is None


@on_a_loop
async def test_temperatures_that_the_board_keeps_are_within_the_limits_of_the_owner(
    tmp_path: Path,
) -> None:
    file_in(tmp_path).remember(SAVED)
    live_view = BusyWatch()
    limits = CommandLimits(hotend_c=190.0)
    pausing = SmartPauses(tmp_path, DuetPausePlan(cast("LiveView", live_view), limits))

    with pytest.raises(PrinterRefused, match="ToolC must be 0 to 190"):
        await pausing.resume()

    assert live_view.orders == []
