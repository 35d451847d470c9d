"""A page's or a worker's own request to a printer's command API."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from printreach.rules.printers import OwnedPrinter

NO_QUERY: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PrinterRefusal:
    """The printer was not reached, or said no.

    code: the service's own (601, 602, 612, ...), or the command's status (404, 504, 75x, 78x).
    sentence: for people; it may be the printer's own.
    """

    code: int
    sentence: str


@dataclass(frozen=True, slots=True)
class PrinterAnswer:
    """A raw answer under way: a file or a picture, or pictures without end.

    length: None where it isn't known. chunks: they may be read once, while the answer is open;
    reading raises PrinterAnswerBroken.
    """

    content_type: str
    length: int | None
    chunks: AsyncIterator[bytes]


class PrinterAnswerBroken(Exception):
    """An answer broke off before its end; the message says how."""


class PrinterHttp(Protocol):
    """Requests to printers through the relay, each with a grant that is short-lived and internal.

    printer: as its owner's; once another account has it, a request is refused, and one that is
    under way ends. command: a path of the command API, such as "/status". despite_lock: for what
    stops printers, which a lock of remote control must not keep from it.
    """

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        """The whole envelope of a success, as JSON."""
        ...

    async def order(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        arguments: bytes = b"",
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        """Have a command carried out; the whole envelope of its success. arguments: as JSON."""
        ...

    def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AbstractAsyncContextManager[PrinterAnswer | PrinterRefusal]:
        """Read a raw answer as it comes. Leaving ends it at the printer, too."""
        ...

    async def send(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str],
        chunks: AsyncIterable[bytes],
        length: int | None,
    ) -> bytes | PrinterRefusal:
        """Upload a body that comes in pieces; the whole envelope of its success.

        length: of the whole, where it is known. What the pieces raise ends the upload.
        """
        ...
