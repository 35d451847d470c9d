"""A web server on loopback whose bytes a test scripts."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from printreach.http1.client import Client, ClientExchange, ExchangeFailure
from printreach.http1.heads import Response
from printreach.limiters.request_queue import RequestQueue

GET = b"GET / HTTP/1.1\r\nHost: printer\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
PATIENCE_S = 30.0
"""Longer than a busy machine is stalled."""


class ServerConnection:
    """One connection that the server has accepted."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def head(self) -> bytes:
        """The next request's head."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def receive(self, size: int) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readexactly(size)

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self, data: bytes = OK) -> bytes:
        """Read a head, answer it, and return the head."""
        head = await self.head()
        self.send(data)
        return head

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """Break the connection off, as a crash does."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def end(self) -> bytes:
        """Return all bytes until the client closes."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


class Server:
    def __init__(self) -> None:
        self.port = 0
        self.accepted = 0
        self._unserved: asyncio.Queue[ServerConnection] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def has_no_connection(self) -> bool:
        """True if the test has taken every connection."""
        return self._unserved.empty()

    async def accept(self) -> ServerConnection:
        """The next connection."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._unserved.get()

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._writers.append(writer)
        self._unserved.put_nowait(ServerConnection(reader, writer))

    def abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def scripted_server(
    *, tls: ssl.SSLContext | None = None, buffer_bytes: int = 2**16
) -> AsyncIterator[Server]:
    scripted = Server()
    server = await asyncio.start_server(
        scripted.arrived, "127.0.0.1", 0, ssl=tls, limit=buffer_bytes
    )
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield scripted
    finally:
        scripted.abort()
        server.close()


class Heard:
    """An AnswerHandler that records its calls."""

    def __init__(self) -> None:
        self.interims: list[Response] = []
        self.responses: list[Response] = []
        self.body = bytearray()
        self.pieces = 0
        self.fins = 0
        self.writable = 0
        self.failures: list[tuple[ExchangeFailure, str]] = []
        self.at_fin: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()

    @property
    def response(self) -> Response:
        (response,) = self.responses
        return response

    @property
    def is_over(self) -> bool:
        return bool(self.fins or self.failures)

    @property
    def words(self) -> int:
        """The number of its calls; a head and the piece of the body that comes with it are two."""
        return len(self.interims) + len(self.responses) + self.pieces + len(self.failures)

    def on_interim(self, response: Response) -> None:
        self.interims.append(response)
        self._changed.set()

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        self.responses.append(response)
        self.on_body(body, fin)

    def on_body(self, data: bytes, fin: bool) -> None:
        assert not self.is_over, "something follows the end"
        self.body += data
        self.pieces += 1
        self.fins += fin
        self._changed.set()
        if fin:
            self.at_fin()

    def on_writable(self) -> None:
        self.writable += 1
        self._changed.set()

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        assert not self.is_over, "something follows the end"
        self.failures.append((failure, text))
        self._changed.set()

    async def until_over(self, patience_s: float = PATIENCE_S) -> "Heard":
        await self._until(lambda: self.is_over, patience_s)
        return self

    async def until_response(self) -> Response:
        await self._until(lambda: bool(self.responses))
        return self.response

    async def until_interims(self, count: int) -> list[Response]:
        await self._until(lambda: len(self.interims) >= count)
        return self.interims

    async def until_body(self, size: int) -> bytearray:
        await self._until(lambda: len(self.body) >= size)
        return self.body

    async def until_words(self, count: int) -> None:
        await self._until(lambda: self.words >= count)

    async def until_writable(self, count: int = 1) -> None:
        await self._until(lambda: self.writable >= count)

    async def _until(self, holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        async with asyncio.timeout(patience_s):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


class Talk:
    """A client and its server."""

    def __init__(self, client: Client, server: Server) -> None:
        self.client = client
        self.server = server

    def ask(
        self,
        head: bytes = GET,
        *,
        body: bytes = b"",
        fin: bool = True,
        chunked: bool = False,
    ) -> tuple[Heard, ClientExchange]:
        heard = Heard()
        method = head.split(b" ")[0]
        return heard, self.client.request(heard, method, head, body=body, fin=fin, chunked=chunked)

    async def whole(self, head: bytes = GET) -> Heard:
        """Send a request and wait for the end of its answer."""
        return await self.ask(head)[0].until_over()


@asynccontextmanager
async def talk(
    *, first_byte_s: float = 600.0, buffer_bytes: int = 2**16, queue: RequestQueue | None = None
) -> AsyncIterator[Talk]:
    loop = asyncio.get_running_loop()
    async with scripted_server(buffer_bytes=buffer_bytes) as server:
        client = Client(
            lambda protocol: loop.create_connection(protocol, "127.0.0.1", server.port),
            first_byte_s=first_byte_s,
            queue=queue,
        )
        try:
            yield Talk(client, server)
        finally:
            await client.close()
