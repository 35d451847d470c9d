"""The contract suite on the fake Duet, by itself and with DSF."""

import pytest

from tests.printers.contract import PrinterContract
from tests.printers.duet.rig import DuetRig, SbcRig

pytestmark = pytest.mark.slow


@pytest.fixture(params=[DuetRig, SbcRig], scope="module")
def rig(request: pytest.FixtureRequest) -> DuetRig:
    made: DuetRig = request.param()
    return made


class TestDuet(PrinterContract):
    pass
