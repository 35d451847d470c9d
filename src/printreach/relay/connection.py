"""One caller's connection: requests read from it, one served at a time, answers written to it.

The Host is looked up for each request, since a proxy in front may use one connection for many
hosts. Requests that come before the current one is answered wait in the buffer.
"""

import asyncio
import logging
import socket
import struct
from typing import Protocol, cast

from printreach.http1.bodies import BodyReader
from printreach.http1.heads import (
    MAX_HEAD_BYTES,
    BadMessage,
    Framing,
    Request,
    RequestReader,
    find_head_end,
)
from printreach.http1.small_writes import SmallWrites

from .disconnect_detector import DisconnectDetector
from .forwarding_plan import ForwardingPlan
from .refusals import plain_refusal
from .timeouts import Timeouts

log = logging.getLogger(__name__)

LINGER_BYTES = 8 * 1024 * 1024
"""The most bytes of a refused upload that are drained, so that clients read the answer."""
MAX_PIPELINED_BYTES = 64 * 1024
"""The most bytes after the current request that wait in the buffer; others wait in the socket."""
HIGH_WATER_BYTES = 128 * 1024

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: end the connection with a reset. To HTTP/1.0, whose answers may last until the
connection closes, a proper end would make a broken answer look whole."""


class CallerExchange(Protocol):
    """The handler of one request: a connection reports to it what the caller does."""

    def on_body(self, data: bytes, fin: bool) -> None: ...
    def on_raw(self, data: bytes) -> None:
        """Bytes after an upgrade."""

    def on_raw_end(self) -> None:
        """The caller ended its direction after an upgrade; it may still read."""

    def on_caller_writable(self) -> None: ...
    def on_caller_gone(self) -> None:
        """The caller is gone and no one waits for the answer. Nothing follows."""


class Dispatch(Protocol):
    """Chooses the handler of a request."""

    def __call__(
        self, caller: "FrontConnection", request: Request, body: bytes, fin: bool
    ) -> CallerExchange | None:
        """Serve a request. None: it has been answered already, or the connection was detached.

        body: the bytes that came with the head; fin: they are the whole body.
        """


class ConnectionFront(Protocol):
    """The interface of the front to its connections."""

    loop: asyncio.AbstractEventLoop
    dispatch: Dispatch
    timeouts: Timeouts
    is_serving: bool

    def now(self) -> float: ...
    def may_keep(self, number: int) -> bool: ...
    def remember(self, connection: "FrontConnection") -> None: ...
    def forget(self, connection: "FrontConnection") -> None: ...


class FrontConnection(asyncio.Protocol):
    """One caller's connection."""

    def __init__(
        self, front: ConnectionFront, tunnel_port: int | None, *, is_inside: bool = False
    ) -> None:
        self.tunnel_port = tunnel_port  # one that stands for a printer host, regardless of Host
        self.is_inside = is_inside  # the caller is a role of the service in this process
        self.transport: asyncio.Transport
        self.peer = ""
        self.forwarding_plan: ForwardingPlan | None = None  # of the last request to a printer
        self._output: SmallWrites
        self._heads = RequestReader()
        self._front = front
        self._timeouts = front.timeouts
        self._disconnect = DisconnectDetector(self._timeouts.ended)
        self._buffer = b""
        self._searched = 0  # bytes of the buffer in which no head ends
        self._awaits_head = False  # a part of one has come
        self._may_skip_line = True  # RFC 9112, section 2.2: an empty line before a request
        self._head = b""  # of the current request
        self._reader: BodyReader | None = None
        self._exchange: CallerExchange | None = None
        self._is_raw = False
        self._is_http10 = False
        self._is_busy = False
        self._is_paused = False
        self._is_congested = False
        self._is_closing = False
        self._linger_left = -1  # bytes still to be drained; -1: not lingering
        self._congested_at = 0.0
        self._deadline = 0.0

    # --- what exchanges call --------------------------------------------------------------------

    def write(self, data: bytes) -> bool:
        if data and not self._is_closing:
            self._disconnect.silent_since = 0.0
            self._output.write(data)
        return not self._is_congested

    def finished(self, *, keep_alive: bool) -> None:
        self._exchange = None
        self._is_busy = False
        plan = self.forwarding_plan
        if plan is not None and not self._heads.remembers(plan.headers):
            self.forwarding_plan = None  # no later request can reuse it, and it may be large
        if self._reader is not None and not self._reader.is_complete:
            self._begin_linger()
        elif not keep_alive or not self._front.is_serving or self._has_ended_after_last_request:
            self._close()
        else:
            self._reader = None
            self._deadline = self._front.now() + self._timeouts.idle
            self._read_on()
            if self._buffer:
                # Not at once: the caller of finished() is still in the middle of its work, and
                # other connections get a turn between two requests of one caller.
                self._front.loop.call_soon(self._read_request)

    def abort(self) -> None:
        self._exchange = None
        self._is_closing = True
        sock = self.transport.get_extra_info("socket")
        if self._is_http10 and sock is not None and sock.fileno() >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def continue_with(self, exchange: CallerExchange | None) -> None:
        """Let another exchange serve the request; None if it was answered already."""
        if self._is_busy and not self._is_closing:
            self._exchange = exchange

    def upgraded(self) -> None:
        """Pass on raw bytes from now on, in both directions."""
        self._is_raw = True
        self._deadline = 0.0
        rest, self._buffer = self._buffer, b""
        self.resume()  # reading may have been paused by bytes that came early
        if rest and self._exchange is not None:
            self._exchange.on_raw(rest)

    def close_raw(self) -> None:
        """Send what is buffered, then close."""
        self._exchange = None
        self._close()

    def pause(self) -> None:
        """Stop reading for now."""
        if not (self._is_paused or self._is_closing or self._disconnect.has_ended):
            self._is_paused = True
            self.transport.pause_reading()

    def detach(self) -> tuple[asyncio.Transport, bytes]:
        """Give up the transport to another protocol, with the request's head and later bytes."""
        self._output.flush()
        self._front.forget(self)
        self._is_closing = True
        return self.transport, self._head + self._buffer

    # --- asyncio --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self._output = SmallWrites(self.transport, self._front.loop)
        address = self.transport.get_extra_info("peername")
        self.peer = str(address[0]) if address else ""
        self._deadline = self._front.now() + self._timeouts.head
        self._front.remember(self)
        sock = self.transport.get_extra_info("socket")
        if sock is not None and not self._front.may_keep(sock.fileno()):
            self.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_raw:
            if self._exchange is not None:
                self._exchange.on_raw(data)
        elif self._linger_left >= 0:
            self._drain(len(data))
        elif self._reader is not None and not self._reader.is_complete:
            self._receive_body(self._reader, data)
        else:
            self._buffer = self._buffer + data if self._buffer else data
            if not self._is_busy and not self._is_congested:
                self._read_request()
            if len(self._buffer) > MAX_PIPELINED_BYTES:
                self.pause()

    def eof_received(self) -> bool:
        """Note that the caller sends nothing more. True: it may still read, so stay connected."""
        is_whole = self._reader is None or self._reader.is_complete
        if self._is_busy and (self.is_inside or not is_whole):
            self.abort_for_gone_caller()
        elif not self._is_busy and (not self._buffer or self._awaits_head):
            self._close()
        elif not self._is_closing:
            self._disconnect.has_ended = True
            if self._is_raw and self._exchange is not None:
                self._exchange.on_raw_end()
        return not self._is_closing

    def connection_lost(self, _exc: Exception | None) -> None:
        self._is_closing = True
        self._front.forget(self)
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.on_caller_gone()

    def pause_writing(self) -> None:
        self._is_congested = True
        self._congested_at = self._front.now()

    def resume_writing(self) -> None:
        self._is_congested = False
        if self._exchange is not None:
            self._exchange.on_caller_writable()
        elif self._buffer:
            self._read_request()

    # --- what the front calls -------------------------------------------------------------------

    @property
    def is_new(self) -> bool:
        """True until the first request."""
        return not self._head and not self._is_closing

    def sweep(self, now: float) -> None:
        """Check time-outs, and callers that left while we didn't read; about once a second."""
        if self._deadline and now >= self._deadline:
            self._on_deadline()
        elif self._has_stalled(now) or self._has_left(now):
            self.abort_for_gone_caller()

    def abort_for_gone_caller(self) -> None:
        exchange = self._exchange
        self.abort()
        if exchange is not None:
            exchange.on_caller_gone()

    def stop(self) -> None:
        """Close now, or when the current request is answered."""
        if not self._is_busy and not self._is_closing:
            self._close()

    # --- reading --------------------------------------------------------------------------------

    def _read_request(self) -> None:
        """Begin the next request if its head has come and the caller reads answers."""
        if self._is_busy or self._is_congested or self._is_closing:
            return
        if self._may_skip_line and self._buffer.startswith(b"\r\n"):
            self._may_skip_line = False
            self._buffer = self._buffer[2:]
        end = find_head_end(self._buffer, self._searched)
        if end < 0:
            self._await_head()
            return
        head, rest = self._buffer[:end], self._buffer[end:]
        self._buffer = b""
        self._searched = 0
        self._awaits_head = False
        self._may_skip_line = True
        try:
            self._begin(head, rest)
        except BadMessage as fault:
            self._refuse(fault)

    def _await_head(self) -> None:
        size = len(self._buffer)
        if self._disconnect.has_ended:
            self._close()
        elif size > MAX_HEAD_BYTES:
            self._refuse(BadMessage(431, "The head of the request is larger than 32 KiB."))
        elif size > 0 and not self._awaits_head:
            self._awaits_head = True
            self._deadline = self._front.now() + self._timeouts.head
        self._searched = max(0, size - 3)

    def _begin(self, head: bytes, rest: bytes) -> None:
        request = self._heads.read(head)
        body, fin = b"", True
        self._reader = None
        if request.framing is not Framing.NONE:
            self._reader = BodyReader(request.framing, request.length)
            body, rest = self._reader.feed(rest)
            fin = self._reader.is_complete
        if self._disconnect.has_ended and not fin:
            self._close()
            return
        self._head = head
        self._is_http10 = request.http10
        self._buffer = rest
        self._read_on()
        self._is_busy = True
        self._deadline = 0.0 if fin else self._front.now() + self._timeouts.body
        if not self._front.is_serving:
            request.keep_alive = False
        exchange = self._front.dispatch(self, request, body, fin)
        if self._is_busy:  # else it was answered within the call
            self._exchange = exchange

    def _receive_body(self, reader: BodyReader, data: bytes) -> None:
        try:
            body, rest = reader.feed(data)
        except BadMessage as fault:
            log.info("malformed body from %s: %s", self.peer, fault.reason)
            self.abort_for_gone_caller()
            return
        self._buffer += rest
        self._deadline = 0.0 if reader.is_complete else self._front.now() + self._timeouts.body
        if self._exchange is not None and (body or reader.is_complete):
            self._exchange.on_body(body, fin=reader.is_complete)

    def _refuse(self, fault: BadMessage) -> None:
        self.write(plain_refusal(fault.status, fault.reason))
        self._is_busy = False
        self._begin_linger()

    def _read_on(self) -> None:
        """Read again, unless enough waits in the buffer."""
        if len(self._buffer) <= MAX_PIPELINED_BYTES:
            self.resume()

    def resume(self) -> None:
        if self._is_paused and not self._is_closing:
            self._is_paused = False
            self.transport.resume_reading()

    # --- ending ---------------------------------------------------------------------------------

    def _begin_linger(self) -> None:
        self._linger_left = LINGER_BYTES
        self._buffer = b""
        self._deadline = 0.0
        self._front.loop.call_later(self._timeouts.linger, self._end_linger)
        self.resume()

    def _drain(self, size: int) -> None:
        self._linger_left -= size
        if self._linger_left < 0:
            self._end_linger()

    def _end_linger(self) -> None:
        self._linger_left = 0
        if not self._is_closing:
            self._close()

    def _close(self) -> None:
        self._is_closing = True
        self._output.flush()
        self.transport.close()
        self._deadline = self._front.now() + self._timeouts.idle  # for a caller that reads nothing

    def _on_deadline(self) -> None:
        if self._is_closing:
            self.abort()
        elif not self._is_busy and (not self._buffer or self._is_congested):
            self._close()
        elif not self._is_busy:
            self._refuse(BadMessage(408, "The head of the request took too long."))
        elif self._is_paused:
            self._deadline = self._front.now() + self._timeouts.body  # the relay itself waits
        else:
            self.abort_for_gone_caller()

    def _has_stalled(self, now: float) -> bool:
        return self._is_congested and now >= self._congested_at + self._timeouts.write

    def _has_left(self, now: float) -> bool:
        sock = self.transport.get_extra_info("socket")
        return self._disconnect.has_left(sock, now, is_paused=self._is_paused)

    @property
    def _has_ended_after_last_request(self) -> bool:
        return self._disconnect.has_ended and not self._buffer
