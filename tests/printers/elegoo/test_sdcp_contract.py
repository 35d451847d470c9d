"""The contract suite on the fake Centauri Carbon, which speaks SDCP."""

import pytest

from tests.printers.contract import PrinterContract
from tests.printers.elegoo.sdcp_rig import SdcpRig

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rig() -> SdcpRig:
    return SdcpRig()


class TestSdcp(PrinterContract):
    pass
