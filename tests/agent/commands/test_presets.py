"""The presets that a printer's own software keeps, as the command API tells them."""

from collections.abc import Sequence

from printreach.agent.owner_limits import OwnerLimits
from printreach.contract.temperatures import Preset
from printreach.printers.port import NOT_YET, View
from printreach.rules.printers.commands import CommandLimits
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import command_calls


class PrinterWithPresets(ScriptedPrinter):
    """printers.port.SupportsPresets."""

    async def presets(self) -> Sequence[Preset]:
        return [Preset(name="PLA", tool_c=205.0), Preset(name="PC", tool_c=255.0, bed_c=70.0)]


@on_a_hasty_loop
async def test_presets_are_told_within_the_limits_of_the_agents_owner() -> None:
    limits = OwnerLimits(commands=CommandLimits(hotend_c=240))
    async with command_calls(PrinterWithPresets(), limits=limits) as calls:
        told = await calls.get("presets")

    assert told.result == {"Presets": [{"Name": "PLA", "ToolC": 205.0}]}


@on_a_hasty_loop
async def test_a_printer_that_keeps_none_has_an_empty_list() -> None:
    async with command_calls(ScriptedPrinter()) as calls:
        assert (await calls.get("presets")).result == {"Presets": []}


@on_a_hasty_loop
async def test_a_printer_that_is_away_tells_no_presets() -> None:
    printer = PrinterWithPresets()
    printer.view = View(trouble=NOT_YET)
    async with command_calls(printer) as calls:
        assert (await calls.get("presets")).status == 785
