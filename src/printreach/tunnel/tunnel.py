"""A session on a link, driven by the event loop: it reads, writes and schedules streams fairly.

Output is gathered and flushed once per turn of the loop, or at once when a chunk's worth or
MAX_GATHERED frames wait. While the link is congested, streams with bytes to send take turns, a
chunk each, so that a page is served beside a download.
"""

import asyncio
import logging
from typing import Final, Protocol

from printreach.wire import events
from printreach.wire.errors import CloseCode, Reason, RemoteProtocolError
from printreach.wire.frames import CHUNK_BYTES
from printreach.wire.session import Session

from .keepalive import KeepaliveTimer
from .link import Link
from .shared_timer import Timers
from .stream import Stream, StreamHandler

log = logging.getLogger(__name__)

MAX_OPENED_WHILE_FULL_BYTES: Final = 1024 * 1024
"""Enough for tens of the largest heads with their first chunk, or for hundreds of usual ones."""

MAX_GATHERED: Final = 16
"""The most frames in a message. With more, the ends work in turn: 64 callers got a third less."""

CALM_CHUNKS: Final = 16
"""After this many chunks in a row that did not fill the link, chunks are gathered: then no page
waits long after a large message. A home's uplink is full at the second or third chunk."""


class TunnelHandler(Protocol):
    """Callbacks for events of the whole tunnel."""

    def on_tunnel_ready(self, capabilities: frozenset[str]) -> None: ...
    def on_stream(self, stream: Stream, opened: events.StreamOpened) -> None:
        """A stream was opened by the other end; set stream.handler or reset it."""

    def on_tunnel_message(self, payload: bytes) -> None: ...
    def on_tunnel_draining(self) -> None: ...
    def on_tunnel_closed(self, code: int | None, text: str) -> None:
        """Called once. code: of a CLOSE frame, theirs or ours; None for a lost link."""


class Tunnel:
    __deletable__ = ("_tunnel_handler",)  # the compiler must be told

    def __init__(
        self,
        session: Session,
        link: Link,
        handler: TunnelHandler,
        idle_timers: Timers | None = None,
    ) -> None:
        """idle_timers: where timers are set while no stream is open; the loop by default."""
        self.session = session
        self.is_congested = False  # streams take turns
        self.is_closed = False
        self.capabilities: frozenset[str] = frozenset()  # of the other end, once it is ready
        self._link = link
        self._tunnel_handler = handler
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, Stream] = {}
        self._waiting: dict[int, Stream] = {}  # in the order of their turns
        self._is_reading = False  # events of one message are being delivered
        self._perhaps_ended: list[int] = []
        self._is_link_full = False
        self._opened_while_full = 0  # bytes that streams were opened with, which wait here
        self._flush_handle: asyncio.Handle | None = None
        self._calm_chunks = 0  # that have left since the link was full
        self._unflushed = 0
        self._gathered = 0
        self._keepalive = KeepaliveTimer(session, self, idle_timers)

    def start(self) -> None:
        """Begin: send our HELLO and read messages that have arrived already."""
        self.flush_soon()
        self._keepalive.begin()
        self._link.start(self)

    # --- what the application calls -------------------------------------------------------------

    @property
    def is_overloaded(self) -> bool:
        """True while too much waits for an end that doesn't read: open no stream for now."""
        # Heads need no credit, so nothing else bounds them.
        return self.session.is_full or self._opened_while_full >= MAX_OPENED_WHILE_FULL_BYTES

    def open(
        self,
        handler: StreamHandler,
        head: bytes,
        body: bytes = b"",
        *,
        fin: bool,
        upgrade: bool = False,
        secure: bool = False,
    ) -> Stream:
        """Open a stream (hub). body: at most a chunk. Ask `session.may_open` first."""
        stream_id = self.session.open(head, body, fin=fin, upgrade=upgrade, secure=secure)
        stream = self._streams[stream_id] = Stream(self, stream_id, handler)
        if self._is_link_full:
            self._opened_while_full += len(head) + len(body)
        self.flush_soon(len(body))
        if len(self._streams) == 1:
            self._keepalive.advance()
        return stream

    def message(self, payload: bytes) -> None:
        if not self.is_closed:
            self.session.message(payload)
            self.flush_soon()

    def notice_sooner(self) -> None:
        """Notice sooner from now on that the other end has failed."""
        self.session.notice_sooner()
        self._keepalive.advance()

    def drain(self) -> None:
        if not self.is_closed:
            self.session.drain()
            self.flush_soon()

    def close(self, code: CloseCode, text: str = "") -> None:
        """Send the reason, then close; open streams end with TUNNEL_LOST."""
        if not self.is_closed:
            self.session.close(code, text)
            self._send_rest_and_close()
            self._ended(code, text, Reason.TUNNEL_LOST)

    def abort(self, text: str, reason: Reason = Reason.TUNNEL_LOST) -> None:
        """Close without a CLOSE frame, when the other end doesn't read any more."""
        if not self.is_closed:
            self._ended(None, text, reason)
            self._link.abort()

    # --- what streams call ----------------------------------------------------------------------

    def flush_soon(self, size: int = 0) -> None:
        self._unflushed += size
        self._gathered += 1
        if self._unflushed >= CHUNK_BYTES or self._gathered >= MAX_GATHERED:
            self._flush()
        elif self._flush_handle is None:
            self._flush_handle = self._loop.call_soon(self._flush_now)

    def pump(self, stream: Stream) -> None:
        """Send as much of a stream's held bytes as may go; the rest waits for its turn.

        Each chunk may fill the link, and is flushed by itself. After CALM_CHUNKS that did not, they
        are gathered into one message: larger writes and reads, and fewer events, at both ends.
        """
        while not self.is_congested and stream.send_held_chunk():
            self._calm_chunks += 1
            if self._calm_chunks <= CALM_CHUNKS:
                self._flush()
        self._flush()
        if not stream.is_holding:
            self.forget_if_ended(stream.id)
        elif self.is_congested:
            self._waiting[stream.id] = stream

    def reset(self, stream: Stream, reason: Reason, text: str) -> None:
        self._forget(stream.id)
        if not self.is_closed:
            self.session.reset(stream.id, reason, text)
            self.flush_soon()

    def forget_if_ended(self, stream_id: int) -> None:
        if self._is_reading:
            self._perhaps_ended.append(stream_id)  # more of its events may follow
        elif not self.session.is_open(stream_id):
            self._forget(stream_id)

    # --- what the link calls --------------------------------------------------------------------

    def on_link_message(self, data: bytes | memoryview) -> int:
        if self.is_closed:
            return 0
        try:
            received = self.session.receive(data, self._loop.time())
        except RemoteProtocolError as fault:
            log.warning("tunnel closed: the other end broke the protocol: %s", fault)
            self._send_rest_and_close()
            self._ended(fault.code, fault.text, Reason.TUNNEL_LOST)
            return 0
        self._is_reading = True
        for event in received:
            self._deliver(event)
        self._is_reading = False
        self._forget_ended()
        if self._keepalive.is_waiting and not self.is_closed:
            self._keepalive.on_received()
        if self.session.has_output:
            self.flush_soon()
        return self.session.tiny_frames

    def on_link_congested(self) -> None:
        self._is_link_full = self.is_congested = True
        self._calm_chunks = 0

    def on_link_clear(self) -> None:
        self._is_link_full = False
        self._opened_while_full = 0
        self._flush()
        # Still congested for streams: one that sends now, from on_writable, comes last.
        while self._waiting and not self._is_link_full:
            stream_id = next(iter(self._waiting))
            stream = self._waiting.pop(stream_id)
            if stream.send_held_chunk():
                self.flush_soon(CHUNK_BYTES)
            self._after_turn(stream)
        self.is_congested = self._is_link_full

    def on_link_lost(self, detail: str) -> None:
        self._ended(None, detail, Reason.TUNNEL_LOST)

    # --- what the keep-alive calls --------------------------------------------------------------

    def on_ping(self) -> None:
        self._flush()

    def on_silence(self, silent_s: float) -> None:
        self.abort(f"no sign of life for {silent_s:.0f} s", Reason.TUNNEL_SILENT)

    # --- helpers --------------------------------------------------------------------------------

    def _deliver(self, event: events.Event) -> None:
        if self.is_closed:  # by a handler, in the middle of this message
            return
        try:
            self._handle(event)
        except Exception:
            log.exception("reading a tunnel failed unexpectedly")
            self._failed(event)

    def _handle(self, event: events.Event) -> None:
        # By name and not by a table, which costs the compiled tunnel ten times as much. And not by
        # `match`, whose patterns of named tuples cost the interpreted one a microsecond.
        if isinstance(event, events.DataReceived):
            self._data(event)
        elif isinstance(event, events.HeadReceived):
            self._head(event)
        elif isinstance(event, events.StreamOpened):
            self._opened(event)
        elif isinstance(event, events.CreditReceived):
            self._credit(event)
        elif isinstance(event, events.InterimReceived):
            self._interim(event)
        elif isinstance(event, events.StreamReset):
            self._reset(event)
        elif isinstance(event, events.MessageReceived):
            self._tunnel_handler.on_tunnel_message(event.payload)
        elif isinstance(event, events.PeerReady):
            self._ready(event)
        elif isinstance(event, events.PeerDraining):
            self._tunnel_handler.on_tunnel_draining()
        elif isinstance(event, events.PeerClosed):
            self._peer_closed(event)

    def _data(self, event: events.DataReceived) -> None:
        stream_id, data, fin = event.stream, event.data, event.fin
        if fin:
            self.forget_if_ended(stream_id)
        if (handler := self._handler(stream_id)) is not None:
            handler.on_data(data, fin)
        else:
            self.session.taken(stream_id, len(data))  # the stream was reset here

    def _head(self, event: events.HeadReceived) -> None:
        stream_id, head, body, fin = event.stream, event.head, event.body, event.fin
        if fin:
            self.forget_if_ended(stream_id)
        if (handler := self._handler(stream_id)) is not None:
            handler.on_head(head, body, fin)

    def _opened(self, event: events.StreamOpened) -> None:
        stream_id = event.stream
        if self.session.is_open(stream_id):  # else its RESET came in the same message
            stream = self._streams[stream_id] = Stream(self, stream_id, None)
            if len(self._streams) == 1:
                self._keepalive.advance()
            self._tunnel_handler.on_stream(stream, event)

    def _credit(self, event: events.CreditReceived) -> None:
        stream = self._streams.get(event.stream)
        if stream is not None and stream.is_holding and event.stream not in self._waiting:
            self.pump(stream)
            self._after_turn(stream)

    def _interim(self, event: events.InterimReceived) -> None:
        if (handler := self._handler(event.stream)) is not None:
            handler.on_interim(event.head)

    def _reset(self, event: events.StreamReset) -> None:
        handler = self._handler(event.stream)
        self._forget(event.stream)
        if handler is not None:
            handler.on_reset(event.reason, event.text)

    def _ready(self, event: events.PeerReady) -> None:
        self.capabilities = event.capabilities
        self._tunnel_handler.on_tunnel_ready(event.capabilities)

    def _peer_closed(self, event: events.PeerClosed) -> None:
        self._link.close()
        self._ended(event.code, event.text, Reason.TUNNEL_LOST)

    def _handler(self, stream_id: int) -> StreamHandler | None:
        stream = self._streams.get(stream_id)
        return stream.handler if stream is not None else None

    def _failed(self, event: events.Event) -> None:
        """End the stream or the tunnel that an event was about, because our own code raised."""
        stream_id = getattr(event, "stream", None)
        if stream_id is None:
            self.abort("a fault at this end")
        elif (stream := self._streams.get(stream_id)) is not None:
            self._fail(stream)

    def _fail(self, stream: Stream) -> None:
        handler = stream.handler
        stream.reset(Reason.BROKEN, "a fault at this end")
        if handler is not None:
            self._end_stream(handler, Reason.BROKEN, "a fault at this end")

    def _end_stream(self, handler: StreamHandler, reason: Reason, text: str) -> None:
        try:
            handler.on_reset(reason, text)
        except Exception:
            log.exception("ending a stream failed unexpectedly")

    def _after_turn(self, stream: Stream) -> None:
        if not stream.is_holding:
            self._report_writable(stream)
            self.forget_if_ended(stream.id)
        elif stream.may_send:
            self._waiting[stream.id] = stream

    def _report_writable(self, stream: Stream) -> None:
        if stream.handler is not None:
            try:
                stream.handler.on_writable()
            except Exception:
                log.exception("a stream's turn to send failed unexpectedly")
                self._fail(stream)

    def _forget_ended(self) -> None:
        """Called after the last event of a message only: a RESET after a FIN needs its stream."""
        if self._perhaps_ended:
            for stream_id in self._perhaps_ended:
                self.forget_if_ended(stream_id)
            self._perhaps_ended.clear()

    def _forget(self, stream_id: int) -> None:
        if stream_id in self._waiting:
            del self._waiting[stream_id]
        if (stream := self._streams.get(stream_id)) is not None:
            del self._streams[stream_id]
            stream.handler = None  # breaks a reference cycle

    def _flush_now(self) -> None:
        self._flush_handle = None
        self._flush()

    def _flush(self) -> None:
        if self._flush_handle is not None:
            self._flush_handle.cancel()
            self._flush_handle = None
        self._unflushed = self._gathered = 0
        # While the link is congested output waits here, where a hundred PONGs become one.
        while not self.is_closed and not self._is_link_full and self.session.has_output:
            self._link.send(self.session.take_output())

    def _send_rest_and_close(self) -> None:
        while self.session.has_output:
            self._link.send(self.session.take_output())
        self._link.close()

    def _ended(self, code: int | None, text: str, reason: Reason) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self.session.close(CloseCode.NORMAL)  # so that no stream is opened on it any more
        self._keepalive.end()
        if self._flush_handle is not None:
            self._flush_handle.cancel()
        streams, self._streams = self._streams, {}
        self._waiting.clear()
        for stream in streams.values():
            if stream.handler is not None:
                self._end_stream(stream.handler, reason, text)
        try:
            self._tunnel_handler.on_tunnel_closed(code, text)
        except Exception:
            log.exception("ending a tunnel failed unexpectedly")
        del self._tunnel_handler  # breaks a reference cycle
