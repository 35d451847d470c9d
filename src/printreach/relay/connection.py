"""One caller's connection: requests read from it, one served at a time, answers written to it.

The Host is looked up for each request, since a proxy in front may use one connection for many
hosts. Requests that come before the current one is answered wait in the buffer.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias, cast

from printreach.http1.heads import BadMessage, Request
from printreach.http1.server_core import (
    ANSWER,
    BODY,
    CLOSED,
    HEAD,
    IDLE,
    LINGER,
    RAW,
    SERVING,
    ServerCore,
    State,
)
from printreach.http1.small_writes import SmallWrites
from printreach.http1.tracing import CALLER_GONE, Span

from .answering import AnswerWriter
from .caller_exchange import CallerExchange
from .disconnect_detector import DisconnectDetector, reset_at_close
from .header_filter import ForwardingPlan
from .refusals import plain_refusal
from .timeouts import Timeouts
from .unread_answers import UnreadAnswers

log = logging.getLogger(__name__)

MAX_PIPELINED_BYTES: Final = 64 * 1024
"""The most bytes after the current request that wait in the buffer; others wait in the socket."""
HIGH_WATER_BYTES: Final = 128 * 1024
MAX_CHUNKS_A_TURN: Final = 1024
"""The most chunks of a body that are read before other connections get a turn: about 0.5 ms."""

Dispatch: TypeAlias = Callable[["IncomingRequest"], CallerExchange | None]
"""Chooses the handler of a request. None: it is answered already, or the connection detached."""


class ConnectionFront(Protocol):
    """The interface of the front to its connections."""

    loop: asyncio.AbstractEventLoop
    dispatch: Dispatch
    timeouts: Timeouts
    is_serving: bool
    unread: UnreadAnswers

    def remember(self, connection: "FrontConnection") -> bool: ...
    def forget(self, connection: "FrontConnection") -> None: ...


class IncomingRequest:
    """A caller's request. body: what came with its head; fin: that is the whole body."""

    __slots__ = ("body", "caller", "fin", "request")

    def __init__(self, caller: "FrontConnection", request: Request, body: bytes, fin: bool) -> None:
        self.caller = caller
        self.request = request
        self.body = body
        self.fin = fin

    def writer(self) -> AnswerWriter:
        """Make a writer for our own answer; the connection ends if a body is still to come."""
        writer = AnswerWriter(self.caller, self.request)
        writer.keep_alive = writer.keep_alive and self.fin
        return writer


class FrontConnection(asyncio.Protocol):
    """One caller's connection."""

    def __init__(
        self, front: ConnectionFront, tunnel_port: int | None, *, is_inside: bool = False
    ) -> None:
        self.tunnel_port = tunnel_port  # one that stands for a printer host, regardless of Host
        self.is_inside = is_inside  # the caller is a role of the service in this process
        self.transport: asyncio.Transport
        self.peer = ""
        self.account_id = ""  # of the printer that the last request was for
        self.forwarding_plan: ForwardingPlan | None = None  # of the last request to a printer
        self.span: Span | None = None  # of the last request, where traces are wanted
        self._output: SmallWrites
        self._core = ServerCore(MAX_CHUNKS_A_TURN)
        self._front = front
        self._now: Callable[[], float] = front.loop.time
        self._timeouts = front.timeouts
        self._disconnect = DisconnectDetector(self._timeouts.ended)
        self._exchange: CallerExchange | None = None
        self._is_http10 = False
        self._is_paused = False  # the transport doesn't read
        self._is_held = False  # by the exchange, from pause() to resume()
        self._reads_soon = False  # the rest of a body, in the next turn
        self._stalls_at = 0.0  # while it reads too little
        self._deadline = 0.0

    # --- what exchanges call --------------------------------------------------------------------

    def write(self, data: bytes) -> bool:
        if data and self._core.state is not CLOSED:
            self._disconnect.silent_since = 0.0
            self._output.write(data)
        return not self._stalls_at

    def finished(self, *, keep_alive: bool) -> None:
        self._exchange, self._is_held = None, False
        if self.span is not None:
            self.span.end()
        core = self._core
        if core.state is CLOSED:
            return
        plan = self.forwarding_plan
        if plan is not None and not core.heads.remembers(plan.headers):
            self.forwarding_plan = None  # no later request can reuse it, and it may be large
        core.answered(keep_alive=keep_alive and self._front.is_serving)
        if core.state is IDLE:
            self._deadline = self._now() + self._timeouts.idle
            self._read_on()
            if core.surplus:
                # Not at once: finished() returns first, and other connections get a turn.
                self._front.loop.call_soon(self._read_request)
        elif core.state is LINGER:
            self._linger()
        else:
            self._close()

    def abort(self, fault: str = "broken_off") -> None:
        self._exchange = None
        if self.span is not None:
            self.span.end(fault)
        self._core.close()
        if self._is_http10:
            reset_at_close(self.transport.get_extra_info("socket"))
        self.transport.abort()

    def continue_with(self, exchange: CallerExchange | None) -> None:
        """Let another exchange serve the request; None if it was answered already."""
        if self._core.state in SERVING:
            self._exchange = exchange

    def upgraded(self) -> None:
        """Pass on raw bytes from now on, in both directions."""
        self._core.upgrade()
        self._deadline, self._is_held = 0.0, False
        self._resume_reading()  # it may have been paused by bytes that came early
        if self._core.surplus:
            self._receive_raw()
        if self._core.has_ended and self._exchange is not None:
            self._exchange.on_raw_end()

    def close_raw(self) -> None:
        """Send what is buffered, then close."""
        self._exchange = None
        self._close()

    def pause(self) -> None:
        """Stop reading, and report no more of the body, until resume()."""
        self._is_held = True
        self._pause_reading()

    def resume(self) -> None:
        """Read again, first what has come of the body."""
        self._is_held = False
        self._read_on()

    def detach(self) -> tuple[asyncio.Transport, bytes]:
        """Give up the transport to another protocol, with the request's head and later bytes."""
        self._output.flush()
        self._front.forget(self)
        received = self._core.head + self._core.take_surplus()
        self._core.close()
        return self.transport, received

    # --- asyncio --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self._output = SmallWrites(self.transport, self._front.loop)
        address = self.transport.get_extra_info("peername")
        self.peer = str(address[0]) if address else ""
        self._deadline = self._now() + self._timeouts.head
        if not self._front.remember(self):
            self.abort()

    def data_received(self, data: bytes) -> None:
        core = self._core
        core.receive(data)
        _ON_DATA[core.state](self)
        if len(core.surplus) > MAX_PIPELINED_BYTES:
            self._pause_reading()

    def eof_received(self) -> bool:
        """Note that the caller sends nothing more. True: it may still read, so stay connected."""
        core = self._core
        is_serving = core.state in SERVING
        core.end_of_input()
        if is_serving and (self.is_inside or core.state is CLOSED):
            self.abort_for_gone_caller()
        elif core.state is CLOSED:
            self._close()
        elif core.state is RAW and self._exchange is not None:
            self._exchange.on_raw_end()
        return core.state is not CLOSED

    def connection_lost(self, _exc: Exception | None) -> None:
        self._core.close()
        self._front.forget(self)
        exchange, self._exchange = self._exchange, None
        if self.span is not None:
            self.span.end(CALLER_GONE)
        if exchange is not None:
            exchange.on_caller_gone()

    def pause_writing(self) -> None:
        self._stalls_at = self._now() + self._timeouts.write
        self._front.unread.note(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._stalls_at = 0.0
        self._front.unread.forget(self)
        if self._exchange is not None:
            self._exchange.on_caller_writable()
        elif self._core.surplus:
            self._read_request()

    # --- what the front calls -------------------------------------------------------------------

    @property
    def is_new(self) -> bool:
        """True until the first request."""
        return not self._core.head and self._core.state is not CLOSED

    def sweep(self, now: float) -> None:
        """Check time-outs, and callers that left while we didn't read; about once a second."""
        if self._deadline and now >= self._deadline:
            self._on_deadline()
        elif 0.0 < self._stalls_at <= now or self._has_left(now):
            self.abort_for_gone_caller()

    def abort_for_gone_caller(self) -> None:
        exchange = self._exchange
        self.abort(CALLER_GONE)
        if exchange is not None:
            exchange.on_caller_gone()

    def stop(self) -> None:
        """Close now, or when the current request is answered."""
        if self._core.state in (IDLE, HEAD, LINGER):
            self._close()

    # --- reading --------------------------------------------------------------------------------

    def _read_request(self) -> None:
        """Begin the next request if its head has come and the caller reads answers."""
        core = self._core
        before = core.state
        if self._stalls_at or (before is not IDLE and before is not HEAD):
            return
        try:
            request = core.next_request()
            if request is not None:
                self._begin(request)
            elif core.state is CLOSED:
                self._close()
            elif core.state is not before:
                self._deadline = self._now() + self._timeouts.head
        except BadMessage as fault:
            self._refuse(fault)

    def _begin(self, request: Request) -> None:
        """Raises BadMessage."""
        core = self._core
        body = core.next_body() if core.state is BODY else b""
        self._deadline = self._body_deadline()
        if core.state is CLOSED:
            self._close()
            return
        self._is_http10 = request.http10
        self._read_on()
        if not self._front.is_serving:
            request.keep_alive = False
        incoming = IncomingRequest(self, request, body, core.state is not BODY)
        exchange = self._front.dispatch(incoming)
        if core.state in SERVING:  # else it was answered within the call
            self._exchange = exchange

    def _receive_body(self) -> None:
        core, body = self._core, b""
        if self._is_held or self._reads_soon:
            return
        try:
            body = core.next_body()
        except BadMessage as fault:
            log.info("malformed body from %s: %s", self.peer, fault.reason)
            core.close()
        if core.state is CLOSED:
            self.abort_for_gone_caller()
            return
        fin = core.state is not BODY
        self._deadline = self._body_deadline()
        if self._exchange is not None and (body or fin):
            self._exchange.on_body(body, fin=fin)
        if not self._is_held:
            self._read_on()

    def _read_rest_of_body(self) -> None:
        self._reads_soon = False
        if self._core.state is BODY:
            try:
                self._receive_body()
            except Exception:
                self.abort_for_gone_caller()  # as asyncio does where data_received() fails
                raise

    def _receive_raw(self) -> None:
        data = self._core.take_surplus()
        if self._exchange is not None:
            self._exchange.on_raw(data)

    def _let_wait(self) -> None:
        """Leave the next requests to the core until the current one is answered."""

    def _refuse(self, fault: BadMessage) -> None:
        self.write(plain_refusal(fault.status, fault.reason))
        self._core.refuse()
        self._linger()

    def _read_on(self) -> None:
        """Read what has come of a body in the next turn, and again unless enough waits."""
        core = self._core
        if core.surplus and core.state is BODY and not self._reads_soon:
            self._reads_soon = True  # other connections get a turn first
            self._front.loop.call_soon(self._read_rest_of_body)
        if self._is_paused and len(core.surplus) <= MAX_PIPELINED_BYTES:
            self._resume_reading()

    def _pause_reading(self) -> None:
        if not (self._is_paused or self._core.state is CLOSED or self._core.has_ended):
            self._is_paused = True
            self.transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._is_paused and self._core.state is not CLOSED:
            self._is_paused = False
            self.transport.resume_reading()

    def _body_deadline(self) -> float:
        return self._now() + self._timeouts.body if self._core.state is BODY else 0.0

    # --- ending ---------------------------------------------------------------------------------

    def _linger(self) -> None:
        self._deadline = 0.0
        self._front.loop.call_later(self._timeouts.linger, self.stop)
        self._resume_reading()

    def _close(self) -> None:
        self._core.close()
        self._output.flush()
        self.transport.close()
        self._deadline = self._now() + self._timeouts.idle  # for a caller that reads nothing

    def _on_deadline(self) -> None:
        state = self._core.state
        if state is CLOSED:
            self.abort()
        elif state is HEAD and not self._stalls_at:
            self._refuse(BadMessage(408, "The head of the request took too long."))
        elif state not in SERVING:
            self._close()
        elif self._is_paused or self._is_held:
            self._deadline = self._body_deadline()  # the relay itself waits
        else:
            self.abort_for_gone_caller()

    def _has_left(self, now: float) -> bool:
        sock, has_ended = self.transport.get_extra_info("socket"), self._core.has_ended
        return self._disconnect.has_left(sock, now, has_ended=has_ended, is_paused=self._is_paused)


_ON_DATA: Final[Mapping[State, Callable[[FrontConnection], None]]] = {
    IDLE: FrontConnection._read_request,
    HEAD: FrontConnection._read_request,
    BODY: FrontConnection._receive_body,
    ANSWER: FrontConnection._let_wait,
    RAW: FrontConnection._receive_raw,
    LINGER: FrontConnection._let_wait,
    CLOSED: FrontConnection._close,  # it has lingered long enough
}
