"""A server on a port of its own, handlers for it, and a client whose bytes a test scripts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call, Handler
from printreach.http1.server import Server, serve

DEADLINE_S = 30.0
"""Longer than a busy machine is stalled."""
GET = b"GET %b HTTP/1.1\r\nHost: printer\r\n%b\r\n"
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def run(test: Coroutine[object, object, None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(with_deadline())


class Client:
    """A client whose bytes a test scripts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def ask(self, target: bytes, headers: bytes = b"") -> tuple[bytes, bytes]:
        """The head and the body of an answer that has a Content-Length."""
        await self.say(GET % (target, headers))
        return await self.answer()

    async def answer(self) -> tuple[bytes, bytes]:
        head = await self.head()
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        return head, await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """Return all bytes until the server closes."""
        return await self.reader.read()

    def leave(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def serving(handler: Handler, limits: ServerLimits | None = None) -> AsyncIterator[Server]:
    server = await serve(handler, "127.0.0.1", 0, limits=limits)
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[Client]:
    client = Client(*await asyncio.open_connection("127.0.0.1", server.port))
    try:
        yield client
    finally:
        client.leave()


@asynccontextmanager
async def talking_to(handler: Handler, limits: ServerLimits | None = None) -> AsyncIterator[Client]:
    async with serving(handler, limits) as server, client_of(server) as client:
        yield client


async def echo_target(call: Call) -> Answer:
    return Answer(body=call.head.target)


async def echo_body(call: Call) -> Answer:
    return Answer(body=await call.body.read(1 << 20))


async def ignore_body(call: Call) -> Answer:
    return Answer(status=403, body=b"no")


async def count_to_three(call: Call) -> Answer:
    async def body() -> AsyncGenerator[bytes, None]:
        for word in (b"one ", b"two ", b"three"):
            yield word

    return Answer(body=body())


class Endless:
    """A handler that streams for ever, and records how it ended."""

    def __init__(self, piece: bytes) -> None:
        self.piece = piece
        self.yielded = 0
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, call: Call) -> Answer:
        return Answer(body=self._body())

    async def _body(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                self.yielded += 1
                yield self.piece
                self.began.set()
                await asyncio.sleep(0.005)
        finally:
            self.ended.set()
