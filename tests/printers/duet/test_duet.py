"""Special features of a Duet: its sessions, its two web servers, its refusals."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.contract.status import State
from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from printreach.http1.server import Server
from printreach.printers.setup import PrinterSetup
from tests.fakes.duet.board import Session
from tests.fakes.duet.machine import Machine
from tests.fakes.duet.printer import FakeDuet
from tests.printers.bench import Bench, adapter_at, machine, on_the_bench
from tests.printers.duet.rig import DuetRig, SbcRig

pytestmark = pytest.mark.slow

FAILED, BAD_ARGUMENTS = CommandStatus.EXECUTION_FAILED, CommandStatus.BAD_ARGUMENTS
NOT_CONNECTED = CommandStatus.NOT_CONNECTED
NOT_AUTHORIZED = CommandStatus.NOT_AUTHORIZED
TEST_S = 110.0
STRANGERS = [Session(f"192.0.2.{number}", number, 0.0) for number in range(1, 9)]


@pytest.fixture
def rig() -> DuetRig:
    return DuetRig()


@pytest.fixture(params=[DuetRig, SbcRig])
def either(request: pytest.FixtureRequest) -> DuetRig:
    made: DuetRig = request.param()
    return made


def fake_of(bench: Bench) -> FakeDuet:
    assert isinstance(bench.rig, DuetRig)
    return bench.rig.fake


def machine_of(bench: Bench) -> Machine:
    return fake_of(bench).machine


def run(body: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(TEST_S):
            await body()

    asyncio.run(limited())


async def answers(bench: Bench) -> bool:
    async def look() -> bool:
        return (await bench.calls.get("status")).status == 200

    return await bench.until_true("a status again", look)


async def is_ordered(bench: Bench, line: str) -> bool:
    return line in machine_of(bench).done


# --- sessions and passwords -------------------------------------------------------------------


class TestSessions:
    @on_the_bench
    async def test_a_board_with_too_many_clients_is_told_as_such_and_found_again(
        self, bench: Bench
    ) -> None:
        board = fake_of(bench).board
        strangers = [
            replace(one, used_at=asyncio.get_running_loop().time() + 60) for one in STRANGERS
        ]
        board.sessions = strangers
        refused = await bench.until_refused(CommandStatus.TOO_MANY_CLIENTS)
        board.sessions = []

        assert await answers(bench)
        assert "too many clients" in refused.error

    @on_the_bench
    async def test_a_board_that_talks_nonsense_gets_its_session_back(self, bench: Bench) -> None:
        fake_of(bench).say_next(*[b"{"] * 3)
        await bench.until_refused(NOT_CONNECTED)

        assert await answers(bench)
        assert len(fake_of(bench).board.sessions) == 1

    @on_the_bench
    async def test_a_session_that_the_board_has_forgotten_is_begun_anew(self, bench: Bench) -> None:
        fake_of(bench).board.sessions = []
        await bench.until_refused(NOT_CONNECTED)

        assert await answers(bench)


def test_a_session_is_ended_when_the_agent_ends(rig: DuetRig, tmp_path: Path) -> None:
    async def body() -> None:
        async with rig.open():
            async with adapter_at(rig, machine(rig, tmp_path)) as bench:
                await answers(bench)
                assert len(rig.fake.board.sessions) == 1
            assert rig.fake.board.sessions == []

    run(body)


@pytest.mark.parametrize("kind", [DuetRig, SbcRig])
def test_a_board_that_wants_a_password_asks_for_it(kind: type[DuetRig], tmp_path: Path) -> None:
    async def body() -> None:
        rig = kind()
        async with rig.open():
            setup = replace(machine(rig, tmp_path), password=None)
            async with adapter_at(rig, setup) as bench:
                refused = await bench.until_refused(NOT_AUTHORIZED)
        assert "asks for a password" in refused.error

    run(body)


# --- its web servers --------------------------------------------------------------------------


class TestWebServers:
    @on_the_bench
    async def test_a_board_that_is_short_of_memory_is_asked_again(self, bench: Bench) -> None:
        board = fake_of(bench).board
        board.out_of_memory = 2
        while board.out_of_memory:
            await asyncio.sleep(0.05)
            assert bench.printer.view.trouble is None


def test_dsf_3_3_has_neither_sessions_nor_passwords(tmp_path: Path) -> None:
    async def body() -> None:
        rig = SbcRig()
        async with rig.open():
            rig.fake.dsf.is_old = True
            async with adapter_at(rig, machine(rig, tmp_path)) as bench:
                await answers(bench)
                await bench.start_long()

    run(body)


def test_dsf_without_its_other_half_is_not_connected(tmp_path: Path) -> None:
    async def body() -> None:
        rig = SbcRig()
        async with rig.open():
            rig.fake.dsf.is_down = True
            async with adapter_at(rig, machine(rig, tmp_path)) as bench:
                refused = await bench.until_refused(NOT_CONNECTED)
                while "starting" not in refused.error:
                    refused = await bench.until_refused(NOT_CONNECTED)
                    await asyncio.sleep(0.05)

    run(body)


@pytest.mark.parametrize("status", [200, 404, 500])
def test_another_web_server_is_no_duet(rig: DuetRig, tmp_path: Path, status: int) -> None:
    async def body() -> None:
        async with rig.open(), _stranger(status) as port:
            setup = replace(machine(rig, tmp_path), port=port)
            async with adapter_at(rig, setup) as bench:
                refused = await bench.until_refused(NOT_CONNECTED)
                while "reached yet" in refused.error:
                    refused = await bench.until_refused(NOT_CONNECTED)
                    await asyncio.sleep(0.05)
                assert refused.error.startswith(f"The Duet at 127.0.0.1:{port} can't be reached")

    run(body)


@asynccontextmanager
async def _stranger(status: int) -> AsyncIterator[int]:
    async def answer(_call: Call) -> Answer:
        return Answer(status=status, body=b"<html>something else</html>")

    server = Server(answer, ServerLimits())
    await server.listen("127.0.0.1", 0, None)
    try:
        yield server.port
    finally:
        await server.close()


# --- orders -----------------------------------------------------------------------------------


class TestOrders:
    @on_the_bench
    async def test_a_board_says_no_in_its_own_words(self, bench: Bench) -> None:
        machine_of(bench).is_homed = False
        reply = await bench.calls.post("move-axis", {"Axis": "X", "DistanceMm": 5})

        assert (reply.status, reply.error) == (FAILED, "G1: insufficient axes homed")

    @on_the_bench
    async def test_cold_filament_is_not_moved(self, bench: Bench) -> None:
        reply = await bench.calls.post("extrude", {"Extruder": 0, "DistanceMm": 5})

        assert reply.status == FAILED
        assert "too cold" in reply.error

    @on_the_bench
    async def test_extruding_in_a_pause_leaves_the_tool_of_the_print(self, bench: Bench) -> None:
        await bench.start_hot()
        await bench.calls.post("pause")
        await bench.until(State.PAUSED)
        machine_of(bench).heaters[2].current = 220.0
        machine_of(bench).heaters[2].heat(220.0)

        async def is_taken() -> bool:  # once it is known to be hot
            reply = await bench.calls.post("extrude", {"Extruder": 1, "DistanceMm": 5})
            return reply.status == 200

        await bench.until_true("a hot extruder", is_taken)
        assert machine_of(bench).current_tool == 0
        assert "T1" in machine_of(bench).done

    @on_the_bench
    async def test_a_name_with_quotes_is_printed(self, bench: Bench) -> None:
        path = await bench.upload("it's A part.gcode", b"; seconds 600\n")

        assert (await bench.calls.post("start", {"Path": path})).status == 200
        await bench.until(State.PRINTING)

    @on_the_bench
    async def test_a_cancel_shows_no_pause_to_anybody(self, bench: Bench) -> None:
        await bench.start_long()
        states = set()
        cancelling = asyncio.create_task(bench.calls.post("cancel"))
        while State.CANCELLED not in states:
            states.add(bench.printer.view.job.state)
            await asyncio.sleep(0.01)

        assert (await cancelling).status == 200
        assert states == {State.PRINTING, State.CANCELLED}
        assert [line for line in machine_of(bench).done if line in ("M25", "M0")] == ["M25", "M0"]


# --- smart pause ------------------------------------------------------------------------------

SMART = {"SmartPause": True, "DisableBed": True, "RetractFilamentMm": 3, "ZLiftMm": 4}


async def rest(bench: Bench) -> None:
    await bench.start_hot()
    assert (await bench.calls.post("pause", SMART)).status == 200


class TestSmartPause:
    @on_the_bench
    async def test_a_resume_waits_for_heat_and_gives_the_filament_back(self, bench: Bench) -> None:
        await rest(bench)
        done = machine_of(bench).done
        resting = done[done.index("M25") + 1 :]
        assert (await bench.calls.post("resume")).status == 200
        await bench.until(State.PRINTING)
        waking = done[done.index("M25") + 1 + len(resting) :]

        retract = ["M120", "G91", "M83", "G1 E-3 F1200", "G1 Z4 F300", "M121"]
        assert resting == [*retract, "M568 P0 A0", "M140 S0"]
        give_back = ["M120", "G91", "M83", "G1 E3 F1200", "M121"]
        assert waking == ["M568 P0 A2", "M140 S60", *give_back, "M24"]

    @on_the_bench
    async def test_a_print_that_is_resumed_at_the_printer_gets_its_heat_back(
        self, bench: Bench
    ) -> None:
        await rest(bench)
        machine_of(bench).order("M24")
        await bench.until_true("heat", lambda: is_ordered(bench, "M568 P0 A2"))
        await bench.until(State.PRINTING)

        assert machine_of(bench).heaters[1].target == 200.0
        assert machine_of(bench).done.count("M25") == 2


def test_a_rest_outlives_the_agent(rig: DuetRig, tmp_path: Path) -> None:
    async def body() -> None:
        async with rig.open():
            setup: PrinterSetup = machine(rig, tmp_path)
            async with adapter_at(rig, setup) as bench:
                await answers(bench)
                await rest(bench)
            async with adapter_at(rig, setup) as bench:
                await answers(bench)
                await bench.until(State.PAUSED)
                assert (await bench.calls.post("resume")).status == 200
                await bench.until(State.PRINTING)
                assert rig.fake.machine.heaters[1].target == 200.0
                assert rig.fake.machine.heaters[0].target == 60.0

    run(body)


# --- files ------------------------------------------------------------------------------------


class TestFiles:
    @on_the_bench
    async def test_a_long_list_comes_in_parts(self, bench: Bench) -> None:
        names = {f"part {number}.gcode" for number in range(8)}
        for name in names:
            machine_of(bench).keep(f"0:/gcodes/{name}", b"G28\n")
        listed = (await bench.calls.get("files/list")).result["Root"]

        assert {entry["Name"] for entry in listed} == names

    @on_the_bench
    async def test_the_boards_settings_are_files_too(self, bench: Bench) -> None:
        machine_of(bench).keep("0:/sys/config.g", b'M550 P"tower"\n')
        listed = (await bench.calls.get("files/list", root="config")).result["Root"]

        assert [entry["PlatformPath"] for entry in listed] == ["0:/sys/config.g"]

    @on_the_bench
    async def test_a_name_that_an_sd_card_cannot_hold_is_a_wrong_argument(
        self, bench: Bench
    ) -> None:
        for name in ("a:b.gcode", 'say "a".gcode', "what?.gcode"):
            reply = await bench.calls.put("files/upload", [b"G28"], 3, f"gcode/{name}")
            assert reply.status == BAD_ARGUMENTS

    @on_the_bench
    async def test_what_a_page_says_of_a_refusal_is_told_without_the_page(
        self, bench: Bench
    ) -> None:
        name = "ü" * 700 + ".gcode"
        reply = await bench.calls.put("files/upload", [b"G28"], 3, f"gcode/{name}")

        assert reply.status == FAILED
        assert reply.error == "Your Duet rejected the HTTP request: overflow"


class TestEither:
    @pytest.fixture
    def rig(self, either: DuetRig) -> DuetRig:
        return either

    @on_the_bench
    async def test_half_an_upload_leaves_the_file_that_was_there(self, bench: Bench) -> None:
        path = await bench.upload("kept.gcode", b"; the old one\n")
        asked = bench.calls.begin_put("files/upload", 1000, path)
        asked.stream.send(b"; the new one\n")
        await asyncio.sleep(0.2)
        asked.leave()
        await asyncio.sleep(0.5)

        async def the_old_one_alone() -> bool:
            return machine_of(bench).files == {"0:/gcodes/kept.gcode": b"; the old one\n"}

        await bench.until_true("the old file alone", the_old_one_alone)
