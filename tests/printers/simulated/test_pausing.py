"""What a smart pause takes from the simulated printer, and a resume gives back."""

from pathlib import Path

import pytest

from printreach.contract.status import State
from printreach.printers.simulated.program import HeaterName
from tests.printers.bench import bench_of
from tests.printers.print_file import PrintFile
from tests.printers.simulated.contract_rig import SimulatedRig
from tests.printers.simulated.prints import errors

SMART = {"SmartPause": True, "DisableBed": True, "ZLiftMm": 5, "RetractFilamentMm": 3}
LIFT_OF_EVERY_PAUSE_MM = 10


def extruding(target_c: int) -> PrintFile:
    lines = b"G1 X100 E1 F600\nG1 X0 E1\n" * 20
    return PrintFile("feeds.gcode", b"G28\nM83\nM104 S%d\nM140 S40\n" % target_c + lines)


@pytest.mark.slow
@pytest.mark.parametrize(("target_c", "retracted_mm"), [(200, 3), (100, 0)], ids=["hot", "cold"])
def test_a_smart_pause_lifts_and_retracts_what_is_hot(
    tmp_path: Path, target_c: int, retracted_mm: int
) -> None:
    rig = SimulatedRig(tmp_path / "printer")

    async def body() -> None:
        async with bench_of(rig) as bench:
            machine = rig.machine
            await rig.run_at(2)
            machine.heaters[HeaterName.HOTEND].actual_c = target_c
            await bench.start(extruding(target_c))
            await bench.until(State.PRINTING)
            assert (await bench.calls.post("pause", SMART)).status == 200

            async def is_lifted() -> bool:
                return machine.position.z == pytest.approx(LIFT_OF_EVERY_PAUSE_MM + 5)

            await bench.until_true("the lift", is_lifted)
            rest_mm = machine.filament_mm
            assert machine.heaters[HeaterName.HOTEND].target_c == 0
            assert machine.heaters[HeaterName.BED].target_c == 0

            await rig.run_at(100)
            assert (await bench.calls.post("resume")).status == 200
            await bench.until(State.COMPLETE)
            assert machine.heaters[HeaterName.BED].target_c == 40
            if target_c == 200:
                assert machine.filament_mm == pytest.approx(40, abs=0.01)
                assert rest_mm + retracted_mm < 40
                assert errors(rig.printer) == []

    rig.run(body())
