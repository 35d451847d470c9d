"""What the network does between agent and printer, as the printer's refusals.

where: how people are told of the printer, such as "The Duet at 192.168.1.5".
"""

from collections.abc import Iterator
from contextlib import contextmanager

from printreach.contract.commands import CommandStatus
from printreach.http1.client import ExchangeFailure
from printreach.http1.fetch import FetchFailed

from .port import PrinterRefused


def unreachable(where: str, why: str) -> PrinterRefused:
    """785. why: ends the sentence."""
    return PrinterRefused(CommandStatus.NOT_CONNECTED, f"{where} can't be reached: {why}.")


def late(where: str) -> PrinterRefused:
    return PrinterRefused(CommandStatus.TIMED_OUT, f"{where} gave no answer in time.")


@contextmanager
def reaching(where: str) -> Iterator[None]:
    """Raises PrinterRefused for what a request over HTTP fails with."""
    try:
        yield
    except FetchFailed as exc:
        if exc.failure is ExchangeFailure.TIMED_OUT:
            raise late(where) from exc
        raise unreachable(where, exc.text) from exc
