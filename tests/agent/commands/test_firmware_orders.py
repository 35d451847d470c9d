"""Adjustments, the emergency stop, and the restart of a firmware that has stopped."""

from dataclasses import replace

import pytest

from printreach.contract.commands import Adjust, Axis, CommandStatus, Home
from printreach.contract.status import NO_FEATURES, Feature, State
from printreach.printers.port import Trouble
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop
from tests.fakes.printer import ScriptedPrinter
from tests.printers.asking import Json, command_calls

STOPPED = Trouble(
    status=CommandStatus.NOT_CONNECTED, sentence="Klipper has shut down.", is_fault=True
)
PARTS: list[tuple[Json, Feature]] = [
    ({"SpeedPercent": 90}, Feature.SPEED_CONTROL),
    ({"FlowPercent": 90}, Feature.FLOW_CONTROL),
    ({"FanPercent": 90}, Feature.FAN_CONTROL),
    ({"ZOffsetByMm": 0.05}, Feature.Z_OFFSET_CONTROL),
]


def stopped_printer(features: Feature) -> ScriptedPrinter:
    printer = ScriptedPrinter()
    printer.view = replace(printer.view, trouble=STOPPED, features=features)
    return printer


@pytest.mark.parametrize(("body", "feature"), PARTS)
def test_an_adjustment_needs_the_feature_of_each_of_its_parts(body: Json, feature: Feature) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer = ScriptedPrinter()
        printer.lack(feature)
        async with command_calls(printer) as calls:
            every = {name: value for part, _ in PARTS for name, value in part.items()}
            assert (await calls.post("adjust", every)).status == CommandStatus.NOT_SUPPORTED
            assert (await calls.post("adjust", body)).status == CommandStatus.NOT_SUPPORTED
            others = {name: value for name, value in every.items() if name not in body}
            assert (await calls.post("adjust", others)).status == CommandStatus.OK
            assert len(printer.done) == 1

    run()


@on_a_hasty_loop
async def test_a_running_print_can_be_adjusted() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    async with command_calls(printer) as calls:
        assert (await calls.post("adjust", {"SpeedPercent": 80, "FanPercent": 0})).result == {}

    assert printer.done == [Adjust(speed_percent=80, fan_percent=0)]


@on_a_hasty_loop
async def test_home_takes_the_axes_that_are_named_in_any_order_and_all_without_a_body() -> None:
    printer = ScriptedPrinter()
    async with command_calls(printer) as calls:
        assert (await calls.post("home", {"Axes": ["Z", "X", "Z"]})).result == {}
        printer.lack(Feature.AXIS_HOMING)
        assert (await calls.post("home", {"Axes": ["Y"]})).status == CommandStatus.NOT_SUPPORTED
        assert (await calls.post("home", {"Axes": ["Z", "Y", "X"]})).result == {}
        assert (await calls.post("home")).result == {}

    first, *others = printer.done
    assert isinstance(first, Home)
    assert first.homed == [Axis.X, Axis.Z]
    assert len(others) == 2


@pytest.mark.parametrize("state", list(State))
def test_an_emergency_stop_has_its_place_in_every_state(state: State) -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer = ScriptedPrinter()
        printer.be(state)
        async with command_calls(printer) as calls:
            assert (await calls.post("emergency-stop")).result == {}
        assert printer.done == ["emergency stop"]

    run()


def test_an_emergency_stop_waits_for_no_order_before_it() -> None:
    @on_a_hasty_loop
    async def run() -> None:
        printer = ScriptedPrinter()
        async with command_calls(printer) as calls:
            assert (await calls.post("start", {"Path": "gcode/a.gcode"})).status == CommandStatus.OK
            now = hasty_loop().time
            asked_at = now()
            assert (await calls.post("emergency-stop")).result == {}
            assert now() - asked_at < 1.0  # the view doesn't show the start yet

    run()


@on_a_hasty_loop
async def test_a_printer_that_only_a_restart_brings_back_says_so_and_takes_it() -> None:
    printer = stopped_printer(Feature.FIRMWARE_RESTART)
    async with command_calls(printer) as calls:
        refused = await calls.get("status")
        assert refused.status == CommandStatus.NOT_CONNECTED
        assert refused.envelope["Features"] == Feature.FIRMWARE_RESTART
        assert (await calls.post("emergency-stop")).status == CommandStatus.NOT_CONNECTED
        assert (await calls.post("restart-firmware")).result == {}

    assert printer.done == ["restart firmware"]


@on_a_hasty_loop
async def test_a_printer_that_is_lost_cannot_be_restarted() -> None:
    printer = stopped_printer(NO_FEATURES)
    async with command_calls(printer) as calls:
        assert "Features" not in (await calls.get("status")).envelope
        assert (await calls.post("restart-firmware")).status == CommandStatus.NOT_CONNECTED

    assert printer.done == []


@on_a_hasty_loop
async def test_no_print_is_ended_by_a_restart_of_the_firmware() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PAUSED)
    async with command_calls(printer) as calls:
        assert (await calls.post("restart-firmware")).status == CommandStatus.INVALID_STATE

    assert printer.done == []


@on_a_hasty_loop
async def test_an_adjustment_in_part_impossible_names_that_part_and_changes_nothing() -> None:
    printer = ScriptedPrinter()
    printer.be(State.PRINTING)
    printer.lack(Feature.FAN_CONTROL)
    async with command_calls(printer) as calls:
        reply = await calls.post("adjust", {"SpeedPercent": 120, "FanPercent": 50})

    assert reply.error == "This printer can't change FanPercent. Nothing was changed."
    assert printer.done == []
