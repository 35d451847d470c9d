"""Application Keys of a real OctoPrint."""

from pathlib import Path

import pytest

from printreach.printers.port import PrinterRefused, SupportsApiKeys
from tests.printers.bench import adapter_at, machine
from tests.printers.octoprint.rig import OctoPrintRig
from tests.printers.octoprint.test_octoprint import adapter, on_octoprint

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@on_octoprint
async def test_an_app_gets_a_key_that_works_and_keeps_it(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        assert isinstance(bench.printer, SupportsApiKeys)
        key = await bench.printer.make_api_key("Pocket Prints")
        again = await bench.printer.make_api_key("Pocket Prints")
        other = await bench.printer.make_api_key("Größe 1/2")

    assert rig.ask_raw("GET", "version", [("X-Api-Key", key)], b"").status == 200
    assert (again, other != key) == (key, True)


@on_octoprint
async def test_an_agent_without_rights_gets_no_key(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open():
        setup = rig.with_wrong_credentials(machine(rig, tmp_path))
        assert setup is not None
        async with adapter_at(rig, setup) as bench:
            assert isinstance(bench.printer, SupportsApiKeys)
            with pytest.raises(PrinterRefused):
                await bench.printer.make_api_key("Pocket Prints")
