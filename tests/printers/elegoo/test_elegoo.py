"""Special features of Elegoo printers: refused logins, and gaps of the connection."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from printreach.contract.commands import CommandStatus
from printreach.printers.elegoo.adapter import make
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup
from tests.printers.bench import TEST_S, Bench, adapter_at, machine, on_the_bench
from tests.printers.elegoo.cc2_rig import Cc2Rig
from tests.printers.elegoo.sdcp_rig import SdcpRig
from tests.printers.stopping import ends_when_stopped_as_a_broker_answers
from tests.rigs.waiting import free_port


class AskingRig(Cc2Rig):
    """Its adapter is told neither access code nor serial number."""

    def make(self, setup: PrinterSetup) -> Printer:
        ports = {"sdcp": free_port(), "uploads": 1, "mqtt": self.broker.port}
        return make(replace(setup, access_code=None, serial=None, ports=ports))


class TestSdcp:
    @pytest.fixture
    def rig(self) -> SdcpRig:
        return SdcpRig()

    @on_the_bench
    async def test_a_printer_with_too_many_clients_is_told_as_such(self, bench: Bench) -> None:
        assert isinstance(bench.rig, SdcpRig)
        bench.rig.fake.refuses = True
        await bench.rig.disconnect()
        await bench.rig.reconnect()

        await bench.until_refused(CommandStatus.TOO_MANY_CLIENTS)

    @on_the_bench
    async def test_an_axis_is_moved_by_a_step(self, bench: Bench) -> None:
        assert isinstance(bench.rig, SdcpRig)
        for axis, distance_mm in (("X", 10), ("Z", -0.5)):
            order = {"Axis": axis, "DistanceMm": distance_mm}
            assert (await bench.calls.post("move-axis", order)).result == {}

        assert bench.rig.fake.machine.moved == [("X", 10), ("Z", -0.5)]

    @on_the_bench
    async def test_a_printer_that_pushes_nothing_is_asked(self, bench: Bench) -> None:
        assert isinstance(bench.rig, SdcpRig)
        bench.rig.fake.is_quiet = True

        await bench.start_long()


@pytest.mark.peer
class TestCc2:
    @pytest.fixture
    def rig(self, cc2_rig: Cc2Rig) -> Cc2Rig:
        return cc2_rig

    @on_the_bench
    async def test_everything_is_asked_for_again_when_news_were_missed(self, bench: Bench) -> None:
        assert isinstance(bench.rig, Cc2Rig)
        await bench.start_long()
        asked = bench.rig.fake.full_asked
        bench.rig.fake.skips = 1

        async def is_asked() -> bool:
            assert isinstance(bench.rig, Cc2Rig)
            return bench.rig.fake.full_asked > asked

        await bench.until_true("the full status", is_asked)

    @on_the_bench
    async def test_a_printer_with_too_many_clients_is_told_as_such(self, bench: Bench) -> None:
        assert isinstance(bench.rig, Cc2Rig)
        bench.rig.fake.refuses = True
        await bench.rig.disconnect()
        await bench.rig.reconnect()

        await bench.until_refused(CommandStatus.TOO_MANY_CLIENTS)

    @pytest.mark.parametrize("turns", range(3))
    def test_what_is_stopped_as_the_printer_lets_it_in_ends(
        self, rig: Cc2Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
    ) -> None:
        async def body() -> None:
            async with rig.open():
                await ends_when_stopped_as_a_broker_answers(rig, tmp_path, monkeypatch, turns)

        rig.run(body())

    def test_one_without_access_code_asks_for_it(self, rig: Cc2Rig, tmp_path: Path) -> None:
        async def body() -> None:
            asking = AskingRig(rig.broker)
            async with (
                asyncio.timeout(TEST_S),
                asking.open(),
                adapter_at(asking, machine(asking, tmp_path)) as bench,
            ):
                refused = await bench.until_refused(CommandStatus.NOT_AUTHORIZED)
                assert "serial number" in refused.error

        rig.run(body())
