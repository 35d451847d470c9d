"""Contract: heaters, movements and lights; 788 for what the printer lacks."""

from functools import partial

import pytest

from printreach.contract.status import Feature, State
from tests.printers.asking import Json, Reply
from tests.printers.bench import Bench, on_the_bench

OK, BAD_ARGUMENTS, NOT_CONNECTED, WRONG_STATE, NOT_SUPPORTED = 200, 751, 785, 786, 788
TARGETS = {
    "BedC": ("BedTarget", 35.0),
    "ToolC": ("HotendTarget", 40.0),
    "ChamberC": ("ChamberTarget", 30.0),
}
MOVEMENTS: list[tuple[Feature, str, Json | None]] = [
    (Feature.AXIS_MOVEMENT, "move-axis", {"Axis": "X", "DistanceMm": 10}),
    (Feature.HOMING, "home", None),
    (Feature.EXTRUSION, "extrude", {"Extruder": 0, "DistanceMm": 2}),
]
ADJUSTMENTS = {
    "SpeedPercent": (Feature.SPEED_CONTROL, 120, "SpeedPercent", 120),
    "FlowPercent": (Feature.FLOW_CONTROL, 95, "FlowPercent", 95),
    "FanPercent": (Feature.FAN_CONTROL, 40, "FanPercent", 40),
    "SpeedLevel": (Feature.SPEED_LEVELS, "sport", "SpeedLevel", "sport"),
    "ZOffsetByMm": (Feature.Z_OFFSET_CONTROL, -0.05, "ZOffsetMm", -0.05),
}
LAST_EXTRUDER = 15


class ControlContract:
    @pytest.mark.parametrize("argument", sorted(TARGETS))
    @on_the_bench
    async def test_a_heater_takes_its_target_or_is_not_there(
        self, bench: Bench, argument: str
    ) -> None:
        field, target_c = TARGETS[argument]
        reply = await bench.calls.post("set-temp", {argument: target_c})

        if argument not in bench.rig.heaters or not _has(bench, Feature.TEMPERATURE_CONTROL):
            assert reply.status == NOT_SUPPORTED
            return
        assert reply.result == {}

        async def is_set() -> bool:
            return bool((await bench.temps()).get(field) == target_c)

        await bench.until_true(f"{field} {target_c}", is_set)
        assert (await bench.calls.post("set-temp", {argument: 0})).status == 200

    @on_the_bench
    async def test_targets_out_of_range_are_refused_before_the_printer(self, bench: Bench) -> None:
        for body in ({"BedC": 76}, {"ToolC": 261}, {"ToolC": -1}, {"ToolC": "hot"}, {}):
            assert (await bench.calls.post("set-temp", body)).status == BAD_ARGUMENTS

    @on_the_bench
    async def test_movements_are_made_or_not_supported(self, bench: Bench) -> None:
        for feature, command, body in MOVEMENTS:
            if feature is Feature.EXTRUSION and _has(bench, feature):
                await bench.rig.warm_up_for_extrusion(bench.printer)
            reply = await bench.calls.post(command, body)
            expected = 200 if _has(bench, feature) else NOT_SUPPORTED
            assert (command, reply.status) == (command, expected), reply.envelope

    @on_the_bench
    async def test_one_axis_is_homed_alone_or_that_is_not_supported(self, bench: Bench) -> None:
        reply = await bench.calls.post("home", {"Axes": ["X"]})
        assert reply.status == (200 if _has(bench, Feature.AXIS_HOMING) else NOT_SUPPORTED)

        wrong: list[Json] = [{"Axes": []}, {"Axes": ["W"]}, {"Axes": "X"}]
        for body in wrong:
            assert (await bench.calls.post("home", body)).status == BAD_ARGUMENTS

    @pytest.mark.parametrize("argument", sorted(ADJUSTMENTS))
    @on_the_bench
    async def test_an_adjustment_is_made_and_told_or_not_supported(
        self, bench: Bench, argument: str
    ) -> None:
        feature, value, field, shown = ADJUSTMENTS[argument]
        reply = await bench.calls.post("adjust", {argument: value})

        if not _has(bench, feature):
            assert reply.status == NOT_SUPPORTED
            return
        assert reply.result == {}
        if not bench.rig.tells_adjustments:
            assert field not in (await bench.job()).get("Adjustments", {})
            return

        async def is_shown() -> bool:
            return bool((await bench.job())["Adjustments"].get(field) == shown)

        await bench.until_true(f"{field} {shown}", is_shown)

    @on_the_bench
    async def test_adjustments_out_of_range_are_refused_with_value_and_range(
        self, bench: Bench
    ) -> None:
        for body, words in (
            ({"SpeedPercent": 301}, "SpeedPercent must be 10 to 300, not 301."),
            ({"FlowPercent": 49}, "FlowPercent must be 50 to 150, not 49."),
            ({"FanPercent": -1}, "FanPercent must be 0 to 100, not -1."),
            ({"ZOffsetByMm": 1.01}, "ZOffsetByMm must be -1 to 1, not 1.01."),
            ({"SpeedPercent": "fast"}, "SpeedPercent: expected a whole number, got a text."),
        ):
            reply = await bench.calls.post("adjust", body)
            assert (reply.status, reply.error) == (BAD_ARGUMENTS, words)
        assert (await bench.calls.post("adjust", {})).status == BAD_ARGUMENTS

    @on_the_bench
    async def test_an_emergency_stop_holds_until_the_firmware_is_restarted(
        self, bench: Bench
    ) -> None:
        if not _has(bench, Feature.EMERGENCY_STOP):
            assert (await bench.calls.post("emergency-stop")).status == NOT_SUPPORTED
            assert (await bench.calls.post("restart-firmware")).status == NOT_SUPPORTED
            return
        await bench.start_long()
        assert (await bench.calls.post("restart-firmware")).status == WRONG_STATE
        assert (await bench.calls.post("emergency-stop")).result == {}

        async def is_stopped() -> bool:
            return _may_only_be_restarted(await bench.calls.get("status"))

        await bench.until_true("the stop", is_stopped)
        assert (await bench.calls.post("home")).status != OK
        assert (await bench.calls.post("restart-firmware")).result == {}
        await bench.until_true("an idle printer", partial(_is_idle, bench))

    @on_the_bench
    async def test_an_extruder_that_is_not_there_is_a_wrong_argument(self, bench: Bench) -> None:
        order = {"Extruder": LAST_EXTRUDER, "DistanceMm": 1}
        reply = await bench.calls.post("extrude", order)

        if not _has(bench, Feature.EXTRUSION):
            assert reply.status == NOT_SUPPORTED
            return
        assert reply.status == BAD_ARGUMENTS
        assert reply.error.startswith("Extruder: there is no extruder 15; this printer has ")

    @pytest.mark.parametrize("heater", ["ToolC", "BedC"])
    @on_the_bench
    async def test_a_tool_number_that_is_not_there_is_a_wrong_argument(
        self, bench: Bench, heater: str
    ) -> None:
        before = await bench.temps()
        reply = await bench.calls.post("set-temp", {heater: 30, "ToolNumber": LAST_EXTRUDER})

        if not _has(bench, Feature.TEMPERATURE_CONTROL):
            assert reply.status == NOT_SUPPORTED
            return
        assert reply.status == BAD_ARGUMENTS
        assert reply.error.startswith("ToolNumber: there is no extruder 15; this printer has ")
        after = await bench.temps()
        assert after["BedTarget"] == before["BedTarget"]

    @on_the_bench
    async def test_a_light_goes_on_and_off_or_is_not_supported(self, bench: Bench) -> None:
        if not bench.rig.can_light:
            reply = await bench.calls.post("set-light", {"Name": "light", "On": True})
            assert reply.status == NOT_SUPPORTED
            return
        name = (await bench.job())["Lights"][0]["Name"]
        for on in (True, False, True):
            reply = await bench.calls.post("set-light", {"Name": name, "On": on})
            assert reply.result == {}
            await bench.until_true(f"{name} {on}", partial(_is_lit, bench, name, on))

    @on_the_bench
    async def test_a_light_that_is_not_there_is_a_wrong_argument(self, bench: Bench) -> None:
        reply = await bench.calls.post("set-light", {"Name": "no such light", "On": True})

        assert reply.status == (BAD_ARGUMENTS if bench.rig.can_light else NOT_SUPPORTED)


def _may_only_be_restarted(reply: Reply) -> bool:
    """Whether the status is of a printer that failed, or is lost but for a restart."""
    if reply.status != OK:
        told = reply.envelope.get("Features", 0)
        return (reply.status, told) == (NOT_CONNECTED, Feature.FIRMWARE_RESTART)
    is_faulty = reply.result["JobStatus"]["State"] == State.ERROR
    return is_faulty and Feature.FIRMWARE_RESTART in Feature(reply.result["Features"])


async def _is_idle(bench: Bench) -> bool:
    reply = await bench.calls.get("status")
    return reply.status == OK and reply.result["JobStatus"]["State"] == State.IDLE


def _has(bench: Bench, feature: Feature) -> bool:
    return feature in bench.rig.features


async def _is_lit(bench: Bench, name: str, on: bool) -> bool:
    lights = (await bench.job())["Lights"]
    return any(light == {"Name": name, "On": on} for light in lights)
