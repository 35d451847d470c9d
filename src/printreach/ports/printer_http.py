"""Requests of a page or a worker to a printer's command API, and keys of its own software."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from printreach.rules.printers import OwnedPrinter

NO_QUERY: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PrinterRefusal:
    """The printer was not reached, or refused.

    code: the service's own (601, 602, 612, ...), or the command's status (404, 504, 75x, 78x).
    sentence: for people; it may be the printer's own. features: bits of the orders that it takes
    all the same.
    """

    code: int
    sentence: str
    features: int = 0


@dataclass(frozen=True, slots=True)
class PrinterAnswer:
    """A raw answer under way: a file, a picture, or a stream of pictures.

    length: None if it is unknown. chunks: they may be read once, while the answer is open; reading
    raises PrinterAnswerBroken.
    """

    content_type: str
    length: int | None
    chunks: AsyncIterator[bytes]


class PrinterAnswerBroken(Exception):
    """An answer broke off before its end; the message says how."""


class PrinterHttp(Protocol):
    """Requests to printers through the relay, each with a short-lived internal grant.

    printer: with its owner; once another account has it, a request is refused, and one under way
    ends. command: a path of the command API, such as "/status". despite_lock: for stopping
    printers, which a lock of remote control must not prevent.
    """

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        """Return the whole envelope of a success, as JSON."""
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
        """Carry out a command; return the whole envelope of its success. arguments: as JSON."""
        ...

    def open(
        self, printer: OwnedPrinter, command: str, query: Mapping[str, str] = NO_QUERY
    ) -> AbstractAsyncContextManager[PrinterAnswer | PrinterRefusal]:
        """Open a raw answer. Leaving the context ends it at the printer, too."""
        ...

    async def send(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str],
        chunks: AsyncIterable[bytes],
        length: int | None,
    ) -> bytes | PrinterRefusal:
        """Upload a body in pieces; return the whole envelope of its success.

        length: of the whole, if it is known. An exception from the pieces ends the upload.
        """
        ...


class HostKeys(Protocol):
    """Keys of a printer's own software, OctoPrint or Moonraker, created by the printer's agent."""

    async def make(self, printer_id: str, app_name: str) -> str | None:
        """Return a key for that app within half a minute; None if there is none, for any reason."""
        ...
