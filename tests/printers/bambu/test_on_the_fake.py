"""Special features of Bambu printers, on the fake one."""

import asyncio
import socket
import ssl
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from printreach.contract.commands import CommandStatus, Pause
from printreach.contract.status import State
from printreach.printers.bambu import ftps
from printreach.printers.bambu.camera import PortCamera
from printreach.printers.bambu.ftps import Ftps
from printreach.printers.port import NOT_YET, PrinterRefused
from tests.printers.bambu.rig import BambuRig, until
from tests.printers.bench import TEST_S, Bench, adapter_at, machine, on_the_bench
from tests.printers.rig import PrinterRig
from tests.printers.stopping import ends_when_stopped_as_a_broker_answers

pytestmark = [pytest.mark.peer, pytest.mark.slow]


def fake_rig(rig: PrinterRig) -> BambuRig:
    assert isinstance(rig, BambuRig)
    return rig


def orders(bench: Bench, command: str) -> list[dict[str, object]]:
    """Return the orders of this kind that the printer received."""
    fake = fake_rig(bench.rig).fake
    with fake.lock:
        every = [order for message in fake.machine.heard for order in message.values()]
    return [order for order in every if order.get("command") == command]


class TestConnection:
    @on_the_bench
    async def test_changes_alone_keep_the_view_up_to_date(self, bench: Bench) -> None:
        fake = fake_rig(bench.rig).fake
        with fake.lock:
            fake.machine.report["bed_temper"] = 61.25
            fake.machine.report["bed_target_temper"] = 61.25

        async def shows() -> bool:
            return bool((await bench.temps())["BedActual"] == 61.25)

        await bench.until_true("the change", shows)
        assert len(orders(bench, "pushall")) == 1

    @on_the_bench
    async def test_a_reconnect_does_not_ask_for_everything_again(self, bench: Bench) -> None:
        await bench.rig.disconnect()
        await bench.until_refused(CommandStatus.NOT_CONNECTED)
        await bench.rig.reconnect()
        await until(lambda: bench.printer.view.trouble is None)

        assert len(orders(bench, "pushall")) == 1

    def test_the_serial_number_is_read_from_the_certificate(
        self, rig: PrinterRig, tmp_path: Path
    ) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), rig.open():
                setup = replace(machine(rig, tmp_path), serial=None)
                async with adapter_at(rig, setup) as bench:
                    await until(lambda: bench.printer.view.trouble is None)

        rig.run(body())

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"serial": "01P00A999999999"}, "serial number"),
            ({"access_code": None}, "access code"),
            ({"access_code": "wrong"}, "access code"),
        ],
    )
    def test_what_the_agent_was_told_wrongly_is_named(
        self, rig: PrinterRig, tmp_path: Path, changes: dict[str, Any], words: str
    ) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), rig.open():
                setup = replace(machine(rig, tmp_path), **changes)
                async with adapter_at(rig, setup) as bench:
                    refused = await bench.until_refused(CommandStatus.NOT_AUTHORIZED)
                    assert words in refused.error

        rig.run(body())

    @pytest.mark.parametrize("turns", range(3))
    def test_what_is_stopped_as_the_printer_lets_it_in_ends(
        self, rig: PrinterRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
    ) -> None:
        async def body() -> None:
            async with rig.open():
                await ends_when_stopped_as_a_broker_answers(rig, tmp_path, monkeypatch, turns)

        rig.run(body())

    @pytest.mark.parametrize(
        ("code", "status"),
        [
            (3, CommandStatus.TOO_MANY_CLIENTS),
            (4, CommandStatus.NOT_AUTHORIZED),
            (5, CommandStatus.NOT_AUTHORIZED),
            (2, CommandStatus.NOT_CONNECTED),
        ],
    )
    def test_a_refused_connection_is_told_by_its_reason(
        self, rig: PrinterRig, tmp_path: Path, code: int, status: CommandStatus
    ) -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(2)
            writer.write(bytes([0x20, 2, 0, code]))
            writer.close()

        async def body() -> None:
            fake = fake_rig(rig).fake
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(fake.certificate, fake.key)
            server = await asyncio.start_server(refuse, "127.0.0.1", 0, ssl=tls)
            setup = replace(machine(rig, tmp_path), port=server.sockets[0].getsockname()[1])
            async with asyncio.timeout(TEST_S), adapter_at(rig, setup) as bench:
                await until(lambda: bench.printer.view.trouble not in (None, NOT_YET))
                assert (await bench.calls.get("status")).status == status
            server.close()

        rig.run(body())


class TestOrders:
    @on_the_bench
    async def test_an_unsigned_order_that_is_refused_names_developer_mode(
        self, bench: Bench
    ) -> None:
        fake_rig(bench.rig).fake.machine.refuses_unsigned = True

        reply = await bench.calls.post("home")

        assert reply.status == CommandStatus.NOT_AUTHORIZED
        assert "developer mode" in reply.error

    @on_the_bench
    async def test_a_refusal_in_the_health_list_is_the_answer_to_the_order(
        self, bench: Bench
    ) -> None:
        fake = fake_rig(bench.rig).fake
        fake.machine.is_silent = True
        asked = bench.calls.ask(b"POST", "home")
        await until(lambda: bool(orders(bench, "gcode_line")))
        with fake.lock:
            fake.machine.report["hms"] = [{"attr": 0x05000500, "code": 0x00010007}]

        assert (await asked.reply()).status == CommandStatus.NOT_AUTHORIZED

    @on_the_bench
    async def test_every_option_of_a_start_reaches_the_printer(self, bench: Bench) -> None:
        file = bench.rig.long_print()
        path = await bench.upload(file.name, file.data)
        options = {"Plate": 3, "UseAms": True, "AmsMapping": [1], "BedLeveling": False}
        reply = await bench.calls.post("start", {"Path": path, **options})
        [order] = orders(bench, "project_file")

        assert reply.result["PlatformPath"] == f"/{file.name}"
        assert reply.result["PrinterResponse"]["result"] == "success"
        assert order["param"] == "Metadata/plate_3.gcode"
        assert (order["use_ams"], order["ams_mapping"]) == (True, [1])
        assert order["bed_levelling"] is False

    @on_the_bench
    async def test_plain_g_code_is_started_too(self, bench: Bench) -> None:
        path = await bench.upload("plain.gcode", b"; seconds 600\nG28\n")

        assert (await bench.calls.post("start", {"Path": path})).status == 200
        job = await bench.until(State.PRINTING)
        assert job["CurrentPrint"]["FileName"] == "plain.gcode"

    @on_the_bench
    async def test_a_wrong_option_or_storage_is_a_wrong_argument(self, bench: Bench) -> None:
        for wrong in ({"Plate": 0}, {"AmsMapping": [999]}, {"Storage": "usb"}):
            reply = await bench.calls.post("start", {"Path": "gcode/x.3mf", **wrong})
            assert reply.status == CommandStatus.BAD_ARGUMENTS

    @on_the_bench
    async def test_a_cold_nozzle_extrudes_nothing(self, bench: Bench) -> None:
        reply = await bench.calls.post("extrude", {"Extruder": 0, "DistanceMm": 1})

        assert reply.status == CommandStatus.EXECUTION_FAILED
        assert "170" in reply.error

    @on_the_bench
    async def test_firmware_that_heats_only_while_waiting_is_told_to_wait(
        self, bench: Bench
    ) -> None:
        fake_rig(bench.rig).fake.machine.ignores = {"M104", "M140"}

        assert (await bench.calls.post("set-temp", {"BedC": 40})).status == 200
        assert (await bench.temps())["BedTarget"] == 40.0

    @on_the_bench
    async def test_a_heater_that_takes_no_order_is_told_as_such(self, bench: Bench) -> None:
        fake_rig(bench.rig).fake.machine.ignores = {"M104", "M140", "M109", "M190"}

        reply = await bench.calls.post("set-temp", {"BedC": 40})

        assert reply.status == CommandStatus.EXECUTION_FAILED


class TestSmartPause:
    def test_a_pause_outlives_the_agent(self, rig: PrinterRig, tmp_path: Path) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), rig.open():
                setup = machine(rig, tmp_path)
                async with adapter_at(rig, setup) as bench:
                    await until(lambda: bench.printer.view.trouble is None)
                    await bench.start_hot()
                    await bench.printer.pause(Pause(smart_pause=True))
                    await _hotend(bench, 0.0)
                async with adapter_at(rig, setup) as bench:
                    await until(lambda: bench.printer.view.trouble is None)
                    assert (await bench.calls.post("resume")).status == 200
                    await bench.until(State.PRINTING)
                    await _hotend(bench, 60.0)

        rig.run(body())

    @on_the_bench
    async def test_a_print_resumed_at_the_printer_gets_its_heat_back(self, bench: Bench) -> None:
        await bench.start_hot()
        await bench.printer.pause(Pause(smart_pause=True))
        await _hotend(bench, 0.0)
        fake = fake_rig(bench.rig).fake
        with fake.lock:
            fake.machine.hear({"print": {"command": "resume"}})

        await _hotend(bench, 60.0)


class TestFiles:
    @on_the_bench
    async def test_data_connections_take_up_the_session(self, bench: Bench) -> None:
        card = fake_rig(bench.rig).fake.card
        card.reused.clear()
        await bench.upload("part.3mf", b"x" * 1000)

        assert card.reused
        assert all(card.reused)

    @on_the_bench
    async def test_a_server_without_mlsd_is_listed_the_old_way(self, bench: Bench) -> None:
        fake_rig(bench.rig).fake.card.list_the_old_way(really=True)
        path = await bench.upload("folder/two words ü.3mf", b"abc")

        details = (await bench.calls.get("files/details", path=path)).result

        assert details["SizeBytes"] == 3

    @on_the_bench
    async def test_an_upload_whose_end_hangs_is_verified_by_its_size(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ftps, "GOODBYE_S", 0.5)  # a thread's time goes no faster
        fake_rig(bench.rig).fake.card.hangs_at_the_end = True

        assert await bench.upload("part.3mf", b"x" * 100_000) == "gcode/part.3mf"

    @on_the_bench
    async def test_the_printers_own_folders_are_left_out(self, bench: Bench) -> None:
        folder = fake_rig(bench.rig).fake.card.folder
        for name in ("timelapse", "ipcam", "parts"):
            (folder / name).mkdir()
            (folder / name / "file.3mf").write_bytes(b"x")
        listed = (await bench.calls.get("files/list")).result["Root"]

        assert [entry["Name"] for entry in listed] == ["parts"]
        assert [entry["Name"] for entry in listed[0]["Children"]] == ["file.3mf"]

    @on_the_bench
    async def test_half_uploads_at_once_leave_nothing_and_block_nothing(self, bench: Bench) -> None:
        every = [
            bench.calls.begin_put("files/upload", 1000, f"gcode/half {number}.3mf")
            for number in range(5)
        ]
        for asked in every:
            asked.stream.send(b"x" * 100)
        await asyncio.sleep(0.3)
        for asked in every:
            asked.leave()

        async def is_empty() -> bool:
            return (await bench.calls.get("files/list")).result == {"Root": []}

        await bench.until_true("an empty card", is_empty)
        assert await bench.upload("whole.3mf", b"x" * 1000) == "gcode/whole.3mf"

    @on_the_bench
    async def test_who_leaves_as_the_file_is_opened_leaves_nothing(self, bench: Bench) -> None:
        opened, goes_on = threading.Event(), threading.Event()
        transfer = Ftps.transfercmd

        def slow(ftps: Ftps, command: str, rest: int | str | None = None) -> socket.socket:
            data = transfer(ftps, command, rest)
            if command.startswith("STOR"):
                opened.set()
                goes_on.wait(TEST_S)
            return data

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ftps, "transfercmd", slow)
            asked = bench.calls.begin_put("files/upload", 1000, "gcode/half.3mf")
            await asyncio.to_thread(opened.wait, TEST_S)
            asked.leave()
            goes_on.set()

            async def is_empty() -> bool:
                return (await bench.calls.get("files/list")).result == {"Root": []}

            await bench.until_true("an empty card", is_empty)


class TestCamera:
    @on_the_bench
    async def test_the_greeting_carries_the_access_code(self, bench: Bench) -> None:
        await bench.calls.get("webcam/snapshot")

        assert fake_rig(bench.rig).camera_port.greetings[0][48:56] == b"12345678"

    def test_a_refused_code_is_told_as_such(self, rig: PrinterRig) -> None:
        async def body() -> None:
            async with asyncio.timeout(TEST_S), rig.open():
                port = fake_rig(rig).fake.camera_port
                camera = PortCamera("127.0.0.1", port, "bblp", "87654321")
                with pytest.raises(PrinterRefused) as refused:
                    await anext(camera.frames())
                assert refused.value.status == CommandStatus.NOT_AUTHORIZED

        rig.run(body())


async def _hotend(bench: Bench, target_c: float) -> None:
    async def is_so() -> bool:
        return bool((await bench.temps())["HotendTarget"] == target_c)

    await bench.until_true(f"a hotend at {target_c}", is_so)
