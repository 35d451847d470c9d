"""Special features of OctoPrint, on a real one with its virtual printer."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.octoprint import live_view
from printreach.printers.octoprint import live_view as live_view_module
from printreach.printers.port import NOT_YET
from tests.printers.bench import TEST_S, Bench, adapter_at, bench_of, machine
from tests.printers.octoprint.rig import HOTEND_C, OctoPrintRig

pytestmark = [pytest.mark.peer, pytest.mark.slow]

Test = Callable[[OctoPrintRig, Path], Awaitable[None]]


def on_octoprint(test: Test) -> Callable[[OctoPrintRig, Path], None]:
    """Run an async test with a deadline."""

    @wraps(test)
    def run(rig: OctoPrintRig, tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S):
                await test(rig, tmp_path)

        asyncio.run(body())

    return run


@asynccontextmanager
async def adapter(rig: OctoPrintRig, folder: Path) -> AsyncIterator[Bench]:
    """An adapter that has reached its printer; folder: where it remembers things."""
    async with adapter_at(rig, machine(rig, folder)) as bench:
        await bench.until_true("the first view", lambda: _is_connected(bench))
        yield bench


async def _is_connected(bench: Bench) -> bool:
    return bench.printer.view.trouble is None


async def smart_pause(bench: Bench, **more: object) -> None:
    await bench.start_hot()
    order = {"SmartPause": True, "ZLiftMm": 2, "RetractFilamentMm": 1, **more}
    assert (await bench.calls.post("pause", order)).result == {}
    assert (await bench.job())["State"] == State.PAUSED


@on_octoprint
async def test_the_firmware_gets_what_a_smart_pause_is_made_of(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        with rig.serial_log() as sent:
            await smart_pause(bench, DisableBed=True)
            rest = await _until_sent(bench, sent, ["M104 S0", "M140 S0"])
            assert (await bench.calls.post("resume")).result == {}
            await bench.until(State.PRINTING)
            back = ["G91", "M83", "G1 Z-2 F300", "G1 E1 F1200", "G90", "M83"]
            whole = await _until_sent(bench, sent, back)

    assert rest[-8:-2] == ["G91", "M83", "G1 E-1 F1200", "G1 Z2 F300", "G90", "M83"]
    assert set(whole[len(rest) :][:2]) == {"M104 S30", "M140 S25"}
    assert whole[len(rest) + 2 :] == back


@on_octoprint
async def test_a_smart_pause_ended_at_the_printer_is_made_good(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        await smart_pause(bench)
        await bench.until_true("a cold hotend", lambda: _hotend_is(bench, 0.0))
        await rig.order("job", command="pause", action="resume")

        await bench.until_true("a hot hotend", lambda: _hotend_is(bench, HOTEND_C))
        await bench.until(State.PRINTING)


@on_octoprint
async def test_a_restart_of_the_agent_forgets_no_smart_pause(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open():
        async with adapter(rig, tmp_path) as bench:
            await smart_pause(bench)
        async with adapter(rig, tmp_path) as bench:
            assert (await bench.calls.post("resume")).result == {}
            await bench.until_true("a hot hotend", lambda: _hotend_is(bench, HOTEND_C))
            assert _files_in(tmp_path) == []


@on_octoprint
async def test_a_cancelled_smart_pause_is_forgotten(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        await smart_pause(bench)
        await bench.calls.post("cancel")
        await bench.until(State.CANCELLED)

        assert _files_in(tmp_path) == []


@on_octoprint
async def test_status_costs_octoprint_nothing(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        await bench.status()
        before = len(rig.meddler.asked)
        for _ in range(20):
            await bench.status(IncludeMaterialSystem=True)

        assert len(rig.meddler.asked) == before


@on_octoprint
async def test_without_a_push_channel_octoprint_is_asked(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open():
        rig.meddler.refuses_websockets = True
        async with adapter(rig, tmp_path) as bench:
            await bench.start_long()
            await bench.calls.post("pause")
            await bench.until(State.PAUSED)
            await bench.calls.post("cancel")
            await bench.until(State.CANCELLED)
            await rig.disconnect()
            await bench.until_refused(CommandStatus.NOT_CONNECTED)


@on_octoprint
async def test_a_push_channel_is_tried_again(rig: OctoPrintRig, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view_module, "POLL_FOR_S", 0.1)
        async with rig.open():
            rig.meddler.refuses_websockets = True
            async with adapter(rig, tmp_path) as bench:
                rig.meddler.refuses_websockets = False
                await bench.until_true("a push channel", lambda: _has_push(rig))


@on_octoprint
async def test_a_frozen_octoprint_is_not_connected(rig: OctoPrintRig, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "SILENCE_S", 1.0)
        async with rig.open(), adapter(rig, tmp_path) as bench:
            rig.meddler.fall_silent()
            refused = await bench.until_refused(CommandStatus.NOT_CONNECTED)
            rig.meddler.speak_again()
            await bench.until_true("a status again", lambda: _is_connected(bench))

    assert f"127.0.0.1:{rig.meddler.port}" in refused.error


@on_octoprint
async def test_what_a_profile_adds_shows_when_octoprint_connects(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        refused = await bench.calls.post("extrude", {"Extruder": 1, "DistanceMm": 1})
        try:
            rig.give_profile(has_chamber=True, extruders=2)

            async def takes_both() -> bool:
                heat = {"ChamberC": 40, "ToolC": 50, "ToolNumber": 1}
                return (await bench.calls.post("set-temp", heat)).status == 200

            await bench.until_true("a chamber and a second tool", takes_both)
            extruded = await bench.calls.post("extrude", {"Extruder": 1, "DistanceMm": 1})
        finally:
            rig.give_profile(has_chamber=False, extruders=1)

    assert "one extruder" in refused.error
    assert extruded.status == 200


@on_octoprint
async def test_logs_can_be_listed_and_read_but_not_written(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        listed = (await bench.calls.get("files/list", root="logs")).result["Root"]
        path = "logs/octoprint.log"
        entry = next(entry for entry in listed if entry["VirtualPath"] == path)
        details = (await bench.calls.get("files/details", path=path)).result
        log = await bench.calls.get("files/download", path=path)
        upload = await bench.calls.put("files/upload", [b"x"], 1, "logs/new.log")
        missing = await bench.calls.get("files/details", path="logs/none.log")

    assert details["FileName"] == entry["Name"] == "octoprint.log"
    assert b"OctoPrint" in log.body
    assert upload.status == CommandStatus.NOT_SUPPORTED
    assert missing.status == CommandStatus.NOT_FOUND


@on_octoprint
async def test_octoprints_own_words_explain_a_refusal(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        reply = await bench.calls.put("files/upload", [b"x"], 1, "gcode/notes.txt")

    assert (reply.status, reply.error) == (752, "Could not upload file, invalid type")


@on_octoprint
async def test_only_local_files_are_started(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        path = await bench.upload("a.gcode", b"G28\n")
        card = await bench.calls.post("start", {"Path": path, "Storage": "sdcard"})
        local = await bench.calls.post("start", {"Path": path, "Storage": "local"})

    assert card.status == CommandStatus.BAD_ARGUMENTS
    assert local.status == 200


@on_octoprint
async def test_a_file_that_is_printed_is_not_deleted(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open(), adapter(rig, tmp_path) as bench:
        path = await bench.start_long()
        reply = await bench.calls.post("files/delete", path=path)

    assert reply.status == CommandStatus.EXECUTION_FAILED


@on_octoprint
async def test_an_agent_without_a_key_says_so(rig: OctoPrintRig, tmp_path: Path) -> None:
    async with rig.open():
        setup = replace(machine(rig, tmp_path), api_key=None)
        async with adapter_at(rig, setup) as bench:
            refused = await bench.until_refused(CommandStatus.NOT_AUTHORIZED)

    assert "asks for an API key" in refused.error
    assert "PRINTREACH_PRINTER_API_KEY" in refused.error


@on_octoprint
async def test_octoprint_that_is_not_there_is_told_with_its_address(
    rig: OctoPrintRig, tmp_path: Path
) -> None:
    async with rig.open():
        setup = replace(machine(rig, tmp_path), port=1)
        async with adapter_at(rig, setup) as bench:
            await bench.until_true("a try", lambda: _has_tried(bench))
            refused = await bench.calls.get("status")

    assert refused.status == CommandStatus.NOT_CONNECTED
    assert refused.error == "OctoPrint at 127.0.0.1:1 can't be reached: Connection refused."


def test_two_benches_in_turn_are_independent(rig: OctoPrintRig) -> None:
    async def body() -> None:
        for _ in range(2):
            async with bench_of(rig) as bench:
                assert (await bench.job())["State"] == State.IDLE

    asyncio.run(body())


async def _hotend_is(bench: Bench, target_c: float) -> bool:
    return bool((await bench.temps())["HotendTarget"] == target_c)


async def _has_tried(bench: Bench) -> bool:
    return bench.printer.view.trouble is not NOT_YET


async def _has_push(rig: OctoPrintRig) -> bool:
    return rig.meddler.websockets > 0


def _files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def _until_sent(bench: Bench, sent: Callable[[], list[str]], last: list[str]) -> list[str]:
    """All special lines, once these are the last: OctoPrint logs a line after it has sent it."""

    async def look() -> list[str] | None:
        lines = _special(sent())
        return lines if sorted(lines[-len(last) :]) == sorted(last) else None

    return await bench.until_true(f"{last} to be sent", look)


def _special(sent: list[str]) -> list[str]:
    """The lines that no print of the rig has."""
    ours = re.compile(r"G9[01]|M8[23]|G1 [ZE]-?\d+ F(300|1200)|M1[049][049].*")
    return [line for line in sent if ours.fullmatch(line)]
