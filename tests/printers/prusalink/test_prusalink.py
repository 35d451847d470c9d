"""Special features of PrusaLink, on a real one with a simulated MK3S board."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.setup import PrinterSetup
from tests.printers.asking import Json
from tests.printers.bench import TEST_S, Bench, adapter_at, bench_of, machine
from tests.printers.prusalink.rig import PrusaLinkRig
from tests.printers.sliced import ESTIMATED_S, sliced
from tests.rigs.prusalink import PrusaLink

pytestmark = [pytest.mark.peer, pytest.mark.slow]

Test = Callable[[PrusaLinkRig, Path], Awaitable[None]]
G_CODE = b"G28\n" * 100


def on_prusalink(test: Test) -> Callable[[PrusaLinkRig, Path], None]:
    """Run an async test with a deadline."""

    @wraps(test)
    def run(rig: PrusaLinkRig, tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S):
                await test(rig, tmp_path)

        asyncio.run(body())

    return run


@asynccontextmanager
async def adapter_with(
    rig: PrusaLinkRig, folder: Path, *, api_key: str | None, password: str | None
) -> AsyncIterator[Bench]:
    setup: PrinterSetup = machine(rig, folder)
    async with adapter_at(rig, replace(setup, api_key=api_key, password=password)) as bench:
        yield bench


async def _is_connected(bench: Bench) -> bool:
    return bench.printer.view.trouble is None


def orders(peer: PrusaLink, since: int) -> list[str]:
    """Return the firmware's orders, without the requests that PrusaLink always makes."""
    asked = ("M2", "M79", "M73", "M117", "D3", "M862", "PRUSA", "M4", "M155", "M300", "M72")
    return [order for order in peer.firmware.received[since:] if not order.startswith(asked)]


@on_prusalink
async def test_an_api_key_serves_as_well_as_a_password(rig: PrusaLinkRig, tmp_path: Path) -> None:
    async with (
        rig.open(),
        adapter_with(rig, tmp_path, api_key=rig.peer.api_key, password=None) as bench,
    ):
        await bench.until_true("the first view", lambda: _is_connected(bench))
        path = await bench.upload("by key.gcode", G_CODE)
        assert (await bench.calls.get("files/download", path=path)).body == G_CODE


@on_prusalink
async def test_a_file_in_a_folder_that_was_deleted_can_be_put_there_again(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    """On the bench PrusaLink's own defects with that are mended: prusalink_start.py."""
    async with bench_of(rig) as bench:
        for _ in range(2):
            path = await bench.upload("parts/again/small.gcode", G_CODE)
            assert (await bench.calls.get("files/download", path=path)).body == G_CODE
            await asyncio.to_thread(rig.tidy)


@on_prusalink
async def test_a_wrong_api_key_and_no_credentials_at_all_are_told_apart(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    sentences = []
    for api_key in ("0123456789abcdef", None):
        async with (
            rig.open(),
            adapter_with(rig, tmp_path, api_key=api_key, password=None) as bench,
        ):
            sentences.append((await bench.until_refused(CommandStatus.NOT_AUTHORIZED)).error)

    assert "refuses" in sentences[0]
    assert "0123456789abcdef" not in sentences[0]
    assert "the agent has none" in sentences[1]


@on_prusalink
async def test_a_name_that_prusalink_forbids_is_stored_under_one_it_takes(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        path = await bench.upload('what? 100% "sure" #1.gcode', G_CODE)

    assert path == "gcode/what_ 100_ _sure_ _1.gcode"


@on_prusalink
async def test_a_size_that_prusalink_cannot_store_is_told_with_a_way_out(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    size = 2 * 65_365 + 1
    async with bench_of(rig) as bench:
        data = [b"G" * size]
        refused = await bench.calls.put("files/upload", data, size, "gcode/unlucky.gcode")
        listed = (await bench.calls.get("files/list")).result["Root"]

    assert refused.status == 752
    assert "add an empty line" in refused.error
    assert listed == []


@on_prusalink
async def test_a_name_that_breaks_prusalinks_own_reading_can_be_printed_all_the_same(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        path = await bench.upload("part.new.gcode", rig.long_print().data)
        details = (await bench.calls.get("files/details", path=path)).result
        assert details["SizeBytes"] == len(rig.long_print().data)
        assert (await bench.calls.post("start", {"Path": path})).status == 200
        await bench.until(State.PRINTING)
        await asyncio.sleep(1.5)
        assert (await bench.job())["State"] == State.PRINTING
        assert (await bench.calls.post("pause")).status == 200
        await bench.until(State.PAUSED)


@on_prusalink
async def test_a_sliced_print_tells_what_the_slicer_expected(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        path = await bench.upload("sliced.gcode", sliced().data + b"\nG4 P100" * 600)
        details = (await bench.calls.get("files/details", path=path)).result
        assert (await bench.calls.post("start", {"Path": path})).status == 200

        async def known() -> Json | None:
            job = await bench.job()
            now: Json = job["CurrentPrint"]
            is_known = now["EstTotalFilUsedMm"] == 1234
            return now if is_known and job["State"] == State.PRINTING else None

        now = await bench.until_true("the slicer's figures", known)

    assert details["EstPrintTimeSec"] == ESTIMATED_S
    assert details["FilamentType"] == "PETG"
    assert now["TimeLeftSec"] <= ESTIMATED_S


@on_prusalink
async def test_a_print_after_another_begins_with_no_progress(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        await bench.start(rig.short_print())
        await bench.until(State.COMPLETE)
        path = await bench.upload("next.gcode", rig.long_print().data)
        began_s = time.monotonic()
        assert (await bench.calls.post("start", {"Path": path})).status == 200
        now = (await bench.until(State.PRINTING))["CurrentPrint"]
        passed_s = time.monotonic() - began_s

    assert now["FileName"] == "next.gcode"
    assert now["Progress"] < 50  # of a minute; the one before was whole
    assert now["DurationSec"] <= passed_s + 1


@on_prusalink
async def test_moves_are_relative_and_leave_the_axes_absolute(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        since = len(rig.peer.firmware.received)
        for axis, distance_mm in (("X", 10), ("Z", -2.5)):
            order = {"Axis": axis, "DistanceMm": distance_mm}
            assert (await bench.calls.post("move-axis", order)).result == {}
        await bench.until_true("both moves", lambda: _has_orders(rig, since, 8))

    reported = orders(rig.peer, since)
    assert [reported[at] for at in (0, 2, 4, 6)] == ["G91", "G90", "G91", "G90"]
    assert reported[1] == "G1 F2700 ['X10.0']"
    assert reported[5] == "G1 F600 ['Z-2.5']"


@on_prusalink
async def test_what_the_printer_refuses_is_told_in_its_words(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    async with bench_of(rig) as bench:
        await bench.until_true("a temperature", lambda: _has_temperature(bench))
        cold = await bench.calls.post("extrude", {"Extruder": 0, "DistanceMm": 5})
        await bench.start_long()
        await bench.calls.post("pause")
        await bench.until(State.PAUSED)
        lift = await bench.calls.post("move-axis", {"Axis": "Z", "DistanceMm": 5})

    assert (cold.status, lift.status) == (752, 752)
    assert "temperature" in cold.error.lower()
    assert "axis" in lift.error.lower()


@on_prusalink
async def test_a_file_that_is_printed_is_not_deleted(rig: PrusaLinkRig, tmp_path: Path) -> None:
    async with bench_of(rig) as bench:
        path = await bench.start_long()
        refused = await bench.calls.post("files/delete", path=path)

    assert refused.status == 752
    assert "print" in refused.error.lower()


@on_prusalink
async def test_a_fault_ends_when_the_printer_is_reset(rig: PrusaLinkRig, tmp_path: Path) -> None:
    async with bench_of(rig) as bench:
        await bench.start_long()
        await rig.fail_print()
        assert (await bench.until(State.ERROR))["Error"] == "Firmware detected a hardware issue"
        rig.peer.firmware.reset()
        await bench.until(State.IDLE)


@on_prusalink
async def test_a_printer_whose_cable_is_pulled_is_not_connected_until_it_is_back(
    rig: PrusaLinkRig, tmp_path: Path
) -> None:
    """PrusaLink itself takes ten seconds to find it again."""
    async with bench_of(rig) as bench:
        rig.peer.firmware.unplug()
        refused = await bench.until_refused(CommandStatus.NOT_CONNECTED)
        listed = await bench.calls.get("files/list")
        rig.peer.firmware.plug_in()
        await bench.until_true("the printer again", lambda: _is_connected(bench))
        await bench.until(State.IDLE)

    assert "Serial device does not exist" in refused.error
    assert listed.status == 200  # PrusaLink itself is there


async def _has_orders(rig: PrusaLinkRig, since: int, count: int) -> bool:
    return len(orders(rig.peer, since)) >= count


async def _has_temperature(bench: Bench) -> bool:
    return bool((await bench.temps())["HotendActual"])
