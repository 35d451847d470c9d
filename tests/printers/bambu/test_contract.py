"""The contract suite on the fake Bambu Lab printer."""

import pytest

from tests.printers.contract import PrinterContract

pytestmark = [pytest.mark.peer, pytest.mark.slow]


class TestBambu(PrinterContract):
    pass
