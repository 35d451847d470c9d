"""The receiving half of a session: bytes in, events out.

A table per role says which kinds of frame an end accepts; before HELLO only HELLO and CLOSE are.
A frame for a stream that has ended is dropped without an error: it was under way when the stream
ended. All body bytes of one stream in a message become one event and are copied once, since
delivering an event costs as much as copying some tens of KiB.
"""

from collections.abc import Callable
from typing import Final, NoReturn, cast

from . import frames
from .errors import CloseCode, RemoteProtocolError, reason_of
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
    StreamOpened,
    StreamReset,
)
from .frames import FIN, HEADER, HEADER_BYTES, VERSION, Kind
from .heads import MAX_HEAD_BYTES
from .state import BODY, ENDED, HEAD, TunnelState

TINY_BYTES: Final = 64
MAX_TINY_FRAMES: Final = 4096
"""The most frames below TINY_BYTES that an agent may put into a message. A message of frames of one
byte costs a hundred times the work of another of its size. Our agents gather some sixteen frames,
and while their link is congested a few for each of their streams."""


_COPIED_BYTES: Final = 8192
"""A message up to this size is copied out of the link's buffer at once, since parts of bytes are
taken faster than parts of a memoryview."""

# The kinds of nearly all frames, as plain numbers. Their methods are called by name: to find one in
# a table and to call what was found there costs the compiled receiver as much as all else here.
_OPEN: Final = 2
_HEAD: Final = 3
_DATA: Final = 5
_WITHOUT_FIN: Final = 0x7F


class _Body:
    """Body bytes of one stream in one message: the payloads, still in the link's buffer."""

    __slots__ = ("fin", "payloads", "stream")

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.payloads: list[bytes | memoryview] = []
        self.fin = False

    def event(self) -> DataReceived:
        return DataReceived(self.stream, b"".join(self.payloads), self.fin)


class Receiver:
    """tiny_frames: how many frames below TINY_BYTES the last message held."""

    __slots__ = (
        "_bodies",
        "_is_hub",
        "_max_tiny",
        "_table",
        "_table_after_hello",
        "_tunnel",
        "tiny_frames",
    )

    def __init__(self, tunnel: TunnelState, *, is_hub: bool) -> None:
        self.tiny_frames = 0
        self._tunnel = tunnel
        self._is_hub = is_hub
        self._bodies: dict[int, _Body] = {}  # by stream, of the message being read
        self._max_tiny = MAX_TINY_FRAMES if is_hub else frames.MAX_MESSAGE_BYTES
        self._table = _BEFORE_HELLO
        self._table_after_hello = _AT_HUB if is_hub else _AT_AGENT

    def receive(self, message: bytes | memoryview) -> list[Event]:
        """Return the events of one link message. Raises RemoteProtocolError."""
        found: list[Event | _Body] = []
        at, size, tiny = 0, len(message), 0
        if size > frames.MAX_MESSAGE_BYTES:
            raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"a message of {size} bytes")
        if size <= _COPIED_BYTES:
            message = bytes(message)
        while at < size and not self._tunnel.closed:
            if size - at < HEADER_BYTES:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "a frame header is cut short")
            length, stream, kind = HEADER.unpack_from(message, at)
            at += HEADER_BYTES
            if length > frames.MAX_PAYLOAD_BYTES:
                raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"a frame of {length} bytes")
            if length > size - at:
                raise RemoteProtocolError(CloseCode.BAD_FRAME, "a frame is cut short")
            if length < TINY_BYTES:
                tiny += 1
                if tiny > self._max_tiny:
                    text = f"over {self._max_tiny} frames below {TINY_BYTES} bytes in a message"
                    raise RemoteProtocolError(CloseCode.BAD_FRAME, text)
            payload = message[at : at + length]
            at += length
            event: Event | _Body | None
            plain = kind & _WITHOUT_FIN if self._table is self._table_after_hello else 0
            if plain == _DATA:
                event = self._data(kind, stream, payload)
            elif plain == _HEAD and self._is_hub:
                event = self._head(kind, stream, bytes(payload))
            elif plain == _OPEN and not self._is_hub:
                event = self._open(kind, stream, bytes(payload))
            else:
                event = self._table[kind](self, kind, stream, bytes(payload))
            if event is not None:
                found.append(event)
        self.tiny_frames = tiny
        if not self._bodies:
            return cast("list[Event]", found)
        self._bodies = {}
        return [part.event() if isinstance(part, _Body) else part for part in found]

    # --- frames of streams ----------------------------------------------------------------------

    def _open(self, kind: int, stream: int, payload: bytes) -> Event:
        tunnel = self._tunnel
        if stream <= tunnel.last_opened:
            text = f"stream {stream} opened behind stream {tunnel.last_opened}"
            raise RemoteProtocolError(CloseCode.STREAM_REUSED, text)
        if len(tunnel.streams) >= tunnel.max_streams:
            text = f"over {tunnel.max_streams} streams"
            raise RemoteProtocolError(CloseCode.TOO_MANY_STREAMS, text)
        flags, head, body = frames.decode_open(payload)
        fin = kind >= FIN
        state = tunnel.add(stream, opened_here=False)
        state.arrived(len(body))
        if fin:
            state.incoming = ENDED
        upgrade, secure = flags & frames.OPEN_UPGRADE, flags & frames.OPEN_SECURE
        return StreamOpened(stream, head, body, fin, upgrade != 0, secure != 0)

    def _interim(self, _kind: int, stream: int, payload: bytes) -> Event | None:
        state = self._tunnel.readable(stream)
        if state is None:
            return None
        if state.incoming is not HEAD:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, "INTERIM behind HEAD")
        if len(payload) > MAX_HEAD_BYTES:
            raise RemoteProtocolError(CloseCode.BAD_HEAD, f"a head of {len(payload)} bytes")
        return InterimReceived(stream, payload)

    def _head(self, kind: int, stream: int, payload: bytes) -> Event | None:
        state = self._tunnel.readable(stream)
        if state is None:
            return None
        if state.incoming is not HEAD:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"two heads on stream {stream}")
        head, body = frames.decode_head(payload)
        state.arrived(len(body))
        state.incoming = BODY
        fin = kind >= FIN
        if fin:
            self._tunnel.end_remote(stream, state)
        return HeadReceived(stream, head, body, fin)

    def _data(self, kind: int, stream: int, payload: bytes | memoryview) -> _Body | None:
        """Return the body if it is the first of this stream in this message.

        Later frames are added to it: what else may come of the stream between them has no order.
        """
        state = self._tunnel.readable(stream)
        if state is None:
            return None
        if state.incoming is HEAD:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"DATA before HEAD on {stream}")
        if len(payload) > frames.CHUNK_BYTES:
            raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, f"DATA of {len(payload)} bytes")
        state.arrived(len(payload))
        fin = kind >= FIN
        if fin:
            self._tunnel.end_remote(stream, state)
        if not (payload or fin):
            return None
        pending = self._bodies.get(stream)
        body = pending or _Body(stream)
        body.payloads.append(payload)
        body.fin = fin
        if pending is not None:
            return None
        self._bodies[stream] = body
        return body

    def _credit(self, _kind: int, stream: int, payload: bytes) -> Event | None:
        size = frames.decode_credit(payload)
        state = self._tunnel.known(stream)
        if state is None:
            return None
        state.grant(size)
        return CreditReceived(stream)

    def _reset(self, _kind: int, stream: int, payload: bytes) -> Event | None:
        number, text = frames.decode_text(payload)
        if self._tunnel.known(stream) is None:
            return None
        del self._tunnel.streams[stream]
        return StreamReset(stream, reason_of(number), text)

    # --- frames of the tunnel -------------------------------------------------------------------

    def _control(self, kind: int, stream: int, payload: bytes) -> Event | None:
        if stream != 0:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, f"kind {kind} on stream {stream}")
        return _CONTROL[kind](self, payload)

    def _hello(self, payload: bytes) -> Event:
        low, high, window, names = frames.decode_hello(payload)
        if not low <= VERSION <= high:
            text = f"this end speaks version {VERSION}, the other {low} to {high}"
            raise RemoteProtocolError(CloseCode.VERSION_UNSUPPORTED, text)
        self._tunnel.peer_window = window
        self._table = self._table_after_hello
        return PeerReady(VERSION, frozenset(names))

    def _ping(self, payload: bytes) -> None:
        self._tunnel.pong = frames.frame(Kind.PONG, 0, frames.decode_ping(payload))

    def _pong(self, payload: bytes) -> None:
        frames.decode_ping(payload)  # any PONG shows that the other end is alive

    def _message(self, payload: bytes) -> Event:
        if len(payload) > frames.CHUNK_BYTES:
            text = f"a control message of {len(payload)} bytes"
            raise RemoteProtocolError(CloseCode.FRAME_TOO_LARGE, text)
        return MessageReceived(payload)

    def _drain(self, payload: bytes) -> Event:
        if payload:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, "DRAIN carries nothing")
        self._tunnel.peer_draining = True
        return PeerDraining()

    def _close(self, payload: bytes) -> Event:
        number, text = frames.decode_text(payload)
        self._tunnel.closed = True
        return PeerClosed(number, text)

    # --- frames that are refused ----------------------------------------------------------------

    def _refuse(self, kind: int, _stream: int, _payload: bytes) -> NoReturn:
        """Refuse a kind that the current table doesn't have."""
        plain = kind & ~FIN
        if plain not in _NAMES:
            raise RemoteProtocolError(CloseCode.BAD_FRAME, f"unknown kind {plain}")
        name = _NAMES[plain]
        if kind >= FIN and plain not in (Kind.OPEN, Kind.HEAD, Kind.DATA):
            raise RemoteProtocolError(CloseCode.BAD_FRAME, f"{name} carries no FIN")
        if self._tunnel.peer_window == 0:
            raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"{name} before HELLO")
        raise RemoteProtocolError(CloseCode.UNEXPECTED_FRAME, f"{name} has no place here")


_Take = Callable[[Receiver, int, int, bytes], Event | _Body | None]
_NAMES: Final = {int(kind): kind.name for kind in Kind}

_CONTROL: Final[dict[int, Callable[[Receiver, bytes], Event | None]]] = {
    Kind.HELLO: Receiver._hello,
    Kind.PING: Receiver._ping,
    Kind.PONG: Receiver._pong,
    Kind.MESSAGE: Receiver._message,
    Kind.DRAIN: Receiver._drain,
    Kind.CLOSE: Receiver._close,
}


def _table(takes: dict[int, _Take]) -> list[_Take]:
    """Return the method for each of the 256 values of a kind byte, FIN included."""
    return [takes.get(kind, Receiver._refuse) for kind in range(256)]


_AT_EITHER_END: Final[dict[int, _Take]] = {
    Kind.DATA: Receiver._data,
    Kind.DATA | FIN: Receiver._data,
    Kind.CREDIT: Receiver._credit,
    Kind.RESET: Receiver._reset,
    Kind.PING: Receiver._control,
    Kind.PONG: Receiver._control,
    Kind.MESSAGE: Receiver._control,
    Kind.DRAIN: Receiver._control,
    Kind.CLOSE: Receiver._control,
}
_AT_AGENT: Final = _table(
    {**_AT_EITHER_END, Kind.OPEN: Receiver._open, Kind.OPEN | FIN: Receiver._open}
)
_AT_HUB: Final = _table(
    {
        **_AT_EITHER_END,
        Kind.INTERIM: Receiver._interim,
        Kind.HEAD: Receiver._head,
        Kind.HEAD | FIN: Receiver._head,
    }
)
_BEFORE_HELLO: Final = _table({Kind.HELLO: Receiver._control, Kind.CLOSE: Receiver._control})
