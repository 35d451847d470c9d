"""Special features of Moonraker, on a real one with a simulated Klipper."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.printers.connecting import connect_to
from printreach.printers.moonraker import api as api_module
from printreach.printers.websocket import websocket
from tests.printers.asking import Json
from tests.printers.bench import adapter_at, machine
from tests.printers.moonraker.peers import bench_with, on_moonraker, until_connected
from tests.printers.moonraker.rig import EXTRA, MoonrakerRig
from tests.printers.moonraker.spoolman import SPOOL_ID, spoolman_at
from tests.printers.moonraker.test_materials import MMU
from tests.printers.sliced import ESTIMATED_S, sliced
from tests.rigs.calls import call
from tests.rigs.moonraker import CONFIG, moonraker
from tests.rigs.ways import Way

pytestmark = [pytest.mark.peer, pytest.mark.slow]

PRINTER_ID = "pr-0123456789"


# Klipper comes and goes.


@on_moonraker
async def test_a_klipper_that_has_shut_down_says_why_until_it_is_restarted(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await bench.start_long()
        await asyncio.to_thread(rig.klippy.shut_down, "MCU 'mcu' shutdown: Timer too close")

        async def says_why() -> bool:
            reply = await bench.calls.get("status")
            return reply.status == CommandStatus.NOT_CONNECTED and reply.error == (
                f"Klipper at 127.0.0.1:{rig.meddler.port} has shut down:"
                " MCU 'mcu' shutdown: Timer too close."
            )

        await bench.until_true("Klipper's words", says_why)
        assert (await bench.calls.post("cancel")).status == CommandStatus.NOT_CONNECTED
        assert (await bench.calls.get("webcam/list")).result["Webcams"]
        await asyncio.to_thread(call, Way.straight(rig.url), FIRMWARE_RESTART, method="POST")
        await until_connected(bench)
        assert (await bench.job())["State"] == State.IDLE


@on_moonraker
async def test_a_klipper_that_can_not_start_says_why(rig: MoonrakerRig, tmp_path: Path) -> None:
    error = {"state": "error", "state_message": "Option 'pin' in section 'fan' must be specified"}
    async with rig.open():
        rig.klippy.go()
        rig.klippy.come({**EXTRA, "webhooks": error})
        async with adapter_at(rig, machine(rig, tmp_path)) as bench:

            async def says_why() -> bool:
                reply = await bench.calls.get("status")
                return reply.error.endswith("reports an error: " + error["state_message"] + ".")

            await bench.until_true("Klipper's words", says_why)


@on_moonraker
async def test_a_moonraker_that_stands_still_is_noticed(rig: MoonrakerRig, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api_module, "SILENCE_S", 1.5)
        async with bench_with(rig, tmp_path) as bench:
            rig.meddler.fall_silent()
            await bench.until_refused(CommandStatus.NOT_CONNECTED)
            rig.meddler.speak_again()
            await until_connected(bench)


@on_moonraker
async def test_what_is_no_moonraker_is_told_as_such(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with rig.open():
        rig.meddler.answer_with(*[b"<html>a router</html>"] * 5)
        async with adapter_at(rig, machine(rig, tmp_path)) as bench:
            refused = await bench.until_refused(CommandStatus.NOT_CONNECTED)

            async def is_told() -> bool:
                trouble = bench.printer.view.trouble
                return trouble is not None and "answer as Moonraker" in trouble.sentence

            await bench.until_true("the reason", is_told)
            assert refused.error


def test_a_moonraker_without_room_is_told_as_such(
    rig: MoonrakerRig, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = CONFIG.replace("[machine]", "max_websocket_connections: 1\n[machine]")

    async def body(url: str) -> None:
        port = int(url.rpartition(":")[2])
        connect = connect_to("127.0.0.1", port, tls=False)
        async with websocket(connect, f"ws://127.0.0.1:{port}/websocket"), rig.open():
            setup = replace(machine(rig, tmp_path), port=port, api_key=None)
            async with adapter_at(rig, setup) as bench:
                refused = await bench.until_refused(CommandStatus.TOO_MANY_CLIENTS)
                assert refused.error == f"Moonraker at 127.0.0.1:{port} takes no more connections."

    with moonraker(tmp_path_factory.mktemp("full"), config) as url:
        asyncio.run(body(url))


@on_moonraker
async def test_without_a_key_a_moonraker_beside_the_agent_needs_none(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with rig.open():
        setup = replace(machine(rig, tmp_path), api_key=None)
        async with adapter_at(rig, setup) as bench:
            await until_connected(bench)


# What is known of a print and of the printer.


@on_moonraker
async def test_a_sliced_print_is_told_as_its_slicer_knows_it(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await bench.start(sliced(moves=4000))  # so that a minute of it is a small part

        async def known() -> Json | None:
            job = await bench.job()
            now: Json = job["CurrentPrint"]
            is_known = now["EstTotalFilUsedMm"] == 1235
            return now if is_known and job["State"] == State.PRINTING else None

        now = await bench.until_true("the slicer's figures", known)

    assert now["EstTotalFilWeightMg"] == 3680
    assert now["TotalLayers"] == 3
    assert now["CurrentLayer"] == 1
    assert ESTIMATED_S - 10 <= now["TimeLeftSec"] <= ESTIMATED_S
    assert now["Progress"] < 10


@on_moonraker
async def test_a_file_that_was_replaced_is_known_anew(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        long = rig.long_print()
        await bench.start(replace(long, name="part.gcode"))
        await bench.until(State.PRINTING)
        await bench.calls.post("cancel")
        other = sliced("part.gcode")

        async def is_replaced() -> bool:  # once Moonraker knows of the end, too
            path = f"gcode/{other.name}"
            upload = await bench.calls.put("files/upload", [other.data], len(other.data), path)
            return upload.status == 200

        await bench.until_true("another file in its place", is_replaced)
        await bench.calls.post("start", {"Path": f"gcode/{other.name}"})

        async def is_known() -> bool:
            return bool((await bench.job())["CurrentPrint"]["EstTotalFilUsedMm"] == 1235)

        await bench.until_true("the new estimate", is_known)


@on_moonraker
async def test_status_costs_moonraker_nothing(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        await bench.status()
        before = len(rig.meddler.asked)
        for _ in range(20):
            await bench.status(IncludeMaterialSystem=True)

        assert len(rig.meddler.asked) == before


@on_moonraker
async def test_a_happy_hare_is_told_as_it_turns(rig: MoonrakerRig, tmp_path: Path) -> None:
    units = {name: MMU[name] for name in ("mmu", "mmu_machine")}
    async with bench_with(rig, tmp_path, {**EXTRA, **units}) as bench:

        async def loaded() -> list[str]:
            reported = await bench.status(IncludeMaterialSystem=True)
            routes = reported["JobStatus"]["MaterialSystem"]["Routes"]
            return [route["SourceId"] for route in routes if route.get("State") == "loaded"]

        assert await loaded() == ["gate2"]
        await asyncio.to_thread(rig.klippy.set, "mmu", gate=0)

        async def has_turned() -> bool:
            return await loaded() == ["gate0"]

        await bench.until_true("another gate", has_turned)


@on_moonraker
async def test_the_spool_in_use_comes_from_spoolman(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with spoolman_at(rig.ports.spoolman), bench_with(rig, tmp_path) as bench:

        async def is_connected() -> bool:
            return bool(rig.get("/server/spoolman/status")["spoolman_connected"])

        await bench.until_true("Spoolman", is_connected)
        target = f"/server/spoolman/spool_id?spool_id={SPOOL_ID}"
        await asyncio.to_thread(call, Way.straight(rig.url), target, method="POST")

        async def is_told() -> bool:
            reported = await bench.status(IncludeMaterialSystem=True)
            (source,) = reported["JobStatus"]["MaterialSystem"]["Sources"]
            return bool(source.get("Material", {}).get("Name") == "Silk Blue")

        await bench.until_true("the spool", is_told)
        none = "/server/spoolman/spool_id"
        await asyncio.to_thread(call, Way.straight(rig.url), none, method="POST")


@on_moonraker
async def test_the_printers_public_id_is_left_where_apps_look(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with rig.open():
        setup = replace(machine(rig, tmp_path), printer_id=PRINTER_ID)
        for _ in range(2):
            async with adapter_at(rig, setup) as bench:
                await until_connected(bench)
                found = rig.get("/server/database/item?namespace=service&key=public.printerId")
                assert found["value"] == PRINTER_ID


# Files.


@on_moonraker
async def test_half_an_upload_leaves_nothing_on_the_printers_disk(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        asked = bench.calls.begin_put("files/upload", 2_000_000, "gcode/half.gcode")
        asked.stream.send(b"G28\n" * 1000)

        async def has_begun() -> bool:
            return bool(_temporary_files(rig))

        await bench.until_true("Moonraker's temporary file", has_begun)
        asked.leave()

        async def has_gone() -> bool:
            return not _temporary_files(rig)

        await bench.until_true("nothing", has_gone)
        assert (await bench.calls.get("files/list")).result["Root"] == []


@on_moonraker
async def test_uploads_at_once_arrive_as_they_were_sent(rig: MoonrakerRig, tmp_path: Path) -> None:
    files = {f"{letter}.gcode": f"; {letter}\n".encode() * 50_000 for letter in "abc"}
    async with bench_with(rig, tmp_path) as bench:
        paths = await asyncio.gather(*(bench.upload(*file) for file in files.items()))
        replies = [await bench.calls.get("files/download", path=path) for path in paths]

    assert [reply.body for reply in replies] == list(files.values())


@on_moonraker
async def test_an_upload_shorter_than_announced_is_refused(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async def short() -> Any:
        yield b"G28\n"

    async with bench_with(rig, tmp_path) as bench:
        reply = await bench.calls.put("files/upload", short(), 400, "gcode/short.gcode")

        assert reply.status == CommandStatus.EXECUTION_FAILED
        assert (await bench.calls.get("files/list")).result["Root"] == []


@on_moonraker
async def test_a_file_that_is_printed_is_not_replaced(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        path = await bench.start_long()
        reply = await bench.calls.put("files/upload", [b"G28\n"], 4, path)
        deleted = await bench.calls.post("files/delete", path=path)

    assert reply.status == deleted.status == CommandStatus.EXECUTION_FAILED
    assert reply.error == deleted.error == f"{path!r} is being printed, or protected by Moonraker."


@on_moonraker
async def test_a_folder_whose_pictures_are_left_can_be_deleted(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    async with bench_with(rig, tmp_path) as bench:
        file = sliced()
        path = await bench.upload(f"parts/{file.name}", file.data)
        assert (rig.folder / "gcodes" / "parts" / ".thumbs").is_dir()
        details = (await bench.calls.get("files/details", path=path)).result
        assert (details["ThumbnailCount"], details["LayerHeightMm"]) == (2, 0.2)
        assert (await bench.calls.post("files/delete", path=path)).status == 200

        assert (await bench.calls.post("files/delete", path="gcode/parts")).status == 200
        assert not (rig.folder / "gcodes" / "parts").exists()


@on_moonraker
async def test_configuration_and_logs_are_roots_of_their_own(
    rig: MoonrakerRig, tmp_path: Path
) -> None:
    (rig.folder / "logs" / "klippy.log").write_text("Starting Klippy\n")
    async with bench_with(rig, tmp_path) as bench:
        path = await bench.upload("macros/light.cfg", b"[gcode_macro LIGHT]\n", root="config")
        config = (await bench.calls.get("files/list", root="config")).result["Root"]
        logs = (await bench.calls.get("files/list", root="logs")).result["Root"]
        log = await bench.calls.get("files/download", path="logs/klippy.log")
        denied = await bench.calls.put("files/upload", [b"x"], 1, "logs/x.log")
        details = (await bench.calls.get("files/details", path=path)).result
        for done in (path, "config/macros"):
            assert (await bench.calls.post("files/delete", path=done)).status == 200

    assert "moonraker.conf" in {entry["Name"] for entry in config}
    assert "klippy.log" in {entry["Name"] for entry in logs}
    assert log.body == b"Starting Klippy\n"
    assert denied.status == CommandStatus.NOT_SUPPORTED
    assert details["SizeBytes"] == 20
    assert details["ModifiedTimeSec"] > 1e9


@on_moonraker
async def test_folders_that_lead_into_one_another_end(rig: MoonrakerRig, tmp_path: Path) -> None:
    async with bench_with(rig, tmp_path) as bench:
        ring = rig.folder / "gcodes" / "ring"
        ring.mkdir()
        (ring / "again").symlink_to(ring)
        reply = await bench.calls.get("files/list")

    assert len(json.dumps(reply.result)) < 100_000


FIRMWARE_RESTART = "/printer/firmware_restart"


def _temporary_files(rig: MoonrakerRig) -> list[Path]:
    return list((rig.folder / "tmp").iterdir())
