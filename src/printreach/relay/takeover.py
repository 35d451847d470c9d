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

from printreach.tunnel.link import MAX_MESSAGE_BYTES
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink

READ_BUFFER_BYTES = 2048
"""The first size of the read buffer; it grows with use. Measured: 16 KiB an idle agent, not 30."""

_log = logging.getLogger("printreach.relay.websocket")
_log.setLevel(logging.WARNING)  # picows tells each connection's socket options


def accept_websocket(transport: asyncio.Transport, received: bytes) -> WebSocketLink | None:
    """Answer the handshake and give the connection to a link; None where it was refused.

    received: the handshake's whole head, and whatever came behind it.
    """
    link = WebSocketLink()

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
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    _replay(protocol, received)
    return link if link.is_connected else None


def _replay(protocol: asyncio.BufferedProtocol, received: bytes) -> None:
    at = 0
    while at < len(received):
        buffer = memoryview(protocol.get_buffer(-1))
        piece = received[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        protocol.buffer_updated(len(piece))
        at += len(piece)
