"""The server's side of one connection: each request is answered before the next is read."""

import asyncio
import logging
from dataclasses import dataclass, field

from .heads import BadMessage, Request
from .messages import Answer, Call, Handler, text_answer
from .request_body import BodyLimits, BodyTooLarge, RequestBody
from .sending import encode_head, send_answer
from .server_core import BODY, HEAD, IDLE, LINGER, ServerCore, State
from .stream import ByteStream, ClientGone

_log = logging.getLogger(__name__)

LINGER_S = 2.0
"""How long the rest of a refused request is dropped, so that clients read the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerLimits:
    """Limits on clients.

    head_timeout_s: from a head's first byte to its last, against slow-loris clients.
    idle_timeout_s: before the first request, and between two.
    drops_unauthenticated: at max_connections a new connection replaces the oldest one that no
        handler has marked as authenticated, so clients without a token keep nobody out.
    """

    head_timeout_s: float = 10.0
    idle_timeout_s: float = 75.0
    body: BodyLimits = field(default_factory=BodyLimits)
    max_connections: int = 256
    drops_unauthenticated: bool = False


class Connection:
    """Serves one ByteStream until either side ends it."""

    def __init__(self, stream: ByteStream, handler: Handler, limits: ServerLimits) -> None:
        self.is_closing = False  # the server is: no request after this one
        self.is_authenticated = False
        self._core = ServerCore()
        self._stream = stream
        self._handler = handler
        self._limits = limits

    @property
    def is_idle(self) -> bool:
        return self._core.state is IDLE

    async def run(self) -> None:
        """Serve until the end; cancelling this aborts the connection."""
        try:
            while self.is_idle:
                await self._serve_one()
            self._stream.close()
        except ClientGone:
            self._stream.abort()
        except BaseException:
            self._stream.abort()
            raise

    async def _serve_one(self) -> None:
        """Read and answer one request."""
        try:
            request = await self._read_request()
        except BadMessage as problem:
            await self._refuse(problem)
        else:
            if request is None or self._stream.is_gone:
                self._core.close()
            else:
                await self._exchange(request)

    async def _read_request(self) -> Request | None:
        """Return the next request; None if the client sends no more. Raises BadMessage."""
        try:
            request = await self._read_while(IDLE, self._limits.idle_timeout_s)
            if self._core.state is HEAD:
                request = await self._read_while(HEAD, self._limits.head_timeout_s)
        except TimeoutError:
            if self._core.state is HEAD:
                raise BadMessage(408, "The head of the request took too long.") from None
            return None
        return request

    async def _read_while(self, state: State, timeout_s: float) -> Request | None:
        """Read until a request has come, or the core has left a state. Raises BadMessage."""
        async with asyncio.timeout(timeout_s):
            while (request := self._core.next_request()) is None and self._core.state is state:
                data = await self._stream.receive()
                if data:
                    self._core.receive(data)
                else:
                    self._core.end_of_input()
        return request

    async def _exchange(self, request: Request) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._stream.on_gone = task.cancel
        try:
            call = Call(
                head=request,
                body=RequestBody(self._stream, self._core, request, self._limits.body),
                peer=self._stream.peer,
                mark_authenticated=self._mark_authenticated,
            )
            answer = await self._ask(call)
            if answer.upgraded is None:
                await self._send(answer, request)
        finally:
            self._stream.on_gone = None
        if answer.upgraded is not None:
            await self._hand_over(answer, request)
        elif self._core.state is LINGER:
            await self._linger()

    def _mark_authenticated(self) -> None:
        self.is_authenticated = True

    async def _ask(self, call: Call) -> Answer:
        """Return the handler's answer, or one that says what went wrong."""
        try:
            return await self._handler(call)
        except BadMessage as problem:
            return text_answer(problem.status, problem.reason)
        except BodyTooLarge:
            return text_answer(413, "The body of the request is too large.")
        except ClientGone:
            raise
        except Exception:  # noqa: BLE001 - one faulty page must not end the server
            _log.exception("no answer to %r %r", call.method, call.path)
            return text_answer(500, "Something went wrong here; the log says what.")

    async def _send(self, answer: Answer, request: Request) -> None:
        is_whole = self._core.state is not BODY
        keeps_alive = await send_answer(
            self._stream,
            answer,
            method=request.method,
            http10=request.http10,
            keep_alive=request.keep_alive and is_whole and not self.is_closing,
        )
        self._core.answered(keep_alive=keeps_alive and not self.is_closing)

    async def _hand_over(self, answer: Answer, request: Request) -> None:
        assert answer.upgraded is not None
        assert answer.status == 101
        assert request.upgrade is not None
        self._core.upgrade()
        self._stream.unread(self._core.take_surplus())
        await self._stream.send(encode_head(answer.status, answer.headers))
        await answer.upgraded(self._stream)

    async def _refuse(self, problem: BadMessage) -> None:
        """Answer bytes that are no request, and end: where a next one begins is unknown."""
        self._core.refuse()
        answer = text_answer(problem.status, problem.reason)
        await send_answer(self._stream, answer, method=b"", http10=False, keep_alive=False)
        await self._linger()

    async def _linger(self) -> None:
        """End our direction, and drop bytes that still arrive, for LINGER_S at most."""
        self._stream.end()
        try:
            async with asyncio.timeout(LINGER_S):
                while self._core.state is LINGER and (data := await self._stream.receive()):
                    self._core.receive(data)
        except TimeoutError:
            pass  # the client has had time enough to read the answer
