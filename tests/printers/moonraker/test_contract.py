"""The contract suite on Klipper through Moonraker."""

import pytest

from tests.printers.contract import PrinterContract

pytestmark = [pytest.mark.peer, pytest.mark.slow]


class TestMoonraker(PrinterContract):
    pass
