"""The contract suite on the fake Centauri Carbon 2."""

import pytest

from tests.printers.contract import PrinterContract
from tests.printers.elegoo.cc2_rig import Cc2Rig

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@pytest.fixture
def rig(cc2_rig: Cc2Rig) -> Cc2Rig:
    return cc2_rig


class TestCc2(PrinterContract):
    pass
