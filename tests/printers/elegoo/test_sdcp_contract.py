"""The contract suite on the fake Centauri Carbon, which speaks SDCP."""

import asyncio

import pytest

from printreach.contract.events import EventType as E
from tests.printers.bench import Bench, on_the_bench
from tests.printers.contract import PrinterContract
from tests.printers.contract_events import watched
from tests.printers.elegoo.sdcp_rig import SdcpRig
from tests.printers.print_file import PrintFile

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rig() -> SdcpRig:
    return SdcpRig()


class TestSdcp(PrinterContract):
    @on_the_bench
    async def test_a_print_that_ends_within_a_second_is_told(self, bench: Bench) -> None:
        async with watched(bench) as events:
            await asyncio.sleep(0.2)  # the tracker polls again a second after it began
            await bench.start(PrintFile("brief.gcode", b"; seconds 0\n"))
            await events.until(E.COMPLETE)

            assert events.milestones == [E.STARTED, E.COMPLETE]
