"""What was taken from a print is given back, at the second try where the first one fails."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from printreach.printers.duet import gcode
from printreach.printers.duet.known_state import KnownState
from printreach.printers.duet.live_view import LiveView
from printreach.printers.duet.pausing import PauseController
from printreach.printers.duet.smart_pause import SavedState, restore_commands, saved_state_store
from printreach.printers.port import PrinterRefused, failed
from tests.fakes.loop import on_a_loop

SAVED = SavedState(
    path="0:/gcodes/a.gcode", tools={0: "active"}, bed_c=60.0, lift_mm=4, retract_mm=3
)


class BusyWatch:
    """A board that is paused, and has no room for the first order."""

    def __init__(self) -> None:
        self.orders: list[list[str]] = []

    async def wait_until(self, _is_so: Callable[[KnownState], bool], _seconds: float) -> bool:
        return True

    async def order(self, lines: list[str]) -> None:
        self.orders.append(lines)
        if len(self.orders) == 1:
            raise failed("The board has no room for another order.")


@on_a_loop
async def test_a_resume_that_was_refused_gives_the_heat_back_when_it_is_tried_again(
    tmp_path: Path,
) -> None:
    saved_state_store(tmp_path).save(SAVED)
    live_view = BusyWatch()
    pausing = PauseController(cast("LiveView", live_view), saved_state_store(tmp_path))

    with pytest.raises(PrinterRefused, match="no room"):
        await pausing.resume()
    await pausing.resume()

    assert live_view.orders[1] == [*restore_commands(SAVED), *gcode.RESUME]
    assert saved_state_store(tmp_path).load() is None
