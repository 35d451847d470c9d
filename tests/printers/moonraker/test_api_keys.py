"""The API key of a real Moonraker."""

from pathlib import Path

import pytest

from printreach.printers.port import SupportsApiKeys
from tests.printers.moonraker.peers import bench_with, on_moonraker
from tests.printers.moonraker.rig import MoonrakerRig

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@on_moonraker
async def test_an_app_gets_the_key_that_there_is_and_no_other_loses_it(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        assert isinstance(bench.printer, SupportsApiKeys)
        key = await bench.printer.make_api_key("Pocket Prints")
        again = await bench.printer.make_api_key("Another App")

    assert key == again == rig.api_key == rig.get("/access/api_key")
