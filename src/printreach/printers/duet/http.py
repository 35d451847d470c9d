"""Asking a Duet's web server. Every failure is a PrinterRefused."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn
from urllib.parse import quote

from printreach.contract.commands import CommandStatus
from printreach.http1.fetch import FetchedAnswer, Fetcher, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import as_refusals, connect_to, read_answer, unreachable
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_LIST_BYTES = 32 * 1024 * 1024
MAX_WORDS = 200
TAG = re.compile(r"<[^>]*>")
TIMEOUT_S = 6.0
"""The timeout of frequent requests."""
SLOW_TIMEOUT_S = 24.0
"""The timeout of slow requests: reading a large file's metadata, ending an upload."""
NONE_SET = "reprap"
"""The password of a board that has none; firmware requires the parameter in any case."""


class NotFound(PrinterRefused):
    """404: what it means, the caller knows."""


class MalformedAnswer(PrinterRefused):
    """785: an invalid answer, as from a board that runs short of memory."""


class DuetHttp:
    """A board's web server. where: its name in sentences. session_key: sent once there is one."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.where = f"The Duet at {setup.authority}"
        self.session_key: str | None = None
        connect = connect_to(setup.host, setup.port, tls=setup.tls)
        host = setup.authority.encode()
        self._quick = Fetcher(connect, host, first_byte_s=TIMEOUT_S)
        self._patient = Fetcher(connect, host, first_byte_s=SLOW_TIMEOUT_S)

    async def close(self) -> None:
        await self._quick.close()
        await self._patient.close()

    async def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        kind: bytes = b"text/plain",
        is_slow: bool = False,
        at_most: int = MAX_ANSWER_BYTES,
    ) -> FetchedAnswer:
        """Return any answer, refusals too. kind: the Content-Type of the body."""
        fetcher = self._patient if is_slow else self._quick
        headers = [*self._headers, (b"Content-Type", kind)] if body else self._headers
        with as_refusals(self.where):
            return await fetcher.fetch(
                method.encode(), target.encode("ascii"), headers, body, at_most=at_most
            )

    async def get(
        self, target: str, *, is_slow: bool = False, at_most: int = MAX_ANSWER_BYTES
    ) -> object:
        """Return the answer's JSON; None if it is not JSON."""
        answer = await self.ask("GET", target, is_slow=is_slow, at_most=at_most)
        return loose.parsed(self.accept(answer).body)

    @asynccontextmanager
    async def open(self, target: str) -> AsyncIterator[OpenAnswer]:
        """Open a download. Raises NotFound."""
        with as_refusals(self.where):
            opened = self._patient.open(b"GET", target.encode("ascii"), self._headers)
            async with opened as answer:
                if answer.status != 200:
                    self._refuse(FetchedAnswer(answer.status, answer.headers, b""))
                yield answer

    async def send(
        self, method: str, target: str, length: int | None, chunks: AsyncIterator[bytes]
    ) -> FetchedAnswer:
        """Send a body as it comes. An exception from the chunks ends the request."""
        headers = [*self._headers, (b"Content-Type", b"application/octet-stream")]
        with as_refusals(self.where):
            sending = self._patient.send(
                method.encode(), target.encode("ascii"), headers, chunks, length=length
            )
            async with sending as answer:
                received = await read_answer(answer, MAX_ANSWER_BYTES)
        return self.accept(received)

    def accept(self, answer: FetchedAnswer) -> FetchedAnswer:
        if not 200 <= answer.status < 300:
            self._refuse(answer)
        return answer

    def garbled(self) -> MalformedAnswer:
        sentence = f"{self.where} gives answers that make no sense."
        return MalformedAnswer(CommandStatus.NOT_CONNECTED, sentence)

    @property
    def _headers(self) -> Headers:
        if self.session_key is None:
            return []
        return [(b"X-Session-Key", self.session_key.encode("ascii", "replace"))]

    def _refuse(self, answer: FetchedAnswer) -> NoReturn:
        """Raise what a status means. 401 is RepRapFirmware's, 403 and 502 are DSF's."""
        if answer.status == 404:
            raise NotFound(CommandStatus.NOT_FOUND, f"{self.where} has no such thing.")
        if answer.status in (401, 403):
            raise unreachable(self.where, "it has ended the agent's session")
        if answer.status in (502, 503):
            raise unreachable(self.where, "it is starting, or too busy to answer")
        text = TAG.sub(" ", answer.body.decode("utf-8", "replace"))
        words = " ".join(text.split())[:MAX_WORDS]
        raise failed(words or f"{self.where} answered {answer.status}.")


def password_of(setup: PrinterSetup) -> str:
    """Return the password as part of a query."""
    return quote(setup.password or NONE_SET, safe="")


def password_refused(where: str, setup: PrinterSetup) -> PrinterRefused:
    sentence = f"{where} refuses the agent's password."
    if not setup.password:
        sentence = (
            f"{where} asks for a password, and the agent has none:"
            " it is given in PRINTREACH_PRINTER_PASSWORD."
        )
    return PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)
