"""Fetchers for tests: of a server with handlers, and of one whose bytes a test scripts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from printreach.http1.connection import ServerLimits
from printreach.http1.fetch import Fetcher
from printreach.http1.messages import Handler
from printreach.http1.request_body import BodyLimits
from tests.http1.serving import serving

ROOMY = ServerLimits(body=BodyLimits(max_bytes=64 << 20))
PIECE = bytes(range(256)) * 64  # 16 KiB
Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def fetcher_of(port: int, *, first_byte_s: float = 20.0) -> Fetcher:
    loop = asyncio.get_running_loop()
    return Fetcher(
        lambda protocol: loop.create_connection(protocol, "127.0.0.1", port),
        b"printer:%d" % port,
        first_byte_s=first_byte_s,
    )


@asynccontextmanager
async def asking(
    handler: Handler, limits: ServerLimits | None = None, *, first_byte_s: float = 20.0
) -> AsyncIterator[Fetcher]:
    async with serving(handler, limits or ROOMY) as server:
        fetcher = fetcher_of(server.port, first_byte_s=first_byte_s)
        try:
            yield fetcher
        finally:
            await fetcher.close()


@asynccontextmanager
async def asking_peer(peer: Peer, *, first_byte_s: float = 20.0) -> AsyncIterator[Fetcher]:
    """A fetcher of a server whose bytes a test scripts."""
    server = await asyncio.start_server(peer, "127.0.0.1", 0)
    fetcher = fetcher_of(server.sockets[0].getsockname()[1], first_byte_s=first_byte_s)
    try:
        yield fetcher
    finally:
        await fetcher.close()
        server.close()


async def pieces(number: int, pause_s: float = 0.0) -> AsyncIterator[bytes]:
    for _ in range(number):
        yield PIECE
        await asyncio.sleep(pause_s)
