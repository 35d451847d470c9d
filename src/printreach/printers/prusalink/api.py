"""PrusaLink's web API, asked over HTTP. Every failure is a PrinterRefused."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NoReturn

from printreach.contract.commands import CommandStatus
from printreach.contract.files import JsonObject
from printreach.contract.sizes import MAX_PICTURE_BYTES
from printreach.http1.fetch import FetchedAnswer, Fetcher, OpenAnswer
from printreach.printers import loose
from printreach.printers.connecting import (
    as_refusals,
    connect_to,
    read_answer,
    timed_out,
    unreachable,
)
from printreach.printers.port import PrinterRefused, failed
from printreach.printers.setup import PrinterSetup
from printreach.wire.heads import Headers

from .digest import Account, Challenge, authorization

MAX_ANSWER_BYTES = 1024 * 1024
MAX_LIST_BYTES = 32 * 1024 * 1024
"""One folder with ten thousand prints takes about 4 MB."""
MAX_WORDS = 200
CHALLENGES = 2
"""The first to learn what is asked for, the second since that has grown stale."""
_JSON_ANSWER = (b"Accept", b"application/json")
_JSON_BODY = (b"Content-Type", b"application/json")
USUAL_USER = "maker"
"""As Buddy's firmware has it; on a Raspberry Pi its owner names one."""


class NotFound(PrinterRefused):
    """404: what it means, the caller knows."""


class Conflict(PrinterRefused):
    """409: this is not the time for it."""


class PrusaLinkApi:
    """where: this PrusaLink's address, for messages."""

    def __init__(self, setup: PrinterSetup) -> None:
        self.where = f"PrusaLink at {setup.authority}"
        connect = connect_to(setup.host, setup.port, tls=setup.tls)
        self._fetcher = Fetcher(connect, setup.authority.encode())
        self._login = Login(setup)

    async def close(self) -> None:
        await self._fetcher.close()

    async def get(self, target: str, *, at_most: int = MAX_ANSWER_BYTES) -> object:
        """Return the answer's JSON; None if it is not JSON, as with 204."""
        return loose.parsed((await self._ask(b"GET", target, at_most=at_most)).body)

    async def get_soon(self, target: str, seconds: float) -> object:
        """Return the answer's JSON, within a time."""
        try:
            async with asyncio.timeout(seconds):
                return await self.get(target)
        except TimeoutError:
            raise timed_out(self.where) from None

    async def picture(self, target: str) -> bytes:
        """Return a body as it is; b"" where there is none."""
        return (await self._ask(b"GET", target, at_most=MAX_PICTURE_BYTES)).body

    async def put(self, target: str, headers: Headers | None = None) -> None:
        await self._ask(b"PUT", target, headers=headers)

    async def post(self, target: str, body: JsonObject | None = None) -> None:
        """body: None for none, of which no type may be told: 0.8.1 would wait for it for ever."""
        if body is None:
            await self._ask(b"POST", target)
        else:
            await self._ask(b"POST", target, json.dumps(body).encode(), headers=[_JSON_BODY])

    async def delete(self, target: str, headers: Headers | None = None) -> None:
        await self._ask(b"DELETE", target, headers=headers)

    @asynccontextmanager
    async def open(self, target: str) -> AsyncIterator[OpenAnswer]:
        """Open a download. Raises NotFound."""
        await self._sign_afresh()
        with as_refusals(self.where):
            headers = self._login.headers(b"GET", target)
            async with self._fetcher.open(b"GET", target.encode("ascii"), headers) as answer:
                if answer.status != 200:
                    self._refuse(FetchedAnswer(answer.status, answer.headers, b""))
                yield answer

    async def upload(
        self, target: str, headers: Headers, length: int, chunks: AsyncIterator[bytes]
    ) -> object:
        """Send a body as it comes, and return the answer's JSON.

        An exception from the chunks ends the request.
        """
        await self._sign_afresh()
        with as_refusals(self.where):
            signed = [_JSON_ANSWER, *headers, *self._login.headers(b"PUT", target)]
            send = self._fetcher.send(b"PUT", target.encode("ascii"), signed, chunks, length=length)
            async with send as answer:
                received = await read_answer(answer, MAX_ANSWER_BYTES)
        return loose.parsed(self._accept(received).body)

    async def _ask(
        self,
        method: bytes,
        target: str,
        body: bytes = b"",
        *,
        headers: Headers | None = None,
        at_most: int = MAX_ANSWER_BYTES,
    ) -> FetchedAnswer:
        return self._accept(await self._answer(method, target, body, headers or [], at_most))

    async def _answer(
        self, method: bytes, target: str, body: bytes, headers: Headers, at_most: int
    ) -> FetchedAnswer:
        """Return any answer to a request that is signed as the server demands."""
        challenges_left = CHALLENGES
        while True:
            answered = self._login.challenge
            signed = [_JSON_ANSWER, *headers, *self._login.headers(method, target)]
            with as_refusals(self.where):
                answer = await self._fetcher.fetch(
                    method, target.encode("ascii"), signed, body, at_most=at_most
                )
            demand = answer.header(b"www-authenticate")
            if answer.status != 401 or not challenges_left:
                return answer
            if not self._login.accepts(demand, answered):
                return answer
            challenges_left -= 1

    async def _sign_afresh(self) -> None:
        """Before a long body: one that is refused for an old nonce can't be sent again."""
        self._login.forget_challenge()
        if self._login.wants_challenge:
            await self.get("/api/version")

    def _accept(self, answer: FetchedAnswer) -> FetchedAnswer:
        if not 200 <= answer.status < 300:
            self._refuse(answer)
        return answer

    def _refuse(self, answer: FetchedAnswer) -> NoReturn:
        """Raise what a status means. Source: answers of 0.8.1, Buddy's `status_page.cpp`."""
        reported = loose.parsed(answer.body)
        words = loose.text(reported, "text") or loose.text(reported, "message") or ""
        sentence = words[:MAX_WORDS] or f"{self.where} answered {answer.status}."
        if answer.status in (401, 403):
            raise PrinterRefused(CommandStatus.NOT_AUTHORIZED, self._denied)
        if answer.status == 404:
            raise NotFound(CommandStatus.NOT_FOUND, f"{self.where} has no such thing.")
        if answer.status == 409:
            raise Conflict(CommandStatus.EXECUTION_FAILED, sentence)
        if answer.status in (502, 503, 504):  # it starts, or its reverse proxy answers for it
            raise unreachable(self.where, "it is starting, or not running")
        raise failed(sentence)

    @property
    def _denied(self) -> str:
        if not self._login.has_credentials:
            return (
                f"{self.where} asks for a password or an API key, and the agent has none:"
                " one is given in PRINTREACH_PRINTER_PASSWORD or PRINTREACH_PRINTER_API_KEY."
            )
        return f"{self.where} refuses the agent's password or API key."


class Login:
    """An API key wins where both are given: it costs no second request."""

    def __init__(self, setup: PrinterSetup) -> None:
        self._api_key = setup.api_key
        self._account: Account | None = None
        if setup.password and not setup.api_key:
            self._account = Account(user=setup.user or USUAL_USER, password=setup.password)
        self._token_bytes: Callable[[int], bytes] = setup.token_bytes
        self._challenge: Challenge | None = None
        self._count = 0

    @property
    def has_credentials(self) -> bool:
        return bool(self._api_key) or self._account is not None

    @property
    def challenge(self) -> Challenge | None:
        """The demand that requests are signed for at present."""
        return self._challenge

    @property
    def wants_challenge(self) -> bool:
        """A request has to be refused first: it isn't known what it is to be signed for."""
        return self._account is not None and self._challenge is None

    def headers(self, method: bytes, target: str) -> Headers:
        """Return what a request carries. target: as its request line has it."""
        if self._api_key:
            return [(b"X-Api-Key", self._api_key.encode())]
        if self._account is None or self._challenge is None:
            return []
        self._count += 1
        cnonce = self._token_bytes(8).hex()
        signed = authorization(
            self._challenge, self._account, method.decode(), target, self._count, cnonce
        )
        return [(b"Authorization", signed)]

    def accepts(self, header: bytes | None, answered: Challenge | None) -> bool:
        """Take what a server asks for; False where that can't be given, or was given in vain.

        header: its WWW-Authenticate. answered: what the refused request was signed for.
        """
        challenge = None if header is None else Challenge.parse(header)
        if self._account is None or challenge is None or challenge == answered:
            return False
        if challenge != self._challenge:
            self._challenge, self._count = challenge, 0
        return True

    def forget_challenge(self) -> None:
        """Let the next request be refused, so that what follows is signed afresh."""
        self._challenge = None
