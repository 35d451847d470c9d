"""The slicer's estimates in a file's details and in a print's status, on the fake."""

import pytest

from printreach.contract.status import State
from tests.printers.asking import Json
from tests.printers.bambu.slices import gcode, project
from tests.printers.bench import Bench, on_the_bench

pytestmark = [pytest.mark.peer, pytest.mark.slow]

NAME = "twice as nice.gcode.3mf"


async def estimates(bench: Bench) -> Json | None:
    """CurrentPrint, once it tells of the filament."""
    reported: Json = (await bench.job())["CurrentPrint"]
    return reported if reported["EstTotalFilUsedMm"] else None


class TestEstimates:
    @pytest.mark.parametrize("name", [NAME, "plain.gcode"])
    @on_the_bench
    async def test_details_tell_what_the_slicer_wrote(self, bench: Bench, name: str) -> None:
        data = (
            project(gcode(), filler=1 << 20)
            if name.endswith(".3mf")
            else gcode() + b"G1 X1\n" * 9999
        )
        path = await bench.upload(name, data)
        reported = (await bench.calls.get("files/details", path=path)).result
        again = (await bench.calls.get("files/details", path=path)).result

        assert (reported["EstPrintTimeSec"], reported["LayerCount"]) == (5544, 35)
        assert (reported["EstFilamentUsedMm"], reported["EstFilamentWeightMg"]) == (6232, 19040)
        assert (reported["FilamentType"], reported["NozzleDiameterMm"]) == ("PLA", 0.4)
        assert (reported["Slicer"], reported["SlicerVersion"]) == ("BambuStudio", "02.01.01.52")
        assert reported["SizeBytes"] == len(data)
        assert again == reported

    @on_the_bench
    async def test_a_file_replaced_by_another_is_read_anew(self, bench: Bench) -> None:
        await bench.upload("a.gcode", gcode())
        path = await bench.upload("a.gcode", b"; total layer number: 7\nG28\n")
        assert (await bench.calls.get("files/details", path=path)).result["LayerCount"] == 7

    @pytest.mark.parametrize("folder", ["", "parts/for test/"])
    @on_the_bench
    async def test_a_print_tells_its_filament_while_it_runs_and_when_it_is_over(
        self, bench: Bench, folder: str
    ) -> None:
        path = await bench.upload(folder + NAME, project(gcode()))
        assert (await bench.calls.post("start", {"Path": path})).status == 200
        await bench.until(State.PRINTING)
        running = await bench.until_true("the estimates", lambda: estimates(bench))
        await bench.calls.post("cancel")
        over = (await bench.until(State.CANCELLED))["CurrentPrint"]

        for reported in (running, over):
            assert (reported["EstTotalFilUsedMm"], reported["EstTotalFilWeightMg"]) == (6232, 19040)

    @on_the_bench
    async def test_a_print_of_an_unknown_file_tells_nothing_of_it(self, bench: Bench) -> None:
        await bench.start_long()
        reported = (await bench.job())["CurrentPrint"]

        assert reported["EstTotalFilUsedMm"] == 0
        assert "EstTotalFilWeightMg" not in reported
