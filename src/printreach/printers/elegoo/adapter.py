"""An Elegoo printer: its settings tell which of the two protocols it speaks."""

from printreach.printers.elegoo.cc2 import Cc2Printer
from printreach.printers.elegoo.sdcp import SdcpPrinter
from printreach.printers.port import Printer
from printreach.printers.setup import PrinterSetup


def make(setup: PrinterSetup) -> Printer:
    """Make the adapter. Only the Centauri Carbon 2 has an access code and needs its serial number.

    One of which neither is known is tried with SDCP, and asks for them when it turns out not to
    speak that.
    """
    if setup.access_code or setup.serial:
        return Cc2Printer(setup)
    return SdcpPrinter(setup)
