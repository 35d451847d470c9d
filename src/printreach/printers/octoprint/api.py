"""OctoPrint's REST API, asked over HTTP. Every failure is a PrinterRefused."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from printreach.contract.commands import CommandStatus
from printreach.contract.files import JsonObject
from printreach.http1.fetch import FetchedAnswer, Fetcher, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import as_refusals, connect_to, read_answer, unreachable
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_LIST_BYTES = 64 * 1024 * 1024
"""A list of ten thousand files with their analysis takes about 20 MB."""
MAX_WORDS = 200
DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials of a push channel. roles: what the key may do."""

    auth: str = field(repr=False)
    roles: frozenset[str] = frozenset()


class NotFound(PrinterRefused):
    """404: what it means, the caller knows."""


class OctoPrintApi:
    """OctoPrint's REST API with the agent's key. where: its name in sentences."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.where = f"OctoPrint at {setup.authority}"
        self.connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self.push_url = f"ws://{setup.authority}/sockjs/websocket"
        self._fetcher = Fetcher(self.connect, setup.authority.encode())
        self._headers: Headers = []
        if setup.api_key:
            self._headers.append((b"X-Api-Key", setup.api_key.encode()))

    async def close(self) -> None:
        await self._fetcher.close()

    async def get(self, target: str, *, at_most: int = MAX_ANSWER_BYTES) -> object:
        """Return the answer's JSON; None if it is not JSON."""
        return loose.parsed((await self._ask(b"GET", target, at_most=at_most)).body)

    async def post(self, target: str, body: JsonObject) -> object:
        return loose.parsed((await self._ask(b"POST", target, json.dumps(body).encode())).body)

    async def delete(self, target: str) -> None:
        await self._ask(b"DELETE", target)

    async def login(self) -> Login | None:
        """Log in; None where OctoPrint gives this key no session, so that it can only be polled."""
        answer = await self.post("/api/login", {"passive": True})
        name, session = loose.text(answer, "name"), loose.text(answer, "session")
        roles = loose.items(loose.obj(answer, "needs"), "role")
        if name is None or session is None:
            return None
        return Login(f"{name}:{session}", frozenset(role for role in roles if _is_text(role)))

    @asynccontextmanager
    async def open(self, target: str) -> AsyncIterator[OpenAnswer]:
        """Open a download. Raises NotFound."""
        with as_refusals(self.where):
            async with self._fetcher.open(b"GET", target.encode("ascii"), self._headers) as answer:
                if answer.status != 200:
                    self._refuse(FetchedAnswer(answer.status, answer.headers, b""))
                yield answer

    async def upload(
        self, target: str, kind: bytes, length: int, chunks: AsyncIterator[bytes]
    ) -> object:
        """Send a body as it comes. An exception from the chunks ends the request."""
        headers = [*self._headers, (b"Content-Type", kind)]
        with as_refusals(self.where):
            send = self._fetcher.send(
                b"POST", target.encode("ascii"), headers, chunks, length=length
            )
            async with send as answer:
                received = await read_answer(answer, MAX_ANSWER_BYTES)
        return loose.parsed(self._accept(received).body)

    async def _ask(
        self, method: bytes, target: str, body: bytes = b"", *, at_most: int = MAX_ANSWER_BYTES
    ) -> FetchedAnswer:
        headers = [*self._headers, (b"Content-Type", b"application/json")]
        with as_refusals(self.where):
            answer = await self._fetcher.fetch(
                method, target.encode("ascii"), headers, body, at_most=at_most
            )
        return self._accept(answer)

    def _accept(self, answer: FetchedAnswer) -> FetchedAnswer:
        if not 200 <= answer.status < 300:
            self._refuse(answer)
        return answer

    def _refuse(self, answer: FetchedAnswer) -> NoReturn:
        """Raise what a status means. Source: answers of 1.11.8."""
        words = (loose.text(loose.parsed(answer.body), "error") or "")[:MAX_WORDS]
        if answer.status in DENIED:
            raise PrinterRefused(CommandStatus.NOT_AUTHORIZED, self.denied)
        if answer.status == 404:
            raise NotFound(CommandStatus.NOT_FOUND, f"{self.where} has no such thing.")
        if answer.status in (502, 503, 504):  # its reverse proxy answers in its place
            raise unreachable(self.where, "it is starting, or not running")
        raise failed(words or f"{self.where} answered {answer.status}.")

    @property
    def denied(self) -> str:
        if not self._headers:
            return (
                f"{self.where} asks for an API key, and the agent has none:"
                " it is given in PRINTREACH_PRINTER_API_KEY."
            )
        return f"{self.where} refuses the agent's API key."


def _is_text(value: object) -> bool:
    return isinstance(value, str)
