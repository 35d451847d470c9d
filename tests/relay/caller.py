"""A caller whose bytes a test scripts, and which parses answers strictly."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Self

from tests.relay.waiting import PATIENCE_S


class BrokenOff(Exception):
    """An answer that was broken off. received: its bytes until then."""

    def __init__(self, received: bytes) -> None:
        super().__init__(received)
        self.received = received


@dataclass(frozen=True, slots=True)
class Answer:
    """One parsed answer."""

    status: int
    reason: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def all(self, name: bytes) -> list[bytes]:
        """Return every value of a header; name in lower case."""
        return [value for key, value in self.headers if key.lower() == name]

    def get(self, name: bytes) -> bytes | None:
        values = self.all(name)
        return values[0] if values else None


class Caller:
    """One connection to the relay."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, port: int, *, receive_buffer: int | None = None) -> Self:
        """receive_buffer: how little the kernel takes for a caller that doesn't read."""
        sock = socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        limit = 1024 if receive_buffer is not None else 1 << 20
        return cls(*await asyncio.open_connection(sock=sock, limit=limit))

    def send(self, data: bytes) -> None:
        """Send bytes; they are dropped if the relay has ended the connection."""
        if not self._writer.transport.is_closing():
            self._writer.write(data)

    async def send_in_pieces(self, data: bytes, size: int = 1) -> None:
        """Send pieces so that each arrives by itself, if possible."""
        for at in range(0, len(data), size):
            self.send(data[at : at + size])
            await asyncio.sleep(0)

    @property
    def unsent(self) -> int:
        """Bytes that wait here because the relay does not read."""
        return self._writer.transport.get_write_buffer_size()

    def half_close(self) -> None:
        if not self._writer.transport.is_closing():
            self._writer.write_eof()

    def leave(self) -> None:
        """Close the connection, as a caller that gives up does."""
        self._writer.transport.abort()

    async def answer(self, *, to_head: bool = False) -> Answer:
        """The next whole answer, 1xx ones included. Raises BrokenOff."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._answer(to_head)

    async def head(self) -> Answer:
        """The next answer's head alone; what follows is read raw."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._head()

    async def read(self, size: int) -> bytes:
        """Return exactly that many raw bytes."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._exactly(size)

    async def chunk(self) -> bytes:
        """Return the next chunk of a body; empty after the last."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._chunk()

    async def chunks(self) -> bytes:
        """Return the rest of a body in chunks. Raises BrokenOff."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._chunks()

    async def rest(self) -> bytes:
        """Return all bytes up to the end of the connection, orderly or not."""
        received = b""
        async with asyncio.timeout(PATIENCE_S):
            with contextlib.suppress(ConnectionError):
                while data := await self._reader.read(65536):
                    received += data
        return received

    async def is_closed(self) -> bool:
        """Return whether the relay ended the connection without sending anything more."""
        return await self.rest() == b""

    async def _answer(self, to_head: bool) -> Answer:
        bare = await self._head()
        return Answer(bare.status, bare.reason, bare.headers, await self._body(bare, to_head))

    async def _head(self) -> Answer:
        head = await self._until(b"\r\n\r\n")
        first, *lines = head[:-4].split(b"\r\n")
        version, _, rest = first.partition(b" ")
        assert version == b"HTTP/1.1", first
        status, _, reason = rest.partition(b" ")
        headers = [(name, value) for name, _, value in (line.partition(b": ") for line in lines)]
        return Answer(int(status), reason, headers, b"")

    async def _body(self, answer: Answer, to_head: bool) -> bytes:
        lengths = answer.all(b"content-length")
        codings = answer.all(b"transfer-encoding")
        if answer.status < 200 or answer.status in (204, 304):
            assert not codings, answer
            assert answer.status == 304 or not lengths, answer
            return b""
        if to_head:
            return b""
        assert len(lengths) + len(codings) <= 1, answer
        if lengths:
            return await self._exactly(int(lengths[0]))
        if codings:
            assert codings == [b"chunked"], answer
            return await self._chunks()
        assert answer.get(b"connection") == b"close", "a body until close needs a close"
        return await self._until_close()

    async def _chunks(self) -> bytes:
        body = b""
        while data := await self._chunk():
            body += data
        return body

    async def _chunk(self) -> bytes:
        data = await self._exactly(int((await self._until(b"\r\n"))[:-2], 16))
        assert await self._exactly(2) == b"\r\n"
        return data

    async def _until_close(self) -> bytes:
        try:
            return await self._reader.read(-1)
        except ConnectionError as error:
            raise BrokenOff(b"") from error

    async def _until(self, end: bytes) -> bytes:
        try:
            return await self._reader.readuntil(end)
        except asyncio.IncompleteReadError as error:
            raise BrokenOff(error.partial) from error
        except ConnectionError as error:
            raise BrokenOff(b"") from error

    async def _exactly(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise BrokenOff(error.partial) from error
        except ConnectionError as error:
            raise BrokenOff(b"") from error


@contextlib.asynccontextmanager
async def calling(port: int, *, receive_buffer: int | None = None) -> AsyncIterator[Caller]:
    """A connection for the length of a block."""
    caller = await Caller.connect(port, receive_buffer=receive_buffer)
    try:
        yield caller
    finally:
        caller.leave()


def request(
    host: bytes,
    *fields: bytes,
    method: bytes = b"GET",
    target: bytes = b"/",
    body: bytes = b"",
    version: bytes = b"HTTP/1.1",
) -> bytes:
    """A request's bytes. fields: header lines without CRLF; a body brings its own length."""
    length = (b"Content-Length: %d" % len(body),) if body else ()
    line = b"%b %b %b" % (method, target, version)
    return b"\r\n".join([line, b"Host: " + host, *fields, *length, b"", body])
