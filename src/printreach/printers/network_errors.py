"""Turns network errors between agent and printer into PrinterRefused.

where: the printer's name in sentences, such as "The Duet at 192.168.1.5".
"""

from collections.abc import Iterator
from contextlib import contextmanager

from printreach.contract.commands import CommandStatus
from printreach.http1.client import ExchangeFailure
from printreach.http1.fetch import FetchFailed

from .port import PrinterRefused


def unreachable(where: str, why: str) -> PrinterRefused:
    """Return a refusal with 785. why: the end of the sentence."""
    return PrinterRefused(CommandStatus.NOT_CONNECTED, f"{where} can't be reached: {why}.")


def timed_out(where: str) -> PrinterRefused:
    return PrinterRefused(CommandStatus.TIMED_OUT, f"{where} gave no answer in time.")


@contextmanager
def as_refusals(where: str) -> Iterator[None]:
    """Turn a failure of an HTTP request into PrinterRefused."""
    try:
        yield
    except FetchFailed as exc:
        if exc.failure is ExchangeFailure.TIMED_OUT:
            raise timed_out(where) from exc
        raise unreachable(where, exc.text) from exc
