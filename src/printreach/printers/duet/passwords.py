"""A Duet's password, in requests and in sentences."""

from urllib.parse import quote

from printreach.contract.commands import CommandStatus
from printreach.printers.port import PrinterRefused
from printreach.printers.setup import PrinterSetup

NONE_SET = "reprap"
"""The password of a board that has none; firmware requires the parameter in any case."""


def password_of(setup: PrinterSetup) -> str:
    """Return the password as part of a query."""
    return quote(setup.password or NONE_SET, safe="")


def refused(where: str, setup: PrinterSetup) -> PrinterRefused:
    sentence = f"{where} refuses the agent's password."
    if not setup.password:
        sentence = (
            f"{where} asks for a password, and the agent has none:"
            " it is given in PRINTREACH_PRINTER_PASSWORD."
        )
    return PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)
