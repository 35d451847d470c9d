"""One connection of the client: heads and bodies of answers, in order."""

import asyncio
import socket
from collections.abc import Callable
from enum import Enum
from typing import Final, Protocol, cast

from .bodies import BodyReader
from .heads import MAX_HEAD_BYTES, BadMessage, Response, ResponseReader, find_head_end
from .small_writes import SmallWrites

HIGH_WATER_BYTES: Final = 64 * 1024
CLOSE_WITHIN_S: Final = 5.0
"""The time-out for unsent bytes at the end; a server that reads nothing would keep the
connection."""
UNREAD_ANSWER_BYTES: Final = 64 * 1024
"""Bytes read of an answer that had come when the connection broke: a head, and a short body."""


class ExchangeFailure(Enum):
    """Why an exchange has no complete answer."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed out"
    BROKEN = "broken"


class ConnectionClient(Protocol):
    """The interface of the client to its connections."""

    responses: ResponseReader

    def now(self) -> float: ...
    def call_later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle: ...
    def opened(self, connection: "ClientConnection") -> None: ...
    def keep(self, connection: "ClientConnection") -> None: ...
    def lost(self, connection: "ClientConnection") -> None: ...


class CarriedExchange(Protocol):
    """The interface of the exchange that a connection carries; one at a time."""

    method: bytes
    is_sent: bool

    @property
    def is_over(self) -> bool: ...
    def begin(self, connection: "ClientConnection") -> None: ...
    def interim(self, response: Response) -> None: ...
    def response(self, response: Response, body: bytes, fin: bool) -> None: ...
    def body(self, data: bytes, fin: bool) -> None: ...
    def writable(self) -> None: ...
    def lost(self) -> None: ...
    def failed(self, failure: ExchangeFailure, text: str) -> None: ...


class ClientConnection(asyncio.Protocol):
    """Carries one exchange after another. deadline: of connecting, by the client's clock."""

    def __init__(
        self, client: ConnectionClient, exchange: CarriedExchange, deadline: float
    ) -> None:
        self.is_used = False
        self._client = client
        self._deadline = deadline
        self._exchange: CarriedExchange | None = exchange
        self._transport: asyncio.Transport | None = None
        self._output: SmallWrites  # once connected
        self._buffer = b""
        self._reader: BodyReader | None = None
        self._keep_alive = False
        self._is_raw = False
        self._is_paused = False
        self.is_congested = False  # the server takes less than we have for it
        self._closing_timer: asyncio.TimerHandle | None = None

    @property
    def is_usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def carry(self, exchange: CarriedExchange) -> None:
        self._exchange = exchange
        self._reader = None
        self.is_used = True

    def write(self, data: bytes) -> bool:
        """Write data; False if too much is buffered, and on_writable follows."""
        if self._transport is not None and data and not self._transport.is_closing():
            self._output.write(data)
        return not self.is_congested

    def write_eof(self) -> None:
        if self.is_usable and self._transport is not None:
            self._output.flush()
            if self._transport.can_write_eof():
                self._transport.write_eof()
            else:
                self.close()

    def pause_reading(self) -> None:
        if self.is_usable and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._is_paused and self.is_usable and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()

    def close(self) -> None:
        """Send what is buffered, then close."""
        if self._transport is not None and not self._transport.is_closing():
            self._output.flush()
            self._transport.close()
            self._closing_timer = self._client.call_later(CLOSE_WITHIN_S, self.abort)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # --- asyncio --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self._output = SmallWrites(self._transport, asyncio.get_running_loop())
        self._client.opened(self)
        exchange = self._exchange
        if exchange is None or exchange.is_over:
            self.abort()
        elif self._client.now() > self._deadline:
            # This process was frozen: no one waits any more for this request.
            self._exchange = None
            self.abort()
            exchange.failed(ExchangeFailure.UNREACHABLE, "the connection came too late")
        else:
            exchange.begin(self)

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self.abort()  # no request was sent: these bytes can't be an answer
            return
        try:
            if self._is_raw:
                exchange.body(data, fin=False)
            elif self._reader is not None:
                self._receive_body(exchange, self._reader, data)
            else:
                self._receive_head(exchange, data)
        except BadMessage as fault:
            self._exchange = None
            exchange.failed(ExchangeFailure.BROKEN, fault.reason)
            self.abort()

    def eof_received(self) -> bool:
        exchange = self._exchange
        if exchange is not None and self._is_raw:
            exchange.body(b"", fin=True)
        elif exchange is not None and self._reader is not None and self._reader.end_of_input():
            self._exchange = None
            exchange.body(b"", fin=True)
        self.close()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._closing_timer is not None:
            self._closing_timer.cancel()
        if isinstance(exc, ConnectionError):
            self._read_unread_answer()
        self._client.lost(self)
        exchange, self._exchange = self._exchange, None
        if exchange is None or exchange.is_over:
            return
        if exc is None and self._reader is not None and self._reader.end_of_input():
            exchange.body(b"", fin=True)
        else:
            exchange.lost()

    def pause_writing(self) -> None:
        self.is_congested = True

    def resume_writing(self) -> None:
        self.is_congested = False
        if self._exchange is not None:
            self._exchange.writable()

    # --- reading --------------------------------------------------------------------------------

    def _read_unread_answer(self) -> None:
        """Read the answer of a server that refused an upload and then closed.

        Bytes that we still send to it cause a reset. When the next write meets that reset, the
        event loop doesn't read the bytes that had come before.
        """
        exchange, transport = self._exchange, self._transport
        if exchange is None or exchange.is_over or self._reader is not None or self._is_raw:
            return
        if transport is None or transport.get_extra_info("sslcontext") is not None:
            return
        handle = transport.get_extra_info("socket")
        if handle is None or handle.fileno() < 0:
            return
        sock = socket.socket(fileno=handle.fileno())  # the loop's own object can't be read from
        try:
            data = sock.recv(UNREAD_ANSWER_BYTES)
        except OSError:
            return
        finally:
            sock.detach()
        if data:
            self.data_received(data)

    def _receive_head(self, exchange: CarriedExchange, data: bytes) -> None:
        searched = max(0, len(self._buffer) - 3)
        if self._buffer:
            data, self._buffer = self._buffer + data, b""
        while (end := find_head_end(data, searched)) >= 0:
            response = self._client.responses.read(data[:end], exchange.method)
            data, searched = data[end:], 0
            if response.upgrade:
                self._is_raw = True
                exchange.response(response, data, fin=False)
                return
            if response.status >= 200:
                self._begin_body(exchange, response, data)
                return
            exchange.interim(response)
            if exchange.is_over:
                return
        if len(data) > MAX_HEAD_BYTES:
            raise BadMessage(502, "The head of the answer is larger than 32 KiB.")
        self._buffer = data

    def _begin_body(self, exchange: CarriedExchange, response: Response, rest: bytes) -> None:
        reader = self._reader = BodyReader(response.framing, response.length)
        self._keep_alive = response.keep_alive
        body, surplus = reader.feed(rest)
        if reader.is_complete:
            self._complete(exchange, surplus)
        exchange.response(response, body, fin=reader.is_complete)

    def _receive_body(self, exchange: CarriedExchange, reader: BodyReader, data: bytes) -> None:
        body, surplus = reader.feed(data)
        if reader.is_complete:
            self._complete(exchange, surplus)
        if body or reader.is_complete:
            exchange.body(body, fin=reader.is_complete)

    def _complete(self, exchange: CarriedExchange, surplus: bytes) -> None:
        """Keep the connection for the next request or close it, since the answer is whole."""
        self._exchange = None
        if not exchange.is_sent:
            self.abort()  # an early answer: the server may never read the rest
        elif self._keep_alive and not surplus:
            self.resume_reading()
            self._client.keep(self)
        else:
            self.close()
