"""What was taken from a print is given back, at the second try where the first one fails."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from printreach.printers.duet import gcode
from printreach.printers.duet.heard import Heard
from printreach.printers.duet.pausing import Pausing
from printreach.printers.duet.smart_pause import Rest, commands_to_wake, rest_store
from printreach.printers.duet.watch import Watch
from printreach.printers.port import PrinterRefused, failed
from tests.fakes.loop import on_a_loop

REST = Rest(path="0:/gcodes/a.gcode", tools={0: "active"}, bed_c=60.0, lift_mm=4, retract_mm=3)


class BusyWatch:
    """A board that is paused, and has no room for the first order."""

    def __init__(self) -> None:
        self.orders: list[list[str]] = []

    async def until(self, _is_so: Callable[[Heard], bool], _seconds: float) -> bool:
        return True

    async def order(self, lines: list[str]) -> None:
        self.orders.append(lines)
        if len(self.orders) == 1:
            raise failed("The board has no room for another order.")


@on_a_loop
async def test_a_resume_that_was_refused_gives_the_heat_back_when_it_is_tried_again(
    tmp_path: Path,
) -> None:
    rest_store(tmp_path).save(REST)
    watch = BusyWatch()
    pausing = Pausing(cast("Watch", watch), rest_store(tmp_path))

    with pytest.raises(PrinterRefused, match="no room"):
        await pausing.resume()
    await pausing.resume()

    assert watch.orders[1] == [*commands_to_wake(REST), *gcode.RESUME]
    assert rest_store(tmp_path).load() is None
