"""The server's side of one connection: each request is answered before the next is read."""

import asyncio
import logging
from dataclasses import dataclass, field

from .heads import MAX_HEAD_BYTES, BadMessage, Request, find_head_end, parse_request
from .messages import Answer, Call, Handler, text_answer
from .request_body import BodyLimits, BodyTooLarge, RequestBody
from .sending import encode_head, send_answer
from .stream import ByteStream, ClientGone

_log = logging.getLogger(__name__)

# The rest of a refused request is read for a while: closing while the client sends would reset the
# connection, and the client would never read the answer.
LINGER_S = 2.0
LINGER_BYTES = 8 << 20


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
        self.is_idle = True
        self.is_closing = False  # the server is: no request after this one
        self.is_authenticated = False
        self._stream = stream
        self._handler = handler
        self._limits = limits

    async def run(self) -> None:
        """Serve until the end; cancelling this aborts the connection."""
        try:
            while await self._serve_one() and not self.is_closing:
                self.is_idle = True
            self._stream.close()
        except ClientGone:
            self._stream.abort()
        except BaseException:
            self._stream.abort()
            raise

    async def _serve_one(self) -> bool:
        """Read and answer one request; False if no other can follow."""
        try:
            data = await self._receive_head()
            if data is None:
                return False
            head = parse_request(data)
        except BadMessage as problem:
            await self._refuse(problem)
            return False
        return await self._exchange(head)

    async def _receive_head(self) -> bytes | None:
        """Return a head with its blank line; None if the client sends no more requests."""
        begun = await self._receive_beginning()
        if not begun:
            return None
        self.is_idle = False
        try:
            async with asyncio.timeout(self._limits.head_timeout_s):
                return await self._receive_rest(begun)
        except TimeoutError:
            raise BadMessage(408, "The head of the request took too long.") from None

    async def _receive_beginning(self) -> bytes:
        """Return the first bytes of a head; b"" if none come in time."""
        try:
            async with asyncio.timeout(self._limits.idle_timeout_s):
                data = await self._stream.receive()
                # RFC 9112, section 2.2: an empty line before a request is skipped.
                if data in (b"\r", b"\r\n"):
                    data += await self._stream.receive()
        except TimeoutError:
            return b""
        return data.removeprefix(b"\r\n")

    async def _receive_rest(self, begun: bytes) -> bytes | None:
        buffer = bytearray(begun)
        searched = 0
        while (end := find_head_end(buffer, searched)) < 0:
            if len(buffer) > MAX_HEAD_BYTES:
                raise BadMessage(431, "The head of the request is larger than 32 KiB.")
            searched = max(0, len(buffer) - 3)
            data = await self._stream.receive()
            if not data:
                return None
            buffer += data
        self._stream.unread(bytes(buffer[end:]))
        return bytes(buffer[:end])

    async def _exchange(self, head: Request) -> bool:
        body = RequestBody(self._stream, head, self._limits.body)
        task = asyncio.current_task()
        assert task is not None
        if self._stream.is_gone:
            return False
        self._stream.on_gone = task.cancel
        try:
            call = Call(
                head=head,
                body=body,
                peer=self._stream.peer,
                mark_authenticated=self._mark_authenticated,
            )
            answer = await self._ask(call)
            if answer.upgraded is None:
                return await self._send(answer, head, body)
        finally:
            self._stream.on_gone = None
        await self._hand_over(answer, head)
        return False

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

    async def _send(self, answer: Answer, head: Request, body: RequestBody) -> bool:
        keeps_alive = await send_answer(
            self._stream,
            answer,
            method=head.method,
            http10=head.http10,
            keep_alive=head.keep_alive and body.is_complete and not self.is_closing,
        )
        if not body.is_complete:
            await self._linger()
        return keeps_alive

    async def _hand_over(self, answer: Answer, head: Request) -> None:
        assert answer.upgraded is not None
        assert answer.status == 101
        assert head.upgrade is not None
        await self._stream.send(encode_head(answer.status, answer.headers))
        await answer.upgraded(self._stream)

    async def _refuse(self, problem: BadMessage) -> None:
        """Answer bytes that are no request, and end: where a next one begins is unknown."""
        answer = text_answer(problem.status, problem.reason)
        await send_answer(self._stream, answer, method=b"", http10=False, keep_alive=False)
        await self._linger()

    async def _linger(self) -> None:
        """End our direction, and drop bytes that still arrive, for LINGER_S at most."""
        self._stream.end()
        try:
            async with asyncio.timeout(LINGER_S):
                left = LINGER_BYTES
                while left > 0 and (data := await self._stream.receive()):
                    left -= len(data)
        except TimeoutError:
            pass  # the client has had time enough to read the answer
