"""The contract suite on the real PrusaLink, with the board of an MK3S simulated."""

import pytest

from tests.printers.contract import PrinterContract

pytestmark = [pytest.mark.peer, pytest.mark.slow]


class TestPrusaLink(PrinterContract):
    pass
