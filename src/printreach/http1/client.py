"""An HTTP/1.1 client by callbacks, with kept connections: the agent asks its printer with it, the
relay its web role.

Bytes are passed on as they come, both ways; nothing is gathered. A kept connection is only used
again for GET, HEAD and OPTIONS without a body: where the server closes it at that very moment the
request can be repeated, while a command to a printer must not be.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from .chunked import LAST_CHUNK, encode_chunk
from .client_connection import ClientConnection, Failure
from .heads import Response

__all__ = ["Answer", "Client", "Connect", "Exchange", "Failure", "reason_of"]

Connect = Callable[[Callable[[], asyncio.Protocol]], Awaitable[object]]
"""Opens a connection and gives it to the protocol it makes, as loop.create_connection does."""

CONNECT_TIMEOUT_S = 10.0
FIRST_BYTE_TIMEOUT_S = 600.0
"""decisions.md: a slow printer has 10 minutes to its first byte."""
KEEP_IDLE_S = 15.0
"""Shorter than common servers keep one (tornado 1 h, CherryPy 10 s to 75 s, nginx 75 s)."""
MAX_KEPT = 32

_REPEATABLE = frozenset({b"GET", b"HEAD", b"OPTIONS"})


class Answer(Protocol):
    """Who hears of an exchange."""

    def on_interim(self, response: Response) -> None: ...
    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        """The head, with what came of the body at the same time. After a 101 the body is raw."""

    def on_body(self, data: bytes, fin: bool) -> None: ...
    def on_writable(self) -> None: ...
    def on_failed(self, failure: Failure, text: str) -> None:
        """The exchange ended without a complete answer. Nothing follows."""


class Client:
    """Keeps the connections to one server."""

    def __init__(self, connect: Connect, *, first_byte_s: float = FIRST_BYTE_TIMEOUT_S) -> None:
        self._connect = connect
        self._first_byte_s = first_byte_s
        self._kept: deque[tuple[float, ClientConnection]] = deque()
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: set[ClientConnection] = set()

    def request(
        self,
        answer: Answer,
        method: bytes,
        head: bytes,
        *,
        body: bytes = b"",
        fin: bool = True,
        chunked: bool = False,
    ) -> "Exchange":
        """Ask. head: a whole HTTP/1.1 head, blank line included; body: its first bytes.

        fin: nothing follows the body given here; otherwise Exchange.send brings the rest.
        """
        repeatable = fin and not body and not chunked and method in _REPEATABLE
        exchange = Exchange(self, answer, method, head, repeatable=repeatable, chunked=chunked)
        kept = self._take_kept() if repeatable else None
        if kept is not None:
            exchange.begin(kept)
        else:
            exchange.connect()
        if body or chunked:
            exchange.send(body, fin=fin)
        elif fin:
            exchange.is_sent = True
        return exchange

    async def close(self) -> None:
        """End everything; running exchanges hear that they failed."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in list(self._connections):
            connection.abort()

    # --- for Exchange and ClientConnection ------------------------------------------------------

    def start_connecting(self, exchange: "Exchange") -> None:
        task = self._loop.create_task(self._open(exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def start_waiting(self, late: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(self._first_byte_s, late)

    def keep(self, connection: ClientConnection) -> None:
        self._drop_stale()
        if len(self._kept) < MAX_KEPT:
            self._kept.append((self._loop.time(), connection))
        else:
            connection.close()

    def opened(self, connection: ClientConnection) -> None:
        self._connections.add(connection)

    def lost(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        for entry in self._kept:
            if entry[1] is connection:
                self._kept.remove(entry)
                return

    def _take_kept(self) -> ClientConnection | None:
        self._drop_stale()
        while self._kept:
            _, connection = self._kept.pop()
            if connection.is_usable:
                return connection
        return None

    def _drop_stale(self) -> None:
        limit = self._loop.time() - KEEP_IDLE_S
        while self._kept and self._kept[0][0] < limit:
            self._kept.popleft()[1].close()

    async def _open(self, exchange: "Exchange") -> None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._connect(lambda: ClientConnection(self, exchange))
        except TimeoutError:
            exchange.failed(Failure.UNREACHABLE, f"no connection within {CONNECT_TIMEOUT_S:.0f} s")
        except OSError as exc:
            exchange.failed(Failure.UNREACHABLE, reason_of(exc))


def reason_of(exc: OSError) -> str:
    """Why there is no connection, in the system's words: `Connection refused`."""
    if exc.errno is not None and exc.errno > 0:
        return os.strerror(exc.errno)  # asyncio's own words repeat the address
    return exc.strerror or str(exc) or type(exc).__name__


class Exchange:
    """One request and its answer."""

    def __init__(
        self,
        client: Client,
        answer: Answer,
        method: bytes,
        head: bytes,
        *,
        repeatable: bool,
        chunked: bool,
    ) -> None:
        self.method = method
        self.is_sent = False
        self._client = client
        self._answer: Answer | None = answer
        self._connection: ClientConnection | None = None
        self._unsent = [head]  # until there is a connection
        self._head = head
        self._repeatable = repeatable
        self._chunked = chunked
        self._is_reused = False
        self._heard = False
        self._reading = True
        self._has_sent_more = False  # since the timer was set
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        return self._answer is None

    # --- what the owner calls -------------------------------------------------------------------

    def send(self, data: bytes, *, fin: bool) -> bool:
        """Send body bytes. False: wait for on_writable before sending more."""
        if self.is_over or self.is_sent:
            return True
        if self._chunked:
            data = encode_chunk(data) + (LAST_CHUNK if fin else b"")
        self.is_sent = fin
        if self._connection is None:
            self._unsent.append(data)
            return False
        self._has_sent_more = True
        return self._connection.write(data)

    def send_raw(self, data: bytes) -> bool:
        """Send bytes behind a 101."""
        return self._connection is None or self._connection.write(data)

    def end_raw(self) -> None:
        """Nothing more will be sent behind a 101."""
        if self._connection is not None:
            self._connection.write_eof()

    def pause(self) -> None:
        self._reading = False
        if self._connection is not None:
            self._connection.pause_reading()

    def resume(self) -> None:
        self._reading = True
        if self._connection is not None:
            self._connection.resume_reading()

    def cancel(self) -> None:
        """Nobody wants the answer: the connection is closed at once."""
        self._over()
        if self._connection is not None:
            self._connection.abort()

    # --- what the client and its connection call ------------------------------------------------

    def connect(self) -> None:
        self._client.start_connecting(self)

    def begin(self, connection: ClientConnection) -> None:
        """Send what has gathered over a connection, new or kept."""
        self._is_reused = connection.is_used
        self._connection = connection
        connection.carry(self)
        if not self._reading:
            connection.pause_reading()
        if self._timer is None:
            self._timer = self._client.start_waiting(self._on_late)
        unsent, self._unsent = self._unsent, []
        if connection.write(b"".join(unsent)) and len(unsent) > 1 and self._answer is not None:
            self._answer.on_writable()

    def interim(self, response: Response) -> None:
        self._heard = True
        if self._answer is not None:
            self._answer.on_interim(response)

    def response(self, response: Response, body: bytes, fin: bool) -> None:
        self._heard = True
        if self._timer is not None:
            self._timer.cancel()
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            answer.on_response(response, body, fin)

    def body(self, data: bytes, fin: bool) -> None:
        answer = self._answer
        if fin:
            self._over()
        if answer is not None:
            answer.on_body(data, fin)

    def writable(self) -> None:
        if self._answer is not None:
            self._answer.on_writable()

    def lost(self, text: str) -> None:
        """The connection ended beneath the exchange."""
        if self.is_over:
            return
        self._connection = None
        if self._is_reused and self._repeatable and not self._heard:
            self._unsent = [self._head]
            self.connect()
        else:
            self.failed(Failure.BROKEN, text)

    def failed(self, failure: Failure, text: str) -> None:
        answer = self._answer
        self._over()
        if answer is not None:
            answer.on_failed(failure, text)

    def _on_late(self) -> None:
        """No answer is due while the body is on its way, unless the server takes nothing of it."""
        connection = self._connection
        is_stuck = self.is_sent or connection is None or connection.is_congested
        if self._has_sent_more or not is_stuck:
            self._has_sent_more = False
            self._timer = self._client.start_waiting(self._on_late)
            return
        self.failed(Failure.TIMED_OUT, "no answer in time")
        if connection is not None:
            connection.abort()

    def _over(self) -> None:
        self._answer = None
        if self._timer is not None:
            self._timer.cancel()
