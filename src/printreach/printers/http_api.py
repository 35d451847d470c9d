"""A printer's API over HTTP. Every failure is a PrinterRefused."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from printreach.contract.commands import CommandStatus
from printreach.contract.files import JsonObject
from printreach.http1.fetch import FetchedAnswer, Fetcher, OpenAnswer
from printreach.languages import N_, in_english
from printreach.wire.heads import Headers

from . import loose
from .connecting import as_refusals, connect_to, download_of, read_answer, unreachable
from .port import Download, PrinterRefused, failed, no_such_file
from .setup import PrinterSetup

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_WORDS = 200
"""The most characters of a printer's own words that a person is shown."""
_JSON_BODY = (b"Content-Type", b"application/json")


class NotFound(PrinterRefused):
    """404. The caller knows what is missing."""


@contextmanager
def as_no_such_file(path: str) -> Iterator[None]:
    """Let 404 mean that the printer has no file of that path."""
    try:
        yield
    except NotFound:
        raise no_such_file(path) from None


class Conflict(PrinterRefused):
    """409: the printer's state doesn't allow it."""


class HttpApi:
    """One printer's API. where: its name in sentences, which tell of its host, too. Targets are
    percent-encoded.
    """

    def __init__(
        self,
        setup: PrinterSetup,
        where: str,
        *,
        host: bytes | None = None,
        first_byte_s: float = 20.0,
    ) -> None:
        """host: of the Host line, where it isn't that of the setup as it stands."""
        self.where = in_english(where, host=setup.authority)
        self.host = host or setup.authority.encode()
        self.connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self._fetcher = Fetcher(self.connect, self.host, first_byte_s=first_byte_s)

    async def close(self) -> None:
        await self._fetcher.close()

    # --- what differs between platforms -----------------------------------------------------------

    def credentials(self, method: str, target: str) -> Headers:  # noqa: ARG002  # of any request
        """Return the headers by which the agent is known."""
        return []

    @property
    def denied(self) -> str:
        """The sentence for a request whose credentials are refused."""
        return in_english("%(where)s refuses the agent.", where=self.where)

    def words_of(self, answer: FetchedAnswer) -> str:  # noqa: ARG002  # none that are known
        """Return the printer's reason for a refusal as a sentence; "" where it gives none."""
        return ""

    async def renew_credentials(self) -> None:
        """Called before a long body: one that is refused can't be sent again."""
        return

    # --- requests ---------------------------------------------------------------------------------

    async def get(self, target: str, *, at_most: int = MAX_ANSWER_BYTES) -> object:
        """Return the answer's JSON; None if it is not JSON."""
        return loose.parsed(self.accept(await self.ask("GET", target, at_most=at_most)).body)

    async def post(self, target: str, body: JsonObject | None = None) -> object:
        """body: None for none, of which no type is told: PrusaLink 0.8.1 would wait for it."""
        encoded = b"" if body is None else json.dumps(body).encode()
        headers = [] if body is None else [_JSON_BODY]
        answer = await self.ask("POST", target, encoded, headers=headers)
        return loose.parsed(self.accept(answer).body)

    async def put(self, target: str, headers: Headers | None = None) -> None:
        self.accept(await self.ask("PUT", target, headers=headers))

    async def delete(self, target: str, headers: Headers | None = None) -> None:
        self.accept(await self.ask("DELETE", target, headers=headers))

    async def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        headers: Headers | None = None,
        at_most: int = MAX_ANSWER_BYTES,
        fetcher: Fetcher | None = None,
    ) -> FetchedAnswer:
        """Return any answer, refusals too. fetcher: another one than the usual."""
        sent = [*self.credentials(method, target), *(headers or ())]
        with as_refusals(self.where):
            return await (fetcher or self._fetcher).fetch(
                method.encode(), target.encode("ascii"), sent, body, at_most=at_most
            )

    @asynccontextmanager
    async def open(self, target: str) -> AsyncIterator[OpenAnswer]:
        """Open a download. Raises NotFound."""
        await self.renew_credentials()
        headers = self.credentials("GET", target)
        with as_refusals(self.where):
            async with self._fetcher.open(b"GET", target.encode("ascii"), headers) as answer:
                if answer.status != 200:
                    raise self.refusal(FetchedAnswer(answer.status, answer.headers, b""))
                yield answer

    @asynccontextmanager
    async def download(self, target: str, path: str) -> AsyncIterator[Download]:
        """Open a download of the file of that path. Raises PrinterRefused (404)."""
        with as_no_such_file(path):
            async with self.open(target) as answer:
                yield download_of(answer, self.where)

    async def upload(
        self,
        method: str,
        target: str,
        headers: Headers,
        length: int | None,
        chunks: AsyncIterator[bytes],
        *,
        fetcher: Fetcher | None = None,
    ) -> FetchedAnswer:
        """Send a body as it comes. An exception from the chunks ends the request.

        length: in bytes; None where it isn't known.
        """
        await self.renew_credentials()
        sent = [*self.credentials(method, target), *headers]
        with as_refusals(self.where):
            sending = (fetcher or self._fetcher).send(
                method.encode(), target.encode("ascii"), sent, chunks, length=length
            )
            async with sending as answer:
                received = await read_answer(answer, MAX_ANSWER_BYTES)
        return self.accept(received)

    # --- answers ----------------------------------------------------------------------------------

    def accept(self, answer: FetchedAnswer) -> FetchedAnswer:
        """Raises PrinterRefused for any answer but a success."""
        if not 200 <= answer.status < 300:
            raise self.refusal(answer)
        return answer

    def refusal(self, answer: FetchedAnswer) -> PrinterRefused:
        """Return what a status means."""
        sentence = self.words_of(answer) or in_english(
            "%(where)s answered %(status)s.", where=self.where, status=answer.status
        )
        match answer.status:
            case 401 | 403:
                return PrinterRefused(CommandStatus.NOT_AUTHORIZED, self.denied)
            case 404:
                return NotFound(
                    CommandStatus.NOT_FOUND,
                    in_english("%(where)s has no such thing.", where=self.where),
                )
            case 409:
                return Conflict(CommandStatus.EXECUTION_FAILED, sentence)
            case 502 | 503 | 504:  # its reverse proxy may answer in its place
                return unreachable(self.where, N_("it is starting, or not running"))
        return failed(sentence)


class KeyedApi(HttpApi):
    """An API to which the agent is known by an API key, if it was given one."""

    def __init__(self, setup: PrinterSetup, where: str, *, host: bytes | None = None) -> None:
        super().__init__(setup, where, host=host)
        key = setup.api_key
        self.headers: Headers = [(b"X-Api-Key", key.encode())] if key else []

    def credentials(self, method: str, target: str) -> Headers:  # noqa: ARG002  # of any request
        return self.headers

    @property
    def denied(self) -> str:
        if not self.headers:
            return in_english(
                "%(where)s asks for an API key, and the agent has none: it is given in"
                " PRINTREACH_PRINTER_API_KEY.",
                where=self.where,
            )
        return in_english("%(where)s refuses the agent's API key.", where=self.where)
