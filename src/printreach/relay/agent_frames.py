"""Reading an agent's WebSocket frames before picows does, which takes only those that need it.

A masking key of zero leaves a payload as it is, so a message with that key goes to the link as it
lies in the buffer. picows would mask it all the same, and past the processor's caches: that took a
fifth of the relay's work for a large answer.
"""

import asyncio
from mmap import mmap
from struct import Struct
from typing import Final

from printreach.rules.rate_limits import TokenBucket
from printreach.tunnel.link import MAX_UNSIGNED_MESSAGE_BYTES
from printreach.tunnel.websocket_link import FRAME_HEAD_ROOM, NO_MASK, WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

READ_BYTES: Final = MAX_UNSIGNED_MESSAGE_BYTES
"""The most bytes that are read in a turn of the loop until the link trusts the other end. Tiny
frames cost much more than their bytes."""
MAX_FRAMES: Final = 256
FRAME_EVERY_S: Final = 0.1
"""An end that isn't trusted may send so many frames at once, and one more each time this passes. To
sign in takes three, and to wait for an owner two a minute."""

_WHOLE_BINARY: Final = 0x82
"""The first byte of a binary message in one frame."""
_MASKED: Final = 0x80
_U16: Final = Struct(">H")
_U64: Final = Struct(">Q")

_BUFFER: Final = memoryview(mmap(-1, 512 * 1024))
"""What was read last, of any connection: it is looked through before the next is read. A message of
256 KiB fits with the beginning of the next. It takes memory as far as something was read."""


class AgentFrames(asyncio.BufferedProtocol):
    """Reads from one agent's connection after its handshake.

    picows: its protocol; it gets whole frames only, and the beginning of what is no client's frame.
    """

    def __init__(self, picows: asyncio.BufferedProtocol, link: WebSocketLink) -> None:
        self._picows = picows
        self._link = link
        now = asyncio.get_running_loop().time()
        self._frames: TokenBucket | None = TokenBucket(MAX_FRAMES, FRAME_EVERY_S, now)
        self._begun: bytearray | None = None  # a frame that isn't whole yet
        self._needed = 0  # bytes that it must have before it is looked at again

    def get_buffer(self, _sizehint: int) -> memoryview:
        return _BUFFER if self._link.is_trusted else _BUFFER[:READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        self.receive(_BUFFER[:nbytes])

    def receive(self, data: memoryview) -> None:
        """Take the next bytes; they are only valid during the call."""
        link = self._link
        if link.is_closing:
            return
        frames_before = link.frames
        if self._begun is not None:
            self._begun += data
            if len(self._begun) < self._needed:
                return
            data, self._begun = memoryview(self._begun), None
        at = self._read(data)
        if at < len(data) and not link.is_closing:
            self._begun = bytearray(data[at:])
        if self._frames is not None:
            self._count(self._frames, link.frames - frames_before)

    def eof_received(self) -> bool | None:
        return self._picows.eof_received()

    def pause_writing(self) -> None:
        self._picows.pause_writing()

    def resume_writing(self) -> None:
        self._picows.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._picows.connection_lost(exc)

    # --- helpers --------------------------------------------------------------------------------

    def _count(self, limit: TokenBucket, frames: int) -> None:
        """Close if an end that isn't trusted sends more frames than it may."""
        if self._link.is_trusted:
            self._frames = None
        elif limit.reserve(asyncio.get_running_loop().time(), frames):
            self._link.refuse_flood()

    def _read(self, data: memoryview) -> int:
        """Take the whole frames of data; return where the first that isn't whole begins."""
        link, at, end = self._link, 0, len(data)
        while at < end and not link.is_closing:
            size, payload_at = 0, at + 2
            if end >= payload_at:
                size, payload_at = data[at + 1] - _MASKED, at + 6
                if size >= 126:
                    length = _U16 if size == 126 else _U64
                    payload_at += length.size
                    size = length.unpack_from(data, at + 2)[0] if end >= payload_at else 0
            if not 0 <= size <= MAX_MESSAGE_BYTES:
                replay(self._picows, data[at:])  # which refuses what is no frame of a client
                link.end_if_refused()
                return end
            next_at = payload_at + size
            if next_at > end:
                self._await_rest(next_at - at, end - at)
                break
            if data[at] == _WHOLE_BINARY and data[payload_at - 4 : payload_at] == NO_MASK:
                link.receive(data[payload_at:next_at])
            else:
                replay(self._picows, data[at:next_at])
                link.end_if_refused()
            at = next_at
        return at

    def _await_rest(self, size: int, read: int) -> None:
        """Wait for the rest of a frame, or refuse it once more was read than it may have."""
        most = self._link.max_message_bytes + FRAME_HEAD_ROOM
        self._needed = min(size, most + 1)
        if read > most:
            self._link.refuse_size()


def replay(protocol: asyncio.BufferedProtocol, data: bytes | memoryview) -> None:
    """Give a protocol bytes that somebody else has read."""
    at = 0
    while at < len(data):
        buffer = memoryview(protocol.get_buffer(-1))
        piece = data[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        protocol.buffer_updated(len(piece))
        at += len(piece)
