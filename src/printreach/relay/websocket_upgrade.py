"""Upgrading an accepted connection to the agents' WebSocket, by handing it over to picows.

picows has no public API for a connection that exists already; its private WSProtocol accepts one,
given the transport and the head again. So picows is pinned exactly, only this file uses the private
class, and a test checks that.
"""

import asyncio
import logging

from picows import (
    WSAutoPingStrategy,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
)
from picows.picows import WSProtocol  # type: ignore[attr-defined]  # private, see above

from printreach.rules.rate_limits import TokenBucket
from printreach.tunnel.link import MAX_UNSIGNED_MESSAGE_BYTES
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

READ_BUFFER_BYTES = 2048
"""The initial size of the read buffer, which grows with use: an idle agent takes 16 KiB, not 30."""

READ_BYTES = MAX_UNSIGNED_MESSAGE_BYTES
"""The most bytes that are read in a turn of the loop until the link trusts the other end. Tiny
frames cost much more than their bytes."""
MAX_FRAMES = 256
FRAME_EVERY_S = 0.1
"""An end that isn't trusted may send so many frames at once, and one more each time this passes. To
sign in takes three, and to wait for an owner two a minute."""

_DISCARDED = bytearray(16 * 1024)
"""The buffer for bytes that are ignored."""

_log = logging.getLogger("printreach.relay.websocket")
_log.setLevel(logging.WARNING)  # picows tells each connection's socket options


def accept_websocket(transport: asyncio.Transport, received: bytes) -> WebSocketLink | None:
    """Answer the handshake and give the connection to a link; None if it was refused.

    The link accepts only small messages until its trust() is called.
    received: the handshake's whole head, and the bytes after it.
    """
    link = WebSocketLink(is_trusted=False)

    def answer(_request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
        response = WSUpgradeResponse.create_101_response({"Sec-WebSocket-Protocol": SUBPROTOCOL})
        return WSUpgradeResponseWithListener(response, link)

    protocol = WSProtocol(
        None,
        None,
        False,  # the server's side
        answer,
        _log,
        True,  # disconnect when a callback raises
        5.0,  # seconds for the handshake, which is here already
        False,  # no pings of its own: the session has its own
        30.0,
        30.0,
        WSAutoPingStrategy.PING_WHEN_IDLE,
        False,  # the link answers pings
        MAX_MESSAGE_BYTES,
        None,
        READ_BUFFER_BYTES,
    )
    guard = _UnsignedGuard(protocol, link)
    link.when_trusted = lambda: transport.set_protocol(protocol)
    transport.set_protocol(guard)
    protocol.connection_made(transport)
    _replay(guard, received)
    return link if link.is_connected else None


class _UnsignedGuard(asyncio.BufferedProtocol):
    """Checks sizes and numbers of frames before picows until the link trusts the other end.

    picows gathers a whole frame before it calls the link, in a buffer that never shrinks, and its
    own limit can't be changed later.
    """

    def __init__(self, inner: asyncio.BufferedProtocol, link: WebSocketLink) -> None:
        self._inner = inner
        self._link = link
        self._now = asyncio.get_running_loop().time
        self._frames = TokenBucket(MAX_FRAMES, FRAME_EVERY_S, self._now())

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._link.is_closing:
            return memoryview(_DISCARDED)
        return memoryview(self._inner.get_buffer(sizehint))[:READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        link = self._link
        if link.is_closing:
            return
        link.unfinished_bytes += nbytes
        before = link.frames
        self._inner.buffer_updated(nbytes)
        if link.is_connected:
            link.check_unfinished()
            if self._frames.reserve(self._now(), link.frames - before):
                link.refuse_flood()

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)


def _replay(protocol: asyncio.BufferedProtocol, received: bytes) -> None:
    at = 0
    while at < len(received):
        buffer = memoryview(protocol.get_buffer(-1))
        piece = received[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        protocol.buffer_updated(len(piece))
        at += len(piece)
