"""The contract suite: what every adapter does alike, whatever its platform.

How to use it, in `tests/printers/<kind>/test_contract.py`:

    class OctoPrintRig(PrinterRig): ...      # tests/printers/rig.py says what a rig provides

    @pytest.fixture(scope="module")
    def rig(...) -> Iterator[PrinterRig]: ...

    class TestOctoPrint(PrinterContract):
        pass

Each test gets a fresh bench (tests/printers/bench.py): `rig.open()` is entered in the test's own
event loop, an adapter is made and run, and `bench.calls` asks its command API (through a tunnel
in this process; tests/printers/asking.py), so that envelopes and codes are tested as apps see
them. What a platform can't do is told by the rig's class attributes (features, heaters,
has_camera...) and expected to be refused with 788, not skipped.

The parts can be used alone while an adapter grows: StatusContract, PrintContract, EventContract,
ControlContract, FileContract, CameraContract, TroubleContract, OperationContract,
PauseContract, LockContract.
"""

from tests.printers.contract_cameras import CameraContract
from tests.printers.contract_controls import ControlContract
from tests.printers.contract_events import EventContract
from tests.printers.contract_files import FileContract
from tests.printers.contract_locks import LockContract
from tests.printers.contract_operations import OperationContract
from tests.printers.contract_pauses import PauseContract
from tests.printers.contract_prints import PrintContract
from tests.printers.contract_status import StatusContract
from tests.printers.contract_trouble import TroubleContract

__all__ = ["PrinterContract"]


class PrinterContract(
    StatusContract,
    PrintContract,
    EventContract,
    ControlContract,
    FileContract,
    CameraContract,
    TroubleContract,
    OperationContract,
    PauseContract,
    LockContract,
):
    """All parts."""
