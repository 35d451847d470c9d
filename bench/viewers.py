"""Callers that watch a stream and count its bytes; some stall."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self, cast

from bench.processes import Broken
from tests.rigs.calls import request_head
from tests.rigs.ways import Way

_READ_BYTES = 256 * 1024


class Viewer(asyncio.BufferedProtocol):
    """One viewer. Its bytes are counted and dropped."""

    def __init__(self) -> None:
        self.size = 0
        self._buffer = bytearray(_READ_BYTES)
        self._head = b""
        self._seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport

    @classmethod
    async def connect(cls, way: Way, target: str) -> Self:
        """Send the request and wait for the first bytes. Raises Broken for a status other than
        200.
        """
        loop = asyncio.get_running_loop()
        _, viewer = await loop.create_connection(cls, "127.0.0.1", way.port)
        viewer._transport.write(request_head(way, "GET", target))
        await viewer._seen
        return viewer

    def stall(self) -> None:
        """Stop reading."""
        self._transport.pause_reading()

    def close(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, _sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if not self._seen.done():
            self._read_head(bytes(self._buffer[:nbytes]))
        self.size += nbytes

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._seen.done():
            self._seen.set_exception(Broken(f"a viewer was turned away: {exc}"))

    def _read_head(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" not in self._head:
            return
        status = self._head.partition(b"\r\n")[0]
        if b" 200 " in status:
            self._seen.set_result(None)
        else:
            self._seen.set_exception(Broken(f"a viewer was answered {status.decode('latin-1')}"))


@asynccontextmanager
async def watching(way: Way, target: str) -> AsyncIterator[Viewer]:
    """Run one viewer."""
    async with asyncio.timeout(30):
        viewer = await Viewer.connect(way, target)
    try:
        yield viewer
    finally:
        viewer.close()
