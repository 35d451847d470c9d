"""The relay's front: its listening sockets, and the connections that they accept.

New connections are refused before the last file descriptor is taken. A process without free ones
can't open its database or log what is wrong, and the event loop closes accepted connections
silently.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections.abc import Callable, Sequence
from typing import Any, Final

from .connection import Dispatch, FrontConnection
from .timeouts import Timeouts
from .unread_answers import UnreadAnswers

log = logging.getLogger(__name__)

MAX_RESERVED: Final = 64
"""Descriptors reserved for the database, and for agents that sign in."""
RESERVED_PART: Final = 8
"""Of a small limit only an eighth is reserved, so that some requests can be served."""
WARN_INTERVAL_S: Final = 10.0


def limit_of_this_process() -> int:
    """Return how many descriptors may be open; an operator can change it while we run."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if limit != resource.RLIM_INFINITY else 1 << 30


class DescriptorLimit:
    """Decides which connections may stay, and logs a shortage: at once, then at an interval."""

    def __init__(self, limit: Callable[[], int] = limit_of_this_process) -> None:
        self._limit = limit
        self._warned_at: float | None = None  # while there is a shortage
        self._refused_at = 0.0
        self.refused_count = 0

    def may_take(self, number: int, now: float) -> bool:
        """Return whether a connection with this descriptor may stay.

        The kernel assigns the lowest free number, so a high one means that few are left.
        """
        limit = self._limit()
        if number < limit - min(MAX_RESERVED, limit // RESERVED_PART):
            return True
        self.refused_count += 1
        self._refused_at = now
        self._warn_of_shortage(now, limit)
        return False

    def look_again(self, now: float) -> None:
        """Log that the shortage is over; called about once a second."""
        if self._warned_at is not None and now >= self._refused_at + WARN_INTERVAL_S:
            log.warning("file descriptors are free again: new connections are accepted")
            self._warned_at = None

    def _warn_of_shortage(self, now: float, limit: int) -> None:
        if self._warned_at is not None and now < self._warned_at + WARN_INTERVAL_S:
            return
        log.error(
            "file descriptors run out (%d are allowed): new connections are refused, %d so far;"
            " LimitNOFILE= in the unit or `ulimit -n` allows more",
            limit,
            self.refused_count,
        )
        self._warned_at = now


BACKLOG: Final = 1024
"""Connections that wait to be accepted; Linux allows 4096 by default."""

KEEPALIVE_IDLE_S: Final = 60
KEEPALIVE_INTERVAL_S: Final = 15
NOTSENT_LOWAT_BYTES: Final = 128 * 1024
"""Unsent bytes that the kernel holds for a caller; by default it takes 4 MiB for one that doesn't
read."""
NEW_CONNECTION_GRACE_S: Final = 1.0
"""The most time from a connection to its first request; callers send it at once."""
ACCEPT_POLL_S: Final = 0.05
"""The wait for connections that the event loop is accepting to be registered here."""


class Front:
    """The listening sockets and their connections."""

    def __init__(
        self, dispatch: Dispatch, timeouts: Timeouts, descriptors: DescriptorLimit | None = None
    ) -> None:
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.dispatch = dispatch
        self.timeouts = timeouts
        self.is_serving = True
        self.unread = UnreadAnswers()
        self.descriptors = descriptors or DescriptorLimit()
        self._connections: set[FrontConnection] = set()
        self._is_quiet = asyncio.Event()  # set when the last connection goes
        self._servers: list[asyncio.Server] = []
        self._sweeper = self.loop.call_later(self.timeouts.sweep, self._sweep)

    def now(self) -> float:
        return self.loop.time()

    async def listen(self, host: str, port: int, *, is_tunnel_port: bool = False) -> int:
        """Accept connections; return the port that was bound.

        is_tunnel_port: the port stands for one printer connection (PRINTREACH_TUNNEL_PORTS).
        """
        accepted = self._accepted(port if is_tunnel_port else None)
        server = await self.loop.create_server(accepted, host, port, backlog=BACKLOG)
        self._servers.append(server)
        bound: int = _tuned_sockets(server)[0].getsockname()[1]
        return bound

    async def listen_on(self, listener: socket.socket, *, is_tunnel_port: bool = False) -> None:
        """Accept connections on a socket that listens already."""
        port: int = listener.getsockname()[1]
        accepted = self._accepted(port if is_tunnel_port else None)
        server = await self.loop.create_server(accepted, sock=listener, backlog=BACKLOG)
        _tuned_sockets(server)
        self._servers.append(server)

    async def connect_inside(self, protocol: Callable[[], asyncio.Protocol]) -> object:
        """Connect a protocol of another role of the service in this process. Raises OSError.

        It uses a socket pair, which no other process can reach.
        """
        if not self.is_serving:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the relay has stopped")
        caller, ours = socket.socketpair()
        for end in (caller, ours):
            end.setblocking(False)
        await self.loop.connect_accepted_socket(
            lambda: FrontConnection(self, None, is_inside=True), ours
        )
        return await self.loop.create_unix_connection(protocol, sock=caller)

    def _accepted(self, tunnel_port: int | None) -> Callable[[], FrontConnection]:
        return lambda: FrontConnection(self, tunnel_port)

    def close_listeners(self) -> None:
        """Accept no more connections."""
        self.is_serving = False
        for server in self._servers:
            server.close()

    async def drain_new_connections(self) -> None:
        """Wait for the first requests of new connections, which no other process could answer."""
        deadline = self.now() + NEW_CONNECTION_GRACE_S
        while self.now() < deadline:
            await asyncio.sleep(ACCEPT_POLL_S)
            if not any(connection.is_new for connection in self._connections):
                return

    async def stop(self, grace_s: float) -> None:
        """Take no new requests; running ones get grace_s seconds."""
        self.close_listeners()
        for connection in list(self._connections):
            connection.stop()
        if self._connections:
            self._is_quiet.clear()
            try:
                async with asyncio.timeout(grace_s):
                    await self._is_quiet.wait()
            except TimeoutError:
                log.info("%d requests did not end in time", len(self._connections))
        self._sweeper.cancel()
        for connection in list(self._connections):
            connection.abort_for_gone_caller()

    def remember(self, connection: FrontConnection) -> bool:
        """Note a new connection; False if there are too few descriptors for it to stay."""
        self._connections.add(connection)
        sock = connection.transport.get_extra_info("socket")
        return sock is None or self.descriptors.may_take(sock.fileno(), self.now())

    def forget(self, connection: FrontConnection) -> None:
        self._connections.discard(connection)
        self.unread.forget(connection)
        if not self._connections:
            self._is_quiet.set()

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def _sweep(self) -> None:
        self._sweeper = self.loop.call_later(self.timeouts.sweep, self._sweep)
        now = self.now()
        for connection in list(self._connections):
            connection.sweep(now)
            self.unread.note(connection, connection.transport.get_write_buffer_size())
        self.descriptors.look_again(now)


def _tuned_sockets(server: Any) -> Sequence[socket.socket]:
    """Return the listening sockets, with the options that accepted connections inherit.

    server: an asyncio.Server, whose sockets are a tuple, or uvloop's, where they are a list.
    """
    listeners: Sequence[socket.socket] = server.sockets
    for listener in listeners:
        # A caller that vanished silently is noticed even while nothing is sent to it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE") and listener.family != socket.AF_UNIX:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_IDLE_S)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S)
        if hasattr(socket, "TCP_NOTSENT_LOWAT") and listener.family != socket.AF_UNIX:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOTSENT_LOWAT_BYTES)
    return listeners
