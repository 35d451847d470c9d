"""Hand an accepted connection over to picows once its head asks for the agents' WebSocket.

picows can't take over a connection by its public API; its private WSProtocol can, given the
transport and the head again. So picows is pinned exactly, this is the only file that knows, and a
test holds it.
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

from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

READ_BUFFER_BYTES = 2048
"""The first size of the read buffer; it grows with use. Measured: 16 KiB an idle agent, not 30."""

_DISCARDED = bytearray(16 * 1024)
"""Where bytes go that nobody hears."""

_log = logging.getLogger("printreach.relay.websocket")
_log.setLevel(logging.WARNING)  # picows tells each connection's socket options


def accept_websocket(transport: asyncio.Transport, received: bytes) -> WebSocketLink | None:
    """Answer the handshake and give the connection to a link; None where it was refused.

    The link takes small messages alone until it is told to trust the other end.
    received: the handshake's whole head, and whatever came behind it.
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
    guard = _SizeGuard(protocol, link)
    link.when_trusted = lambda: transport.set_protocol(protocol)
    transport.set_protocol(guard)
    protocol.connection_made(transport)
    _replay(guard, received)
    return link if link.is_connected else None


class _SizeGuard(asyncio.BufferedProtocol):
    """Stands before picows while the other end is unknown, for picows' own limit can't be changed.

    picows gathers a whole frame before anybody hears of it, in a buffer that never shrinks.
    """

    def __init__(self, inner: asyncio.BufferedProtocol, link: WebSocketLink) -> None:
        self._inner = inner
        self._link = link

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(_DISCARDED if self._link.is_closing else self._inner.get_buffer(sizehint))

    def buffer_updated(self, nbytes: int) -> None:
        if not self._link.is_closing:
            self._link.unfinished_bytes += nbytes
            self._inner.buffer_updated(nbytes)
            if self._link.is_connected:
                self._link.check_unfinished()

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
