"""The steps of a smart pause: pause, lift while it is hot, cool."""

from pathlib import Path

import pytest

from printreach.contract.commands import Pause
from printreach.printers.port import PrinterRefused, failed
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.printers.resting_print import GOING, begun, is_saved, settle

SMART = Pause(smart_pause=True, z_lift_mm=10)


@pytest.mark.parametrize("pauses_slowly", [True, False])
def test_a_smart_pause_lifts_and_then_cools_the_hotend(tmp_path: Path, pauses_slowly: bool) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        platform, pauses = begun(tmp_path)
        platform.pauses_slowly = pauses_slowly
        platform.print = GOING
        await pauses.pause(SMART)
        await settle()
        assert platform.done == ["pause", "lift 10", "cool and hotend"]

        await pauses.resume()
        assert platform.done[3:] == ["heat", "lower 10", "resume"]

    body()


@on_a_hasty_loop
async def test_a_nozzle_whose_lift_was_refused_is_not_lowered(tmp_path: Path) -> None:
    platform, pauses = begun(tmp_path)
    platform.print = GOING
    platform.refusal = {"lift 10": failed("No.")}
    with pytest.raises(PrinterRefused, match="paused, but its nozzle not moved"):
        await pauses.pause(SMART)
    assert platform.done == ["pause", "lift 10", "cool and hotend"]

    await pauses.resume()
    assert platform.done[3:] == ["heat", "resume"]


@on_a_hasty_loop
async def test_a_print_that_never_comes_to_rest_keeps_its_heat(tmp_path: Path) -> None:
    platform, pauses = begun(tmp_path)
    platform.print, platform.obeys = GOING, False
    with pytest.raises(PrinterRefused, match="not at rest yet"):
        await pauses.pause(SMART)

    assert platform.done == ["pause"]
    assert not is_saved(tmp_path)
