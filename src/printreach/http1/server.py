"""A small HTTP/1.1 server for programs beside a printer: the LAN page, the simulated printer.

Each connection has one task and serves one request after the other. A handler turns a Call into an
Answer; it is cancelled when its client goes away, and so is a streamed body.
"""

import asyncio
import logging
import socket
import ssl

from .connection import Connection, ServerLimits
from .messages import Handler
from .stream import ByteStream

_log = logging.getLogger(__name__)

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server:
    """A listening server and its connections; made by serve()."""

    def __init__(self, handler: Handler, limits: ServerLimits) -> None:
        self._handler = handler
        self._limits = limits
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._dropped: set[asyncio.Task[None]] = set()  # those that are being replaced
        self._listener: asyncio.Server

    @property
    def port(self) -> int:
        """The port it listens on; that of the first address if there are several."""
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        """Begin to accept connections. Raises OSError if the address is not available."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: ByteStream(self._accept), host, port, ssl=tls
        )

    async def listen_on(self, listener: socket.socket) -> None:
        """Begin to accept connections on a socket that listens already."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: ByteStream(self._accept), sock=listener)

    async def close(self, grace_s: float = 0.0) -> None:
        """Accept nothing more, give running requests a while, then end them."""
        self._listener.close()
        for task, connection in self._connections.items():
            connection.is_closing = True
            if connection.is_idle:
                task.cancel()
        tasks = list(self._connections)
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._listener.wait_closed()

    def _accept(self, stream: ByteStream) -> None:
        if self._is_full and not (
            self._limits.drops_unauthenticated and self._drop_unauthenticated()
        ):
            stream.write(_FULL)
            stream.close()
            return
        connection = Connection(stream, self._handler, self._limits)
        task = asyncio.get_running_loop().create_task(connection.run())
        self._connections[task] = connection
        task.add_done_callback(self._forget)

    @property
    def _is_full(self) -> bool:
        return len(self._connections) - len(self._dropped) >= self._limits.max_connections

    def _drop_unauthenticated(self) -> bool:
        """End the oldest connection that isn't authenticated; False if there is none."""
        for task, connection in self._connections.items():
            if not connection.is_authenticated and task not in self._dropped:
                self._dropped.add(task)
                task.cancel()
                return True
        return False

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._connections[task]
        self._dropped.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            _log.error("a connection failed unexpectedly", exc_info=problem)


async def serve(
    handler: Handler,
    host: str,
    port: int,
    *,
    limits: ServerLimits | None = None,
    tls: ssl.SSLContext | None = None,
    listener: socket.socket | None = None,
) -> Server:
    """Serve HTTP/1.1 until the returned server is closed. Port 0 picks a free one.

    listener: a socket that listens already, in place of host and port.
    """
    server = Server(handler, limits or ServerLimits())
    if listener is None:
        await server.listen(host, port, tls)
    else:
        await server.listen_on(listener)
    return server
