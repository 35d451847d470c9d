"""A proxy between an adapter and its printer that can say what the printer never would.

It passes HTTP and WebSocket on, message by message, until it is told to meddle. refuses_websockets:
it knows of none.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

from printreach.http1.connection import ServerLimits
from printreach.http1.fetch import Fetcher, FetchFailed
from printreach.http1.heads import Framing
from printreach.http1.messages import Answer, Call
from printreach.http1.request_body import BodyLimits
from printreach.http1.server import Server, serve
from printreach.printers.connecting import connect_to
from printreach.printers.websocket import WebSocket, WebSocketFailed, accept_websocket, websocket
from printreach.wire.heads import Headers

LIMITS = ServerLimits(body=BodyLimits(max_bytes=1 << 30))
FOR_EVER_S = 3600.0
MAX_MESSAGE_BYTES = 32 << 20
_OURS = frozenset(
    {b"connection", b"content-length", b"host", b"keep-alive", b"transfer-encoding", b"upgrade"}
)

NONSENSE: list[str | bytes] = [
    "",
    "no JSON at all",
    "{",
    "null",
    "[]",
    "[[[]]]",
    '"text"',
    "-1e999",
    "[" * 100_000,
    '{"current": null}',
    '{"current": []}',
    '{"current": {"state": "Printing", "progress": 7, "job": [], "temps": {}}}',
    '{"event": {"type": 5, "payload": "none"}}',
    '{"method": "notify_status_update", "params": 3}',
    '{"jsonrpc": "2.0", "id": {}, "result": null}',
    b"\x00\xff\xfe bytes where texts are expected",
    '{"filler": "' + "x" * 200_000 + '"}',
]
TOO_LONG = "x" * (10 << 20)


class Meddler:
    """Made by meddling(). port: where the adapter finds the printer."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._connect = connect_to(self._host, self._port, tls=False)
        self._host_line = parts.netloc.encode()
        self._sockets: list[WebSocket] = []
        self._answers: deque[bytes] = deque()
        self.asked: list[bytes] = []
        self.port = 0
        self.refuses_websockets = False
        self._may_speak = asyncio.Event()
        self._may_speak.set()

    @property
    def is_silent(self) -> bool:
        return not self._may_speak.is_set()

    def fall_silent(self) -> None:
        """Answer nothing and pass no message down, as if frozen."""
        self._may_speak.clear()

    def speak_again(self) -> None:
        self._may_speak.set()

    @property
    def websockets(self) -> int:
        """The number of open connections."""
        return len(self._sockets)

    async def say(self, message: str | bytes) -> None:
        """Push this to every WebSocket client."""
        for socket in list(self._sockets):
            try:
                await socket.send(message)
            except WebSocketFailed:
                pass  # it had enough

    def answer_with(self, *bodies: bytes) -> None:
        """Answer the next requests with these."""
        self._answers.extend(bodies)

    async def answer(self, call: Call) -> Answer:
        self.asked.append(call.method + b" " + call.head.target)
        await self._may_speak.wait()
        if call.head.upgrade is not None and self.refuses_websockets:
            return Answer(status=400)
        if call.head.upgrade is not None:
            return accept_websocket(call, lambda socket: self._talk(call, socket))
        if self._answers:
            return Answer(headers=[_JSON], body=self._answers.popleft())
        return await self._forward(call)

    async def _forward(self, call: Call) -> Answer:
        stack = AsyncExitStack()
        fetcher = Fetcher(self._connect, self._host_line)
        stack.push_async_callback(fetcher.close)
        headers = _passed_on(call.head.headers)
        length = None if call.head.framing is Framing.CHUNKED else call.head.length
        try:
            if call.head.framing is Framing.NONE:
                opened = fetcher.open(call.method, call.head.target, headers)
            else:
                opened = fetcher.send(
                    call.method, call.head.target, headers, call.body, length=length
                )
            answer = await stack.enter_async_context(opened)
        except FetchFailed:
            await stack.aclose()
            return Answer(status=502)
        except BaseException:
            await stack.aclose()
            raise
        sizes = [value for name, value in answer.headers if name.lower() == b"content-length"]

        async def body() -> AsyncGenerator[bytes, None]:
            async with stack:
                async for chunk in answer.chunks():
                    yield chunk

        if call.method == b"HEAD" or answer.status in (204, 304):
            await stack.aclose()
            return Answer(
                status=answer.status,
                headers=_passed_on(answer.headers),
                body=_nothing(),
                length=int(sizes[0]) if sizes else None,
            )
        return Answer(
            status=answer.status,
            headers=_passed_on(answer.headers),
            body=body(),
            length=int(sizes[0]) if sizes else None,
        )

    async def _talk(self, call: Call, client: WebSocket) -> None:
        url = f"ws://{self._host}:{self._port}{call.head.target.decode()}"
        try:
            async with websocket(self._connect, url, at_most=MAX_MESSAGE_BYTES) as printer:
                self._sockets.append(client)
                down = asyncio.create_task(self._pass_down(printer, client))
                try:
                    while True:
                        await printer.send(await client.receive(FOR_EVER_S))
                finally:
                    self._sockets.remove(client)
                    down.cancel()
                    await asyncio.gather(down, return_exceptions=True)
        except WebSocketFailed:
            pass  # the printer is gone, so the client is let go

    async def _pass_down(self, printer: WebSocket, client: WebSocket) -> None:
        try:
            while True:
                message = await printer.receive(FOR_EVER_S)
                if not self.is_silent:
                    await client.send(message)
        except WebSocketFailed:
            client.close()  # one of them has left


@asynccontextmanager
async def meddling(upstream: str) -> AsyncIterator[Meddler]:
    """upstream: the printer's URL."""
    meddler = Meddler(upstream)
    server: Server = await serve(meddler.answer, "127.0.0.1", 0, limits=LIMITS)
    meddler.port = server.port
    try:
        yield meddler
    finally:
        await server.close()


_JSON = (b"Content-Type", b"application/json")


async def _nothing() -> AsyncGenerator[bytes, None]:
    """The body of an answer to HEAD, whose length is told all the same."""
    pieces: tuple[bytes, ...] = ()
    for piece in pieces:
        yield piece


def _passed_on(headers: Headers) -> Headers:
    return [field for field in headers if field[0].lower() not in _OURS]
