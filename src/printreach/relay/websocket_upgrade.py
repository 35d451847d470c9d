"""Upgrading an accepted connection to the agents' WebSocket, by handing it over to picows.

picows has no public API for a connection that exists already; its private WSProtocol accepts one,
given the transport and the head again. So picows is pinned exactly, only this file uses the private
class, and a test checks that.
"""

import asyncio
import logging
from typing import Final

from picows import (
    WSAutoPingStrategy,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
)
from picows.picows import WSProtocol  # type: ignore[attr-defined]  # private, see above

from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

from .agent_frames import AgentFrames, replay

_HEAD_END: Final = b"\r\n\r\n"

READ_BUFFER_BYTES = 2048
"""The initial size of the read buffer, which grows with use: an idle agent takes 16 KiB, not 30."""


class OneLog(logging.Handler):
    """Changes records before the handlers of parents get them: picows has a logger for each
    descriptor.

    A frame that a stranger gets wrong is no failure of ours; an exception of a callback is.
    """

    def emit(self, record: logging.LogRecord) -> None:
        record.name = _log.name
        if not record.exc_info:
            record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)


_log = logging.getLogger("printreach.relay.websocket")
_log.setLevel(logging.WARNING)  # picows tells each connection's socket options
_log.addHandler(OneLog())


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
    frames = AgentFrames(protocol, link)
    transport.set_protocol(frames)
    protocol.connection_made(transport)
    head_bytes = received.index(_HEAD_END) + len(_HEAD_END)
    replay(protocol, received[:head_bytes])
    if link.is_connected:
        frames.receive(memoryview(received)[head_bytes:])
    return link if link.is_connected else None
