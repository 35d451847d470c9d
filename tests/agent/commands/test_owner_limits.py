"""The limits that an agent's owner has set hold for every order of the service."""

import pytest

from printreach.agent.owner_limits import OwnerLimits
from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.contract.status import State
from printreach.rules.printers.commands import CommandLimits
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import Json, command_calls

LOW = CommandLimits(hotend_c=230, bed_c=60, chamber_c=0, move_mm=10, extrude_mm=2.5)


@pytest.mark.parametrize(
    ("command", "most", "beyond"),
    [
        ("set-temp", {"ToolC": 230}, {"ToolC": 230.1}),
        ("set-temp", {"BedC": 60}, {"BedC": 61}),
        ("set-temp", {"ChamberC": 0}, {"ChamberC": 1}),
        ("set-temp", {"ToolC": 230, "BedC": 60}, {"ToolC": 230, "BedC": 75}),
        ("move-axis", {"Axis": "X", "DistanceMm": -10}, {"Axis": "X", "DistanceMm": -11}),
        ("extrude", {"Extruder": 0, "DistanceMm": 2.5}, {"Extruder": 0, "DistanceMm": 3}),
    ],
)
def test_no_order_exceeds_the_limits_of_the_agents_owner(
    command: str, most: Json, beyond: Json
) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        printer = ScriptedPrinter()
        async with command_calls(printer, limits=OwnerLimits(commands=LOW)) as calls:
            assert (await calls.post(command, most)).status == 200
            carried_out = list(printer.done)
            refused = await calls.post(command, beyond)

            assert refused.status == 751
            assert "owner" in refused.error
            assert printer.done == carried_out

    body()


@on_a_hasty_loop
async def test_a_step_of_the_z_offset_is_no_longer_than_a_move_may_be() -> None:
    limits, printer = OwnerLimits(commands=CommandLimits(move_mm=0.5)), ScriptedPrinter()
    async with command_calls(printer, limits=limits) as calls:
        assert (await calls.post("adjust", {"ZOffsetByMm": -0.5})).status == 200
        refused = await calls.post("adjust", {"ZOffsetByMm": -0.6})

    assert refused.status == 751
    assert refused.error == (
        "ZOffsetByMm must be -0.5 to 0.5, as the owner of this printer's agent has set it,"
        " not -0.6."
    )
    assert len(printer.done) == 1


@pytest.mark.parametrize("beyond", [{"ZLiftMm": 11}, {"RetractFilamentMm": 3}])
def test_nor_does_a_smart_pause(beyond: Json) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        printer = ScriptedPrinter()
        printer.be(State.PRINTING)
        async with command_calls(printer, limits=OwnerLimits(commands=LOW)) as calls:
            refused = await calls.post("pause", {"SmartPause": True, **beyond})

            assert refused.status == 751
            assert printer.done == []

    body()


@pytest.mark.parametrize("name", ["ZLiftMm", "RetractFilamentMm"])
def test_a_smart_pause_lifts_and_retracts_fifty_millimetres_at_most(name: str) -> None:
    @on_a_hasty_loop
    async def body() -> None:
        printer = ScriptedPrinter()
        printer.be(State.PRINTING)
        async with command_calls(printer) as calls:
            refused = await calls.post("pause", {"SmartPause": True, name: 51})
            assert (refused.status, refused.error) == (751, f"{name} must be 0 to 50.")
            assert printer.done == []
            assert (await calls.post("pause", {"SmartPause": True, name: 50})).status == 200

    body()


@on_a_hasty_loop
async def test_a_status_names_no_orders_that_the_agent_would_refuse() -> None:
    limits = OwnerLimits(allowed=ALL_PERMISSIONS - {Permission.CONTROL})
    async with command_calls(ScriptedPrinter(), limits=limits) as calls:
        assert (await calls.get("status")).result["Features"] == 0
