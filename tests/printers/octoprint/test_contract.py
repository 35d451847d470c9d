"""The contract suite on OctoPrint with its virtual printer."""

import pytest

from tests.printers.contract import PrinterContract

pytestmark = [pytest.mark.peer, pytest.mark.slow]


class TestOctoPrint(PrinterContract):
    pass
