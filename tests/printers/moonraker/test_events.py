"""The events of prints on Klipper that end as no print should."""

import asyncio
from pathlib import Path

import pytest

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.contract.unset import UNSET
from tests.printers.contract_events import watched
from tests.printers.moonraker.peers import bench_with, on_moonraker, until_connected
from tests.printers.moonraker.rig import MoonrakerRig
from tests.printers.sliced import ESTIMATED_S, LAYERS, sliced
from tests.rigs.calls import call
from tests.rigs.ways import Way

pytestmark = [pytest.mark.peer, pytest.mark.slow]

E = EventType


@on_moonraker
async def test_a_print_that_klippers_shutdown_ended_has_failed_with_its_words(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        await bench.start_long()
        await events.until(E.STARTED)
        await asyncio.to_thread(rig.klippy.shut_down, "MCU 'mcu' shutdown: Timer too close")
        await events.until(E.FAILED)
        restart = "/printer/firmware_restart"
        await asyncio.to_thread(call, Way.straight(rig.url), restart, method="POST")
        await until_connected(bench)
        await bench.until(State.IDLE)

        assert events.milestones == [E.STARTED, E.FAILED]
        assert "Timer too close" in str(events.events[-1].error)


@on_moonraker
async def test_a_print_is_told_with_the_facts_of_its_own_file(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    """Not of the print before, as long as Moonraker is asked for the new ones."""
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        await bench.start(sliced(moves=12))
        await events.until(E.COMPLETE)
        plain = rig.long_print()
        await bench.start(plain)
        await events.until(E.STARTED)
        await bench.calls.post("cancel")
        await events.until(E.FAILED)
        await bench.start(sliced("other part.gcode"))
        await events.until(E.STARTED)
        first, second, third = (one for one in events.events if one.event_type == E.STARTED)

    assert first.total_layers == third.total_layers == LAYERS
    for told_s in (first.time_remaining_sec, third.time_remaining_sec):
        assert isinstance(told_s, int)
        assert 0 < told_s <= ESTIMATED_S  # some of it may be printed before its facts are known
    assert (second.file_name, second.progress) == (plain.name, 0)
    assert second.total_layers is UNSET
    assert second.time_remaining_sec is UNSET
    assert second.estimated_total_sec is UNSET


@on_moonraker
async def test_a_print_that_a_restart_of_the_firmware_ended_has_failed_and_says_why(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        await bench.start_long()
        await events.until(E.STARTED)
        restart = "/printer/firmware_restart"
        await asyncio.to_thread(call, Way.straight(rig.url), restart, method="POST")
        await events.until(E.FAILED)

        assert events.milestones == [E.STARTED, E.FAILED]
        assert str(events.events[-1].error).startswith("The print was lost. ")
        assert bench.printer.view.job.state is State.IDLE


@on_moonraker
async def test_what_a_macro_asks_of_a_person_is_told_while_it_prints(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        await bench.start_long()
        await events.until(E.STARTED)
        for line in ("begin Change of filament", "text Press Done behind it", "show"):
            await asyncio.to_thread(rig.klippy.say, f"// action:prompt_{line}")
        await events.until(E.FILAMENT_CHANGE_REQUIRED)

        assert events.events[-1].error == "Change of filament: Press Done behind it"


@on_moonraker
async def test_a_print_that_was_cancelled_and_started_again_between_two_reports_is_two_prints(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        path = await bench.start_long()
        await events.until(E.STARTED)
        again = f'CANCEL_PRINT\nSDCARD_PRINT_FILE FILENAME="{path.rpartition("/")[2]}"'
        await asyncio.to_thread(rig.klippy.do, lambda: rig.klippy.machine.run(again))

        async def has_two_starts() -> bool:
            return events.milestones.count(E.STARTED) > 1

        await bench.until_true("another start", has_two_starts)
        first, ended, second = events.events[:3]

    assert events.milestones == [E.STARTED, E.FAILED, E.STARTED]
    assert ended.error == "cancelled"
    assert first.print_id == ended.print_id != second.print_id


@on_moonraker
async def test_a_print_that_was_started_and_cancelled_between_two_reports_is_told(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench, watched(bench) as events:
        await bench.start(rig.short_print())
        await events.until(E.COMPLETE)
        path = await bench.upload(rig.long_print().name, rig.long_print().data)
        machine = rig.klippy.machine

        async def start_and_cancel() -> None:
            await machine.run(f'SDCARD_PRINT_FILE FILENAME="{path.rpartition("/")[2]}"')
            machine.tick(0.1)
            await machine.run("CANCEL_PRINT")

        await asyncio.to_thread(rig.klippy.do, start_and_cancel)
        await events.until(E.FAILED)

    assert events.milestones == [E.STARTED, E.COMPLETE, E.STARTED, E.FAILED]
    assert events.events[-1].error == "cancelled"
    assert events.events[-1].file_name == rig.long_print().name
