"""An HTTP/1.1 client by callbacks that reuses connections: the agent's to its printer, and the
relay's to its web role.

Bytes are passed on as they come, in both directions; nothing is gathered. A kept connection is used
again only for GET, HEAD and OPTIONS without a body: if the server closes it at that moment, such a
request can be repeated, while a command to a printer must not be.
"""

import asyncio
import os
import re
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from printreach.languages import in_english
from printreach.limiters.request_queue import RequestQueue

from .client_connection import ClientConnection, ExchangeFailure
from .exchange import AnswerHandler, ClientExchange
from .heads import ResponseReader

__all__ = ["AnswerHandler", "Client", "ClientExchange", "Connect", "ExchangeFailure", "reason_of"]

Connect = Callable[[Callable[[], asyncio.Protocol]], Awaitable[object]]
"""A function that connects and calls the protocol factory, as loop.create_connection does."""

CONNECT_TIMEOUT_S: Final = 10.0
FIRST_BYTE_TIMEOUT_S: Final = 600.0
"""The time-out to the first byte of an answer: 10 minutes, since some printers slice or unpack
first."""
KEEP_IDLE_S = 15.0
"""How long an idle connection is kept: shorter than common servers do (tornado 1 h, CherryPy 10 s
to 75 s, nginx 75 s), and short enough for small ones, which serve four connections at once."""
MAX_KEPT: Final = 128

_REPEATABLE: Final = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_CLOSED: Final = "the client was closed"


class Client:
    """Sends requests to one server and keeps its connections.

    queue: limits the requests that the server has to answer at once; None for no limit.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        first_byte_s: float = FIRST_BYTE_TIMEOUT_S,
        queue: RequestQueue | None = None,
    ) -> None:
        self.first_byte_s = first_byte_s
        self.responses = ResponseReader()
        self._queue = queue
        self._connect = connect
        self._kept: deque[tuple[float, ClientConnection]] = deque()
        self._loop = asyncio.get_running_loop()
        self._connecting: dict[asyncio.Task[None], ClientExchange] = {}
        self._connections: set[ClientConnection] = set()
        self._idle_timer: asyncio.TimerHandle | None = None
        self._unanswered: set[ClientExchange] = set()
        self._late_timer: asyncio.TimerHandle | None = None  # one for all: timers cost
        self._is_closed = False

    @property
    def kept(self) -> int:
        """Return how many idle connections wait for a next request."""
        return len(self._kept)

    def request(
        self,
        answer: AnswerHandler,
        method: bytes,
        head: bytes,
        *,
        body: bytes = b"",
        fin: bool = True,
        chunked: bool = False,
        may_repeat: bool = False,
    ) -> ClientExchange:
        """Send a request. head: a whole HTTP/1.1 head, blank line included; body: its first bytes.

        fin: nothing follows the body given here; otherwise ClientExchange.send brings the rest.
        may_repeat: the request may be sent twice. Then head includes the body, if there is one.
        """
        is_whole = fin and not body and not chunked
        repeatable = is_whole and (may_repeat or method in _REPEATABLE)
        exchange = ClientExchange(
            self, answer, method, head, repeatable=repeatable, chunked=chunked
        )
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
        """Close all connections; running exchanges fail."""
        self._is_closed = True
        for timer in (self._idle_timer, self._late_timer):
            if timer is not None:
                timer.cancel()
        for connection in list(self._connections):
            connection.abort()
        connecting = dict(self._connecting)
        for task, exchange in connecting.items():
            exchange.failed(ExchangeFailure.BROKEN, _CLOSED)
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        await asyncio.sleep(0)  # so that aborted connections have told their exchanges

    # --- for ClientExchange and ClientConnection ------------------------------------------------

    def start_connecting(self, exchange: ClientExchange) -> asyncio.Task[None]:
        task = self._loop.create_task(self._open(exchange))
        self._connecting[task] = exchange
        task.add_done_callback(self._connecting.pop)
        return task

    def now(self) -> float:
        return self._loop.time()

    def call_later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(seconds, call)

    def await_answer(self, exchange: ClientExchange) -> None:
        self._unanswered.add(exchange)
        if self._queue is not None:
            self._queue.admit(exchange)
        if self._late_timer is None:
            self._late_timer = self._loop.call_later(self.first_byte_s, self._look_for_late)

    def answered(self, exchange: ClientExchange) -> None:
        self._unanswered.discard(exchange)
        if self._queue is not None:
            self._queue.release(exchange)

    def opened(self, connection: ClientConnection) -> None:
        self._connections.add(connection)

    def keep(self, connection: ClientConnection) -> None:
        if self._is_closed or len(self._kept) >= MAX_KEPT:
            connection.close()
            return
        self._kept.append((self._loop.time(), connection))
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_later(KEEP_IDLE_S, self._drop_stale)

    def lost(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        for entry in self._kept:
            if entry[1] is connection:
                self._kept.remove(entry)
                return

    def _take_kept(self) -> ClientConnection | None:
        while self._kept:
            _, connection = self._kept.pop()
            if connection.is_usable:
                return connection
        return None

    def _drop_stale(self) -> None:
        self._idle_timer = None
        limit = self._loop.time() - KEEP_IDLE_S
        while self._kept and self._kept[0][0] <= limit:
            self._kept.popleft()[1].close()
        if self._kept:
            self._idle_timer = self._loop.call_at(self._kept[0][0] + KEEP_IDLE_S, self._drop_stale)

    def _look_for_late(self) -> None:
        self._late_timer = None
        left_s = [exchange.give_up_if_late() for exchange in list(self._unanswered)]
        waiting_s = [seconds for seconds in left_s if seconds > 0]
        if waiting_s and not self._is_closed:
            self._late_timer = self._loop.call_later(min(waiting_s), self._look_for_late)

    async def _open(self, exchange: ClientExchange) -> None:
        if self._is_closed:
            exchange.failed(ExchangeFailure.BROKEN, _CLOSED)
            return
        if self._queue is not None:
            await self._queue.wait_for_turn(exchange)
        deadline = self._loop.time() + CONNECT_TIMEOUT_S
        try:
            async with asyncio.timeout_at(deadline):
                await self._connect(lambda: ClientConnection(self, exchange, deadline))
        except TimeoutError:
            exchange.failed(
                ExchangeFailure.UNREACHABLE,
                in_english(
                    "no connection within %(seconds)s s", seconds=f"{CONNECT_TIMEOUT_S:.0f}"
                ),
            )
        except (OSError, ValueError) as exc:  # ValueError: a name that no name server could have
            exchange.failed(ExchangeFailure.UNREACHABLE, reason_of(exc))


def reason_of(exc: OSError | ValueError) -> str:
    """Return why there is no connection, in the system's words: `Connection refused`."""
    if isinstance(exc, ssl.SSLError):
        return f"TLS failed: {_tls_reason(exc)}"
    if not isinstance(exc, OSError):
        return str(exc)
    if exc.errno is not None and exc.errno > 0:
        return os.strerror(exc.errno)  # asyncio's own words repeat the address
    # Where a name has several addresses, asyncio has all their failures in one text.
    numbers = dict.fromkeys(re.findall(r"\[Errno ([0-9]+)\]", str(exc)))
    if numbers:
        return ", ".join(os.strerror(int(number)) for number in numbers)
    return exc.strerror or str(exc) or type(exc).__name__


def _tls_reason(exc: ssl.SSLError) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return exc.verify_message
    told = re.search(r"\] (.*?)(?: \(_ssl|$)", str(exc))
    return told[1] if told else str(exc)
