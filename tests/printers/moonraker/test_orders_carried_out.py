"""The commands that Klipper gets through a real Moonraker."""

import asyncio
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.moonraker import api as api_module
from printreach.printers.moonraker.pause_plan import MoonrakerPausePlan
from tests.printers.bench import Bench
from tests.printers.moonraker.peers import (
    adapter,
    bench_with,
    on_moonraker,
    smart_pause,
    until_hotend_is,
)
from tests.printers.moonraker.rig import EXTRA, WARM_C, MoonrakerRig
from tests.printers.print_file import PrintFile
from tests.rigs.klipper_objects import HEATER

pytestmark = [pytest.mark.peer, pytest.mark.slow]

REST = [
    "SAVE_GCODE_STATE NAME=printreach\nG91\nM83\nG1 E-1 F2100\nG1 Z2 F600\n"
    "RESTORE_GCODE_STATE NAME=printreach",
    "SET_HEATER_TEMPERATURE HEATER=extruder TARGET=0",
]
WAKE = [
    "SET_HEATER_TEMPERATURE HEATER=extruder TARGET=60",
    "SAVE_GCODE_STATE NAME=printreach\nG91\nM83\nG1 Z-2 F600\nG1 E1 F2100\n"
    "RESTORE_GCODE_STATE NAME=printreach",
    "RESUME",
]
UNHOMED_PRINT = PrintFile("purge.gcode", b"M83\nM104 S60\nM109 S60\n" + b"G1 E0.5 F600\n" * 400)
"""It moves filament alone, so it goes on where no axis is homed."""


def since_pause(rig: MoonrakerRig) -> list[str]:
    """Scripts that Klipper was given after the last pause."""
    scripts = rig.klippy.machine.scripts
    return scripts[len(scripts) - scripts[::-1].index("PAUSE") :]


# By hand.


@on_moonraker
async def test_a_refused_move_tells_klippers_words_and_leaves_no_mode_behind(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        rig.klippy.set("toolhead", homed_axes="")
        reply = await bench.calls.post("move-axis", {"Axis": "Z", "DistanceMm": 5})

    assert reply.status == CommandStatus.EXECUTION_FAILED
    assert reply.error == "Must home axis first: 0.000 0.000 5.000 [0.000]."
    assert rig.klippy.machine.objects["gcode_move"]["absolute_coordinates"]


@on_moonraker
async def test_cold_filament_is_refused_in_klippers_words(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        reply = await bench.calls.post("extrude", {"Extruder": 0, "DistanceMm": 5})

    assert (reply.status, reply.error) == (752, "Extrude below minimum temp.")


@on_moonraker
async def test_more_filament_than_the_printers_owner_allows_is_refused_and_none_pushed(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    warm = {"temperature": WARM_C, "target": WARM_C, "can_extrude": True}
    extra = {**EXTRA, "extruder": {**HEATER, **warm}, "extruder1": {**HEATER, **warm}}
    async with bench_with(rig, tmp_path, extra) as bench:
        refused = [
            await bench.calls.post("extrude", {"Extruder": number, "DistanceMm": 200})
            for number in (0, 1)
        ]

    assert [reply.status for reply in refused] == [752, 752]
    assert refused[0].error == "Extrude only move too long (200.000mm vs 50.000mm)."
    assert rig.klippy.machine.objects["toolhead"]["position"][3] == 0
    assert rig.klippy.machine.objects["toolhead"]["extruder"] == "extruder"


@on_moonraker
async def test_a_second_extruder_is_heated_and_used_by_its_number(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    warm = {"temperature": WARM_C, "target": WARM_C, "can_extrude": True}
    extra = {**EXTRA, "extruder1": {**HEATER, **warm}}
    async with bench_with(rig, tmp_path, extra) as bench:
        heated = await bench.calls.post("set-temp", {"ToolC": 60, "ToolNumber": 1})
        pushed = await bench.calls.post("extrude", {"Extruder": 1, "DistanceMm": 5})
        missing = await bench.calls.post("set-temp", {"ToolC": 60, "ToolNumber": 2})

    assert (heated.status, pushed.status, missing.status) == (200, 200, 751)
    assert missing.error == (
        "ToolNumber: there is no extruder 2; this printer has the extruders 0, 1."
    )
    assert "HEATER=extruder1 TARGET=60" in rig.klippy.machine.scripts[-2]
    assert "ACTIVATE_EXTRUDER EXTRUDER=extruder1" in rig.klippy.machine.scripts[-1]
    assert rig.klippy.machine.objects["toolhead"]["extruder"] == "extruder"


@on_moonraker
async def test_leds_and_sockets_are_switched_like_any_light(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        for name in ("case_leds", "cabinet_light"):
            reply = await bench.calls.post("set-light", {"Name": name, "On": True})
            assert reply.result == {}

        async def all_shine() -> bool:
            lights = {light["Name"]: light["On"] for light in (await bench.job())["Lights"]}
            return lights == {"case_light": False, "case_leds": True, "cabinet_light": True}

        await bench.until_true("light", all_shine)


@on_moonraker
async def test_what_takes_long_is_accepted_before_it_is_done(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api_module, "ACCEPTED_AFTER_S", 0.1)
        async with bench_with(rig, tmp_path) as bench:
            is_done = asyncio.Event()  # it is Klippy's loop that waits for it
            busy = asyncio.create_task(
                asyncio.to_thread(rig.klippy.do, lambda: rig.klippy.machine.be_busy(is_done))
            )
            await bench.until_true("a busy Klipper", lambda: _is_busy(rig))
            assert (await bench.calls.post("home")).result == {}
            assert not busy.done()
            rig.klippy.call(is_done.set)
            await busy
            await bench.until_true("the order", lambda: _was_given(rig, "G28"))


@on_moonraker
async def test_an_emergency_stop_waits_for_no_gcode_that_is_carried_out(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        is_done = asyncio.Event()  # it is Klippy's loop that waits for it
        busy = asyncio.create_task(
            asyncio.to_thread(rig.klippy.do, lambda: rig.klippy.machine.be_busy(is_done))
        )
        await bench.until_true("a busy Klipper", lambda: _is_busy(rig))
        assert (await bench.calls.post("emergency-stop")).result == {}
        refused = await bench.until_refused(CommandStatus.NOT_CONNECTED)
        assert not busy.done()
        rig.klippy.call(is_done.set)
        await busy

    assert "has shut down" in refused.error


# Prints.


@on_moonraker
async def test_an_order_shows_as_soon_as_it_is_answered(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        path = await bench.start_long()
        for command, states in (
            ("pause", {State.PAUSED}),
            ("resume", {State.PRINTING}),
            ("pause", {State.PAUSED}),
            ("cancel", {State.CANCELLED}),
        ):
            assert (await bench.calls.post(command)).result == {}
            assert (await bench.job())["State"] in states
        assert (await bench.calls.post("start", {"Path": path})).status == 200
        assert (await bench.job())["State"] in {State.WARMING_UP, State.PRINTING}


@on_moonraker
async def test_a_file_that_klipper_can_not_print_is_refused_in_its_words(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        path = await bench.upload("notes.txt", b"hello")
        reply = await bench.calls.post("start", {"Path": path})

    assert (reply.status, reply.error) == (752, "Unable to open file.")


@on_moonraker
async def test_moonraker_knows_no_storage_but_its_own(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        path = await bench.upload("a.gcode", b"G28\n")
        orders = [{"Path": path, "Storage": storage} for storage in ("usb", "local")]
        replies = [await bench.calls.post("start", order) for order in orders]

    assert [reply.status for reply in replies] == [751, 200]


# Smart pause.


@on_moonraker
async def test_klipper_gets_what_a_smart_pause_is_made_of(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await smart_pause(bench)
        assert since_pause(rig) == REST
        await until_hotend_is(bench, 0.0)

        assert (await bench.calls.post("resume")).result == {}
        assert (await bench.job())["State"] == State.RESUMING
        await bench.until(State.PRINTING)

        assert since_pause(rig) == [*REST, *WAKE]
        assert not (tmp_path / MoonrakerPausePlan.file).exists()


@on_moonraker
async def test_a_restart_of_the_agent_forgets_no_smart_pause(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with rig.open():
        async with adapter(rig, tmp_path) as bench:
            await smart_pause(bench)
            await until_hotend_is(bench, 0.0)
        async with adapter(rig, tmp_path) as bench:
            assert (await bench.calls.post("resume")).result == {}
            await bench.until(State.PRINTING)

    assert since_pause(rig) == [*REST, *WAKE]


@on_moonraker
async def test_a_smart_pause_ended_at_the_printer_gets_its_heat_back(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        rig.klippy.machine.cooling_c_per_s = 1.0  # or it would be too cold to go on at all
        await smart_pause(bench)
        await until_hotend_is(bench, 0.0)
        rig.klippy.do(lambda: rig.klippy.machine.run("RESUME"))

        await until_hotend_is(bench, WARM_C)
        assert not (tmp_path / MoonrakerPausePlan.file).exists()


@on_moonraker
async def test_a_cancelled_smart_pause_is_forgotten(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await smart_pause(bench)
        await until_hotend_is(bench, 0.0)
        assert (tmp_path / MoonrakerPausePlan.file).exists()
        assert (await bench.calls.post("cancel")).result == {}
        await bench.until(State.CANCELLED)

        assert not (tmp_path / MoonrakerPausePlan.file).exists()


@on_moonraker
async def test_a_print_that_gets_warm_again_can_be_cancelled(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await smart_pause(bench)
        await until_hotend_is(bench, 0.0)
        rig.klippy.set("extruder", temperature=-10_000.0)  # a minute away from any heat
        await bench.until_true("a very cold hotend", lambda: _is_freezing(bench))
        assert (await bench.calls.post("resume")).result == {}
        assert (await bench.calls.post("resume")).status == CommandStatus.INVALID_STATE
        assert (await bench.calls.post("cancel")).result == {}
        await bench.until(State.CANCELLED)
        await asyncio.sleep(0.5)

    assert "RESUME" not in since_pause(rig)


@on_moonraker
async def test_a_lift_that_is_refused_leaves_no_heater_on(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        rig.klippy.set("toolhead", homed_axes="")
        await bench.start(UNHOMED_PRINT)
        await bench.until(State.PRINTING)
        order = {"SmartPause": True, "ZLiftMm": 40}
        reply = await bench.calls.post("pause", order)
        await until_hotend_is(bench, 0.0)

    assert reply.status == CommandStatus.EXECUTION_FAILED
    assert "Must home axis first" in reply.error
    assert rig.klippy.machine.objects["gcode_move"]["absolute_coordinates"]


async def _is_busy(rig: MoonrakerRig) -> bool:
    return rig.klippy.machine.is_busy


async def _is_freezing(bench: Bench) -> bool:
    return bool((await bench.temps())["HotendActual"] < 0)


async def _was_given(rig: MoonrakerRig, script: str) -> bool:
    return rig.klippy.machine.scripts[-1] == script
