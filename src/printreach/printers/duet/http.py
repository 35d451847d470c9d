"""Asking a Duet's web server. Every failure is a PrinterRefused."""

import re
from urllib.parse import quote

from printreach.contract.commands import CommandStatus
from printreach.http1.fetch import FetchedAnswer, Fetcher
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import unreachable
from printreach.printers.http_api import MAX_WORDS, HttpApi
from printreach.printers.port import PrinterRefused
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

MAX_LIST_BYTES = 32 * 1024 * 1024
TAG = re.compile(r"<[^>]*>")
TIMEOUT_S = 6.0
"""The timeout of most requests."""
SLOW_TIMEOUT_S = 24.0
"""The timeout of slow requests: reading a large file's metadata, ending an upload."""
BINARY = (b"Content-Type", b"application/octet-stream")
NONE_SET = "reprap"
"""The password of a board that has none; firmware requires the parameter in any case."""


class MalformedAnswer(PrinterRefused):
    """785: an invalid answer, as from a board that runs short of memory."""


class DuetHttp(HttpApi):
    """A board's web server. session_key: sent once there is one."""

    def __init__(self, setup: PrinterSetup) -> None:
        super().__init__(setup, N_("The Duet at %(host)s"), first_byte_s=SLOW_TIMEOUT_S)
        self.session_key: str | None = None
        self._quick = Fetcher(self.connect, self.host, first_byte_s=TIMEOUT_S)

    async def close(self) -> None:
        await self._quick.close()
        await super().close()

    def credentials(self, method: str, target: str) -> Headers:  # noqa: ARG002  # of any request
        if self.session_key is None:
            return []
        return [(b"X-Session-Key", self.session_key.encode("ascii", "replace"))]

    async def ask_quickly(
        self, method: str, target: str, body: bytes = b"", *, headers: Headers | None = None
    ) -> FetchedAnswer:
        """Return any answer to a request that takes no time, refusals too."""
        return await self.ask(method, target, body, headers=headers, fetcher=self._quick)

    async def get_quickly(self, target: str) -> object:
        """Return the answer's JSON; None if it is not JSON."""
        return loose.parsed(self.accept(await self.ask_quickly("GET", target)).body)

    def garbled(self) -> MalformedAnswer:
        sentence = in_english("%(where)s gives answers that make no sense.", where=self.where)
        return MalformedAnswer(CommandStatus.NOT_CONNECTED, sentence)

    def words_of(self, answer: FetchedAnswer) -> str:
        text = TAG.sub(" ", answer.body.decode("utf-8", "replace"))
        return " ".join(text.split())[:MAX_WORDS]

    def refusal(self, answer: FetchedAnswer) -> PrinterRefused:
        """401 is RepRapFirmware's, 403 and 502 are DSF's."""
        if answer.status in (401, 403):
            return unreachable(self.where, N_("it has ended the agent's session"))
        if answer.status in (502, 503):
            return unreachable(self.where, N_("it is starting, or too busy to answer"))
        return super().refusal(answer)


def password_of(setup: PrinterSetup) -> str:
    """Return the password as part of a query."""
    return quote(setup.password or NONE_SET, safe="")


def password_refused(where: str, setup: PrinterSetup) -> PrinterRefused:
    sentence = in_english("%(where)s refuses the agent's password.", where=where)
    if not setup.password:
        sentence = in_english(
            "%(where)s asks for a password, and the agent has none: it is given in"
            " PRINTREACH_PRINTER_PASSWORD.",
            where=where,
        )
    return PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence)
