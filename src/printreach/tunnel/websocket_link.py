"""The link over a WebSocket by picows, which both the relay and the agent use.

picows is configured to leave pings to us (`enable_auto_pong=False`): if they were answered at once,
a flood of them from an end that reads nothing would fill our memory with pongs.
"""

import asyncio
import socket
import struct
from ipaddress import ip_address
from typing import Final

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from printreach.rules.rate_limits import TokenBucket
from printreach.wire.frames import MAX_MESSAGE_BYTES
from printreach.wire.receiver import TINY_BYTES

from .link import MAX_UNSIGNED_MESSAGE_BYTES, LinkReceiver

SUBPROTOCOL = "printreach.tunnel.v1"

HIGH_WATER_BYTES = 64 * 1024
"""Unsent bytes in our own buffer above which streams take turns; the size of a chunk."""
FRAME_HEAD_ROOM = 14
"""Bytes that picows needs before a message for the frame's header."""
JOINED_BYTES = 4096
"""A message below this size is copied behind its frame's header: over TLS a header by itself is a
record by itself, which costs more."""
NOTSENT_LOWAT_BYTES = 16 * 1024
"""Unsent bytes that the kernel takes. With more, a page would wait for a download that has been
handed to the kernel already."""
CLOSE_WITHIN_S = 5.0
"""The time-out after our close: otherwise an end that reads nothing could keep the connection for
ever."""

MAX_TINY_FRAMES: Final = 10_000
TINY_FRAME_EVERY_S: Final = 1 / 20_000
"""The other end may send so many tiny frames at once, and one more each time this passes: frames of
the tunnel or of the WebSocket. If it sends more it is read more slowly, since each takes some
10 µs of work: a fifth of a core."""
COUNTED_AT_ONCE: Final = 256

NO_MASK: Final = bytes(4)
"""The masking key that leaves a message as it is.

Masks keep pages in a browser from sending bytes that a machine on the way takes for HTTP (RFC 6455,
section 10.3). Over TLS no such machine sees the bytes, and within one there is none: an agent then
saves itself and the relay the work. Otherwise it masks, since a printer's answers may be anybody's.
"""

_WHOLE_BINARY: Final = 0x82
_MASKED: Final = 0x80

_DISCARD = struct.pack("ii", 1, 0)  # SO_LINGER: on, for no time


class WebSocketLink(WSListener):
    """A link over one WebSocket.

    is_trusted: False while the other end has not signed in; see trust().
    frames: the frames that came so far. max_message_bytes: of a message that comes.
    """

    def __init__(self, *, is_trusted: bool = True) -> None:
        self.frames = 0
        self.is_trusted = is_trusted
        self.max_message_bytes = MAX_MESSAGE_BYTES if is_trusted else MAX_UNSIGNED_MESSAGE_BYTES
        self._transport: WSTransport | None = None
        self._key: bytes | None = None  # of our messages; None: picows takes another for each
        self._receiver: LinkReceiver | None = None
        self._early: list[bytes] = []
        self._parts: bytearray | None = None  # of a message that a proxy on the way has fragmented
        self._pong: bytes | None = None  # payload of a pong that waits until the other end reads
        self._is_congested = False
        self._is_closing = False
        now = asyncio.get_running_loop().time()
        self._tiny_frames = TokenBucket(MAX_TINY_FRAMES, TINY_FRAME_EVERY_S, now)
        self._uncounted = 0  # tiny frames
        self._resuming_timer: asyncio.TimerHandle | None = None  # while reading is paused
        self._closing_timer: asyncio.TimerHandle | None = None
        self._lost: str | None = None

    @property
    def is_connected(self) -> bool:
        """True once the handshake is over, even after the connection has ended."""
        return self._transport is not None

    @property
    def peer_address(self) -> str:
        """The other end's IP address; "" before the handshake is over."""
        if self._transport is None:
            return ""
        peer = self._transport.underlying_transport.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    @property
    def is_closing(self) -> bool:
        """True once further input is ignored."""
        return self._is_closing

    def receive(self, message: memoryview) -> None:
        """Take a message that came in one frame without a mask, which picows need not see."""
        self.frames += 1
        if len(message) < TINY_BYTES:
            self._count_tiny(1)
        if self._parts is None:
            self._deliver(message)
        else:
            self._close(WSCloseCode.PROTOCOL_ERROR, b"fragments out of order")

    def refuse_size(self) -> None:
        """Close, for the other end sends a larger message than it may."""
        self._parts = None
        text = f"a message is larger than {self.max_message_bytes // 1024} KiB"
        self._close(WSCloseCode.MESSAGE_TOO_BIG, text.encode())

    def refuse_flood(self) -> None:
        """Close, for the other end sends more frames than it may."""
        self._parts = None
        self._close(WSCloseCode.POLICY_VIOLATION, b"too many frames")

    def end_if_refused(self) -> None:
        """Ignore further input if picows has refused a frame: it sends the CLOSE by itself.

        It disconnects only later, and would refuse each frame until then, with a line in the log.
        """
        if self._transport is not None and self._transport.close_handshake is not None:
            self._end_input()

    # --- Link ---------------------------------------------------------------------------------

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.on_link_message(message)
        if self._lost is not None:
            receiver.on_link_lost(self._lost)

    def send(self, message: bytes) -> None:
        if self._transport is not None and not self._is_closing:
            if self._key is None:
                framed = bytearray(FRAME_HEAD_ROOM)
                framed += message
                self._transport.send_reuse_external_bytearray(
                    WSMsgType.BINARY, framed, FRAME_HEAD_ROOM
                )
            else:
                head, raw = _head_of(len(message), self._key), self._transport.underlying_transport
                if len(message) < JOINED_BYTES:
                    raw.write(head + message)
                else:
                    raw.writelines((head, message))

    def trust(self) -> None:
        """Accept messages of MAX_MESSAGE_BYTES from now on: the other end has signed in."""
        self.is_trusted = True
        self.max_message_bytes = MAX_MESSAGE_BYTES

    def close(self) -> None:
        self._close(WSCloseCode.OK)

    def abort(self) -> None:
        if self._transport is not None and self._lost is None:
            self._is_closing = True
            sock = self._transport.underlying_transport.get_extra_info("socket")
            # Otherwise the kernel keeps sending: perhaps a request, to a machine that wakes up
            # hours later.
            if sock is not None and sock.family != getattr(socket, "AF_UNIX", None):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD)
            self._transport.disconnect(graceful=False)

    # --- picows -------------------------------------------------------------------------------

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        raw = transport.underlying_transport
        if not transport.is_client_side:
            self._key = b""
        elif raw.get_extra_info("ssl_object") is not None or _is_loopback(raw):
            self._key = NO_MASK
        raw.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        sock = raw.get_extra_info("socket")
        if sock is not None and sock.family != getattr(socket, "AF_UNIX", None):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOTSENT_LOWAT_BYTES)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        self.frames += 1
        if self._is_closing:
            return
        if frame.payload_size < TINY_BYTES:
            self._count_tiny(1)
        match frame.msg_type:
            case WSMsgType.BINARY if frame.fin and self._parts is None:
                self._deliver(frame.get_payload_as_memoryview())
            case WSMsgType.BINARY | WSMsgType.CONTINUATION:
                self._gather(frame)
            case WSMsgType.PING:
                self._answer_ping(transport, frame.get_payload_as_bytes())
            case WSMsgType.CLOSE:
                self.close()
            case WSMsgType.TEXT:
                self._close(WSCloseCode.UNSUPPORTED_DATA, b"binary messages only")

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        self._is_closing = True
        for timer in (self._closing_timer, self._resuming_timer):
            if timer is not None:
                timer.cancel()
        if self._lost is None:
            self._lost = "the connection was closed"
            # Forgotten, since the receiver holds this link.
            receiver, self._receiver = self._receiver, None
            if receiver is not None:
                receiver.on_link_lost(self._lost)

    def pause_writing(self) -> None:
        self._is_congested = True
        if self._receiver is not None:
            self._receiver.on_link_congested()

    def resume_writing(self) -> None:
        self._is_congested = False
        if self._pong is not None and self._transport is not None and not self._is_closing:
            self._transport.send_pong(self._pong)
            self._pong = None
        if self._receiver is not None:
            self._receiver.on_link_clear()

    # --- helpers ------------------------------------------------------------------------------

    def _close(self, code: WSCloseCode, text: bytes = b"") -> None:
        """Send queued messages and the reason, then close; further input is ignored."""
        if self._transport is not None and not self._is_closing:
            self._end_input()
            self._transport.send_close(code, text)
            self._transport.disconnect()

    def _end_input(self) -> None:
        """Ignore further input, and abort what hasn't closed in time."""
        if not self._is_closing:
            self._is_closing = True
            loop = asyncio.get_running_loop()
            self._closing_timer = loop.call_later(CLOSE_WITHIN_S, self.abort)

    def _deliver(self, message: bytes | memoryview) -> None:
        if len(message) > self.max_message_bytes:
            self.refuse_size()
        elif self._receiver is not None:
            self._count_tiny(self._receiver.on_link_message(message))
        else:
            self._early.append(bytes(message))

    def _count_tiny(self, frames: int) -> None:
        """Count tiny frames; pause reading while there are too many. Most calls only add."""
        self._uncounted += frames
        if self._uncounted >= COUNTED_AT_ONCE and self._transport is not None:
            uncounted, self._uncounted = self._uncounted, 0
            if self._delay(uncounted) and self._resuming_timer is None:
                self._transport.underlying_transport.pause_reading()
                self._resume_later(self._delay(0))

    def _delay(self, frames: int) -> float:
        return self._tiny_frames.reserve(asyncio.get_running_loop().time(), frames)

    def _resume_later(self, delay_s: float) -> None:
        self._resuming_timer = asyncio.get_running_loop().call_later(delay_s, self._resume)

    def _resume(self) -> None:
        self._resuming_timer = None
        if self._transport is None or self._is_closing:
            return
        delay_s = self._delay(0)
        if delay_s:
            self._resume_later(delay_s)
        else:
            self._transport.underlying_transport.resume_reading()

    def _answer_ping(self, transport: WSTransport, payload: bytes) -> None:
        if self._is_congested:
            self._pong = payload  # RFC 6455, section 5.5.3: the latest ping is enough
        else:
            transport.send_pong(payload)

    def _gather(self, frame: WSFrame) -> None:
        if (self._parts is None) == (frame.msg_type == WSMsgType.CONTINUATION):
            self._close(WSCloseCode.PROTOCOL_ERROR, b"fragments out of order")
            return
        if self._parts is None:
            self._parts = bytearray()
        self._parts += frame.get_payload_as_memoryview()
        if len(self._parts) > self.max_message_bytes:
            self.refuse_size()
        elif frame.fin:
            message, self._parts = bytes(self._parts), None
            self._deliver(message)


def _is_loopback(transport: asyncio.Transport) -> bool:
    """Return whether the other end is on this machine."""
    peer = transport.get_extra_info("peername")
    return bool(peer) and ip_address(peer[0]).is_loopback


def _head_of(size: int, key: bytes) -> bytes:
    """Return the head of a frame that is a whole binary message."""
    masked = _MASKED if key else 0
    if size < 126:
        return struct.pack(">BB", _WHOLE_BINARY, masked | size) + key
    if size < 1 << 16:
        return struct.pack(">BBH", _WHOLE_BINARY, masked | 126, size) + key
    return struct.pack(">BBQ", _WHOLE_BINARY, masked | 127, size) + key
