"""The tunnel session: bytes in, events out; calls in, bytes out. No I/O, no clock of its own.

Both ends run this class. The HUB (a relay node) opens streams, the AGENT answers them:

    hub    OPEN [DATA]* FIN            RESET either way, at any time
    agent  [INTERIM]* HEAD [DATA]* FIN

Each direction of a stream ends with FIN; the stream is forgotten when both did, or on a RESET.
The caller passes the time (`now`, seconds of any monotonic clock). receiver.py is the receiving
half, state.py the state that both halves share.
"""

from enum import Enum
from typing import Final

from . import frames
from .errors import CloseCode, LocalProtocolError, Reason, RemoteProtocolError
from .events import Event, PeerSilent
from .frames import CHUNK_BYTES, FIN, HEADER, MAX_STREAMS, VERSION, Kind
from .keepalive import STALL_S, Keepalive
from .receiver import Receiver
from .state import BODY, ENDED, HEAD, TunnelState

# Kinds with and without FIN as plain numbers: making them from the enum takes longer than packing.
_OPEN: Final = int(Kind.OPEN)
_OPEN_FIN: Final = Kind.OPEN | FIN
_HEAD: Final = int(Kind.HEAD)
_HEAD_FIN: Final = Kind.HEAD | FIN
_DATA: Final = int(Kind.DATA)
_DATA_FIN: Final = Kind.DATA | FIN


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
        max_streams: int = MAX_STREAMS,
    ) -> None:
        self._is_hub = role is Role.HUB
        self._tunnel = TunnelState(window, now, max_streams)
        self._receiver = Receiver(self._tunnel, is_hub=self._is_hub)
        self._keepalive = Keepalive(now, idle_s=30.0 if self._is_hub else 45.0)
        self._output: list[bytes | memoryview] = []
        hello = frames.encode_hello(VERSION, VERSION, window, capabilities)
        self._write(Kind.HELLO, 0, hello)

    # --- state ----------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """The other end's HELLO has arrived and the session is open."""
        return self._tunnel.peer_window > 0 and not self._tunnel.closed

    @property
    def may_open(self) -> bool:
        """True while a stream may be opened."""
        tunnel = self._tunnel
        return (
            self._is_hub
            and tunnel.peer_window > 0
            and not (tunnel.closed or tunnel.draining or tunnel.peer_draining)
            and len(tunnel.streams) < tunnel.max_streams
        )

    @property
    def is_draining(self) -> bool:
        """True once either end has said that no stream is opened any more."""
        return self._tunnel.draining or self._tunnel.peer_draining

    @property
    def is_full(self) -> bool:
        """True while as many streams are open as there may be."""
        return len(self._tunnel.streams) >= self._tunnel.max_streams

    @property
    def stream_count(self) -> int:
        return len(self._tunnel.streams)

    def is_open(self, stream: int) -> bool:
        return stream in self._tunnel.streams

    def credit(self, stream: int) -> int:
        """Return the body bytes that may be sent on a stream now; 0 when it has ended."""
        state = self._tunnel.streams.get(stream)
        return state.credit if state is not None else 0

    # --- streams: calls in, bytes out -----------------------------------------------------------

    def open(
        self,
        head: bytes,
        body: bytes = b"",
        *,
        fin: bool,
        upgrade: bool = False,
        secure: bool = False,
    ) -> int:
        """Open a stream (hub). body: the first bytes, at most a chunk."""
        if not self.may_open:
            raise LocalProtocolError("no stream can be opened here now")
        frames.check_sizes(head, body)
        stream = self._tunnel.last_opened + 1
        state = self._tunnel.add(stream, opened_here=True)
        state.spend(len(body))
        if fin:
            state.outgoing = ENDED
        flags = (frames.OPEN_UPGRADE if upgrade else 0) | (frames.OPEN_SECURE if secure else 0)
        self._write(_OPEN_FIN if fin else _OPEN, stream, frames.encode_open(flags, head, body))
        if stream == frames.MAX_STREAM_ID:
            self.drain()
        return stream

    def interim(self, stream: int, head: bytes) -> None:
        """Pass on a 1xx answer other than 101 (agent)."""
        state = self._tunnel.writable(stream)
        if state.outgoing is not HEAD:
            raise LocalProtocolError(f"an interim head has no place on stream {stream}")
        frames.check_sizes(head, b"")
        self._write(Kind.INTERIM, stream, head)

    def respond(self, stream: int, head: bytes, body: bytes = b"", *, fin: bool) -> None:
        """Send the head of the answer (agent). body: the first bytes, within the credit."""
        state = self._tunnel.writable(stream)
        if state.outgoing is not HEAD:
            raise LocalProtocolError(f"a head has no place on stream {stream}")
        frames.check_sizes(head, body)
        state.spend(len(body))
        state.outgoing = BODY
        self._write(_HEAD_FIN if fin else _HEAD, stream, frames.encode_head(head, body))
        if fin:
            self._tunnel.end_local(stream, state)

    def send(self, stream: int, data: bytes | memoryview, *, fin: bool) -> None:
        """Send body bytes, at most a chunk and within the credit.

        They are copied when the output is taken: they must not change until then.
        """
        state = self._tunnel.writable(stream)
        if state.outgoing is HEAD:
            raise LocalProtocolError(f"a body before its head on stream {stream}")
        if len(data) > CHUNK_BYTES:
            raise LocalProtocolError(f"a chunk of {len(data)} bytes")
        if not data and not fin:
            return
        state.spend(len(data))
        self._write(_DATA_FIN if fin else _DATA, stream, data)
        if fin:
            self._tunnel.end_local(stream, state)

    def taken(self, stream: int, size: int) -> None:
        """Note that the application has consumed size bytes; credit is returned when it is due."""
        state = self._tunnel.streams.get(stream)
        if state is None or state.incoming is ENDED:
            return
        credit = state.taken(size, self._tunnel)
        if credit:
            self._write(Kind.CREDIT, stream, frames.U32.pack(credit))

    def reset(self, stream: int, reason: Reason, text: str = "") -> None:
        """End a stream in both directions now. Nothing happens when it has ended already."""
        if self._tunnel.streams.pop(stream, None) is not None:
            self._write(Kind.RESET, stream, frames.encode_text(reason, text))

    # --- the tunnel itself: calls in, bytes out -------------------------------------------------

    def message(self, payload: bytes) -> None:
        """Send a control message; at most a chunk."""
        if len(payload) > CHUNK_BYTES:
            raise LocalProtocolError(f"a control message of {len(payload)} bytes")
        self._write(Kind.MESSAGE, 0, payload)

    def drain(self) -> None:
        """Open no new streams from now on; running ones finish."""
        if not self._tunnel.draining:
            self._tunnel.draining = True
            self._write(Kind.DRAIN, 0, b"")

    def close(self, code: CloseCode, text: str = "") -> None:
        """Send the reason why the link is about to close. Nothing can be sent afterwards."""
        self._write(Kind.CLOSE, 0, frames.encode_text(code, text))
        self._tunnel.closed = True
        self._tunnel.pong = b""

    # --- the link -------------------------------------------------------------------------------

    @property
    def has_output(self) -> bool:
        return bool(self._output or self._tunnel.pong)

    def take_output(self) -> bytes:
        """Return the next link message: all that waits, up to MAX_MESSAGE_BYTES, or b"".

        Call it again while has_output.
        """
        output, self._output = self._output, []
        if self._tunnel.pong:
            output.append(self._tunnel.pong)
            self._tunnel.pong = b""
        message = b"".join(output)
        if len(message) > frames.MAX_MESSAGE_BYTES:
            message, rest = frames.split_message(message)
            self._output.append(rest)
        return message

    def receive(self, message: bytes | memoryview, now: float) -> list[Event]:
        """Return the events of one link message. After CLOSE in either direction it is ignored.

        Raises RemoteProtocolError when it breaks the protocol; a CLOSE frame that names the fault
        is then waiting in the output. Events of the whole frames before the fault are lost with
        the tunnel.
        """
        self._keepalive.on_received(now)
        self._tunnel.now = now
        try:
            return self._receiver.receive(message)
        except RemoteProtocolError as fault:
            self.close(fault.code, fault.text)
            raise

    @property
    def tiny_frames(self) -> int:
        """Return how many frames below TINY_BYTES the last message held."""
        return self._receiver.tiny_frames

    def notice_sooner(self) -> None:
        """Notice sooner that the other end hangs: another one can take over. See keepalive.py."""
        self._keepalive.notice_sooner()

    def next_deadline(self) -> float:
        """Return when on_time should be called next; sending and receiving move it."""
        return self._keepalive.next_deadline(busy=bool(self._tunnel.streams))

    def on_time(self, now: float) -> PeerSilent | None:
        """Send a ping if one is due, or report that the other end left one unanswered.

        A call much later than next_deadline reports nothing yet, because this end was stalled.
        """
        if now > self.next_deadline() + STALL_S:
            self._keepalive.extend_after_stall(now)
        if self._keepalive.is_silent(now):
            return PeerSilent(self._keepalive.silent_for(now))
        if self._keepalive.ping_is_due(now, busy=bool(self._tunnel.streams)):
            self._write(Kind.PING, 0, self._keepalive.ping(now))
        return None

    def _write(self, kind: int, stream: int, payload: bytes | memoryview) -> None:
        if not self._tunnel.closed:
            self._output.append(HEADER.pack(len(payload), stream, kind))
            self._output.append(payload)
