"""The tunnel session: bytes in, events out; calls in, bytes out. No I/O, no clock of its own.

Both ends run this class. The HUB (a relay node) opens streams, the AGENT answers them:

    hub    OPEN [DATA]* FIN            RESET either way, at any time
    agent  [INTERIM]* HEAD [DATA]* FIN

Each direction of a stream ends with FIN; the stream is forgotten when both did, or on a RESET.
Frames for a forgotten stream are dropped in silence: they were under way when it ended. Time is
told by the caller (`now`, seconds of any steady clock).
"""

from enum import Enum

from . import frames
from .errors import (
    CloseCode,
    LocalProtocolError,
    Reason,
    RemoteProtocolError,
    close_code_of,
    reason_of,
)
from .events import (
    CreditReceived,
    DataReceived,
    Event,
    HeadReceived,
    InterimReceived,
    MessageReceived,
    PeerClosed,
    PeerDraining,
    PeerReady,
    PeerSilent,
    StreamOpened,
    StreamReset,
)
from .frames import FIN, HEADER, HEADER_BYTES, Kind
from .heads import MAX_HEAD_BYTES
from .keepalive import Keepalive
from .window import StreamState

VERSION = 1
MAX_STREAMS = 512
"""Streams at once in one tunnel: browsers open some tens, a farm's dashboard some hundred."""


class Role(Enum):
    HUB = "hub"
    AGENT = "agent"


class Session:
    def __init__(
        self,
        role: Role,
        *,
        now: float,
        window: int = frames.WINDOW_BYTES,
        capabilities: tuple[str, ...] = (),
    ) -> None:
        self._role = role
        self._window = window
        self._keepalive = Keepalive(now, idle_s=30.0 if role is Role.HUB else 45.0)
        self._streams: dict[int, StreamState] = {}
        self._last_opened = 0
        self._peer_window = 0  # 0 until its HELLO arrived
        self._output: list[bytes] = []
        self._pong = b""  # one at most, however many pings come while the link is congested
        self._closed = False
        self._draining = False
        self._peer_draining = False
        hello = frames.encode_hello(VERSION, VERSION, window, capabilities)
        self._write(Kind.HELLO, 0, hello)

    # --- what we know -------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """The other end's HELLO has arrived and the session is open."""
        return self._peer_window > 0 and not self._closed

    @property
    def may_open(self) -> bool:
        """A stream may be opened now."""
        return (
            self.is_ready
            and not self._draining
            and not self._peer_draining
            and len(self._streams) < MAX_STREAMS
        )

    @property
    def stream_count(self) -> int:
        return len(self._streams)

    def is_open(self, stream: int) -> bool:
        return stream in self._streams

    def credit(self, stream: int) -> int:
        """Body bytes that may be sent on a stream now; 0 when it is gone."""
        state = self._streams.get(stream)
        return state.outgoing.credit if state is not None else 0

    # --- calls in, bytes out ------------------------------------------------------------------

    def take_output(self) -> bytes:
        """The next link message: all that waits, up to MAX_MESSAGE_BYTES; empty when nothing does.

        Ask again while has_output.
        """
        output, self._output = self._output, []
        if self._pong:
            output.append(self._pong)
            self._pong = b""
        message = output[0] if len(output) == 1 else b"".join(output)
        if len(message) > frames.MAX_MESSAGE_BYTES:
            message, rest = frames.split_message(message)
            self._output.append(rest)
        return message

    @property
    def has_output(self) -> bool:
        return bool(self._output or self._pong)

    def open(
        self,
        head: bytes,
        body: bytes = b"",
        *,
        fin: bool,
        upgrade: bool = False,
        secure: bool = False,
    ) -> int:
        """Open a stream (hub). body: the first bytes, at most a chunk and the window."""
        if self._role is not Role.HUB or not self.may_open:
            raise LocalProtocolError("no stream can be opened here now")
        frames.check_sizes(head, body)
        stream = self._last_opened + 1
        state = StreamState(self._peer_window, self._window)
        state.outgoing.spend(len(body))
        state.local_open = not fin
        self._streams[stream] = state
        flags = (frames.OPEN_UPGRADE if upgrade else 0) | (frames.OPEN_SECURE if secure else 0)
        payload = frames.encode_open(flags, head, body)
        self._write(Kind.OPEN | (FIN if fin else 0), stream, payload)
        self._last_opened = stream
        if stream == frames.MAX_STREAM_ID:
            self.drain()
        return stream

    def interim(self, stream: int, head: bytes) -> None:
        """Pass on a 1xx answer other than 101 (agent)."""
        state = self._writable(stream)
        if state.head_sent or self._role is not Role.AGENT:
            raise LocalProtocolError(f"an interim head has no place on stream {stream}")
        frames.check_sizes(head, b"")
        self._write(Kind.INTERIM, stream, head)

    def respond(self, stream: int, head: bytes, body: bytes = b"", *, fin: bool) -> None:
        """Send the head of the answer (agent). body: the first bytes, within the credit."""
        state = self._writable(stream)
        if state.head_sent or self._role is not Role.AGENT:
            raise LocalProtocolError(f"a head has no place on stream {stream}")
        frames.check_sizes(head, body)
        state.outgoing.spend(len(body))
        state.head_sent = True
        self._write(Kind.HEAD | (FIN if fin else 0), stream, frames.encode_head(head, body))
        if fin:
            self._end_local(stream, state)

    def send(self, stream: int, data: bytes, *, fin: bool) -> None:
        """Send body bytes, at most a chunk and within the credit."""
        state = self._writable(stream)
        if self._role is Role.AGENT and not state.head_sent:
            raise LocalProtocolError(f"a body before its head on stream {stream}")
        if len(data) > frames.CHUNK_BYTES:
            raise LocalProtocolError(f"a chunk of {len(data)} bytes")
        if not data and not fin:
            return
        state.outgoing.spend(len(data))
        self._output.append(HEADER.pack(len(data), stream, Kind.DATA | (FIN if fin else 0)))
        self._output.append(data)
        if fin:
            self._end_local(stream, state)

    def taken(self, stream: int, size: int) -> None:
        """The application has taken size bytes of a stream: credit goes back in good time."""
        state = self._streams.get(stream)
        if state is None or not state.remote_open:
            return
        owed = state.incoming.taken(size)
        if owed:
            self._write(Kind.CREDIT, stream, frames.U32.pack(owed))

    def reset(self, stream: int, reason: Reason, text: str = "") -> None:
        """End a stream both ways now. Nothing happens when it is gone already."""
        if self._streams.pop(stream, None) is not None:
            self._write(Kind.RESET, stream, frames.encode_text(reason, text))

    def message(self, payload: bytes) -> None:
        if len(payload) > frames.CHUNK_BYTES:
            raise LocalProtocolError(f"a control message of {len(payload)} bytes")
        self._write(Kind.MESSAGE, 0, payload)

    def drain(self) -> None:
        """No new streams from now on; running ones finish."""
        if not self._draining:
            self._draining = True
            self._write(Kind.DRAIN, 0, b"")

    def close(self, code: CloseCode, text: str = "") -> None:
        """Say why the link is about to close. Nothing can be sent afterwards."""
        if not self._closed:
            self._write(Kind.CLOSE, 0, frames.encode_text(code, text))
            self._closed = True
            self._pong = b""

    # --- bytes in, events out -----------------------------------------------------------------

    def receive(self, message: bytes | memoryview, now: float) -> list[Event]:
        """Take one link message. Behind a CLOSE, theirs or ours, nothing is heard any more.

        Raises RemoteProtocolError when it breaks the protocol; a CLOSE frame that names the fault
        is then waiting in the output. Events of the whole frames before the fault are lost with
        the tunnel.
        """
        try:
            return self._receive(message, now)
        except RemoteProtocolError as fault:
            self.close(fault.code, fault.text)
            raise

    def _receive(self, message: bytes | memoryview, now: float) -> list[Event]:
        self._keepalive.heard(now)
        events: list[Event] = []
        at, size = 0, len(message)
        if size > frames.MAX_MESSAGE_BYTES:
            raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"a message of {size} bytes")
        while at < size and not self._closed:
            if size - at < HEADER_BYTES:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "a frame header is cut short")
            length, stream, kind = HEADER.unpack_from(message, at)
            at += HEADER_BYTES
            if length > frames.MAX_PAYLOAD_BYTES:
                raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"a frame of {length} bytes")
            if length > size - at:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "a frame is cut short")
            payload = bytes(message[at : at + length])
            at += length
            event = self._receive_frame(kind, stream, payload)
            if event is not None:
                events.append(event)
        return events

    def _receive_frame(self, kind: int, stream: int, payload: bytes) -> Event | None:
        fin = kind >= FIN
        kind &= 0x7F
        if self._peer_window == 0 and kind not in (Kind.HELLO, Kind.CLOSE):
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, "HELLO comes first")
        match kind:
            case Kind.DATA:
                return self._receive_data(stream, payload, fin)
            case Kind.OPEN:
                return self._receive_open(stream, payload, fin)
            case Kind.HEAD:
                return self._receive_head(stream, payload, fin)
        if fin:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, f"kind {kind} carries no FIN")
        match kind:
            case Kind.CREDIT:
                return self._receive_credit(stream, payload)
            case Kind.RESET:
                return self._receive_reset(stream, payload)
            case Kind.INTERIM:
                return self._receive_interim(stream, payload)
        if stream != 0:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, f"kind {kind} on stream {stream}")
        return self._receive_control(kind, payload)

    def _receive_open(self, stream: int, payload: bytes, fin: bool) -> Event:
        if self._role is not Role.AGENT:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, "only the hub opens streams")
        if stream <= self._last_opened:
            raise RemoteProtocolError(CloseCode.STREAM_REUSED, f"stream {stream} again")
        if len(self._streams) >= MAX_STREAMS:
            raise RemoteProtocolError(CloseCode.TOO_MANY_STREAMS, f"over {MAX_STREAMS} streams")
        flags, head, body = frames.decode_open(payload)
        self._last_opened = stream
        state = self._streams[stream] = StreamState(self._peer_window, self._window)
        state.head_seen = True
        state.incoming.arrived(len(body))
        state.remote_open = not fin
        upgrade = bool(flags & frames.OPEN_UPGRADE)
        return StreamOpened(stream, head, body, fin, upgrade, bool(flags & frames.OPEN_SECURE))

    def _receive_head(self, stream: int, payload: bytes, fin: bool) -> Event | None:
        state = self._readable(stream)
        if state is None:
            return None
        if state.head_seen:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"two heads on stream {stream}")
        head, body = frames.decode_head(payload)
        state.incoming.arrived(len(body))
        state.head_seen = True
        if fin:
            self._end_remote(stream, state)
        return HeadReceived(stream, head, body, fin)

    def _receive_interim(self, stream: int, payload: bytes) -> Event | None:
        state = self._readable(stream)
        if state is None:
            return None
        if state.head_seen:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, "INTERIM behind HEAD")
        if len(payload) > MAX_HEAD_BYTES:
            raise RemoteProtocolError(CloseCode.BAD_HEAD, f"a head of {len(payload)} bytes")
        return InterimReceived(stream, payload)

    def _receive_data(self, stream: int, payload: bytes, fin: bool) -> Event | None:
        state = self._readable(stream)
        if state is None:
            return None
        if not state.head_seen:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"DATA before HEAD on {stream}")
        if len(payload) > frames.CHUNK_BYTES:
            raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"DATA of {len(payload)} bytes")
        if not payload and not fin:
            return None
        state.incoming.arrived(len(payload))
        if fin:
            self._end_remote(stream, state)
        return DataReceived(stream, payload, fin)

    def _receive_credit(self, stream: int, payload: bytes) -> Event | None:
        if len(payload) != frames.U32.size:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, "CREDIT is four bytes")
        state = self._known(stream)
        if state is None:
            return None
        state.outgoing.grant(frames.U32.unpack(payload)[0])
        return CreditReceived(stream)

    def _receive_reset(self, stream: int, payload: bytes) -> Event | None:
        number, text = frames.decode_text(payload)
        if self._known(stream) is None:
            return None
        del self._streams[stream]
        return StreamReset(stream, reason_of(number), text)

    def _receive_control(self, kind: int, payload: bytes) -> Event | None:
        match kind:
            case Kind.HELLO:
                return self._receive_hello(payload)
            case Kind.PING | Kind.PONG if len(payload) != 8:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "PING and PONG are eight bytes")
            case Kind.PING:
                self._pong = frames.frame(Kind.PONG, 0, payload)
                return None
            case Kind.PONG:
                return None  # whatever arrives counts as a sign of life
            case Kind.MESSAGE if len(payload) > frames.CHUNK_BYTES:
                raise RemoteProtocolError(
                    CloseCode.FRAME_TOO_LARGE, f"a control message of {len(payload)} bytes"
                )
            case Kind.MESSAGE:
                return MessageReceived(payload)
            case Kind.DRAIN if payload:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "DRAIN carries nothing")
            case Kind.DRAIN:
                self._peer_draining = True
                return PeerDraining()
            case Kind.CLOSE:
                number, text = frames.decode_text(payload)
                self._closed = True
                return PeerClosed(close_code_of(number), text)
            case _:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, f"unknown kind {kind}")

    def _receive_hello(self, payload: bytes) -> Event:
        if self._peer_window:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, "a second HELLO")
        low, high, window, names = frames.decode_hello(payload)
        if not low <= VERSION <= high:
            text = f"this end speaks version {VERSION}, the other {low} to {high}"
            raise RemoteProtocolError(CloseCode.VERSION_UNSUPPORTED, text)
        self._peer_window = window
        return PeerReady(VERSION, frozenset(names))

    # --- time ---------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """When on_time should be called next; it moves with what is sent and received."""
        return self._keepalive.next_deadline(busy=bool(self._streams))

    def on_time(self, now: float) -> PeerSilent | None:
        """Send a ping where one is due; report an other end that left one unanswered."""
        if self._keepalive.is_silent(now):
            return PeerSilent(self._keepalive.silent_for(now))
        if self._keepalive.ping_is_due(now, busy=bool(self._streams)):
            self._write(Kind.PING, 0, self._keepalive.ping(now))
        return None

    # --- helpers ------------------------------------------------------------------------------

    def _write(self, kind: int, stream: int, payload: bytes) -> None:
        if not self._closed:
            self._output.append(frames.frame(kind, stream, payload))

    def _writable(self, stream: int) -> StreamState:
        state = self._streams.get(stream)
        if state is None or not state.local_open or self._closed:
            raise LocalProtocolError(f"stream {stream} is not open for sending")
        return state

    def _known(self, stream: int) -> StreamState | None:
        """The stream, or None when it ended lately; an id that never was is their fault."""
        state = self._streams.get(stream)
        if state is None and (stream == 0 or stream > self._last_opened):
            raise RemoteProtocolError(CloseCode.UNKNOWN_STREAM, f"stream {stream} was never opened")
        return state

    def _readable(self, stream: int) -> StreamState | None:
        state = self._known(stream)
        if state is not None and not state.remote_open:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"stream {stream} had its FIN")
        return state

    def _end_local(self, stream: int, state: StreamState) -> None:
        state.local_open = False
        if not state.remote_open:
            del self._streams[stream]

    def _end_remote(self, stream: int, state: StreamState) -> None:
        state.remote_open = False
        if not state.local_open:
            del self._streams[stream]
