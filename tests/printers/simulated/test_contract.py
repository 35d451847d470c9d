"""The contract suite on the simulated printer."""

import pytest

from tests.printers.bench import Bench, on_the_bench
from tests.printers.contract import PrinterContract
from tests.printers.rig import PrinterRig
from tests.printers.simulated.contract_rig import SimulatedRig

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> PrinterRig:
    return SimulatedRig(tmp_path_factory.mktemp("gcode"))


class TestSimulated(PrinterContract):
    @pytest.mark.parametrize(
        "command", ["webcam/snapshot", "webcam/stream", "nothing", "logs/agent"]
    )
    @on_the_bench
    async def test_who_asks_for_the_head_gets_no_body(self, bench: Bench, command: str) -> None:
        reply = await bench.calls.ask(b"HEAD", command).reply()

        assert reply.http_status == 200
        assert reply.body == b""
