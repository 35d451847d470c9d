"""Dialling the service: a WebSocket link, or a sentence with the reason of the failure."""

import asyncio
import socket
import ssl
from typing import Final

from picows import WSError, WSHandshakeError, ws_connect

from printreach.agent.addresses import WebAddress
from printreach.http1.client import reason_of
from printreach.rules.safe_text import printable
from printreach.tunnel.websocket_link import SUBPROTOCOL, WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

TUNNEL_PATH: Final = "/api/agent/tunnel"
HANDSHAKE_TIMEOUT_S: Final = 15.0
KEEPALIVE_IDLE_S: Final = 15
KEEPALIVE_EVERY_S: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_SHOWN_CHARS: Final = 200


class NotConnected(Exception):
    """There is no link; the text is a sentence."""


async def dial(service: WebAddress) -> WebSocketLink:
    """Connect to the service. Raises NotConnected."""
    link = WebSocketLink()
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
            await _connect(link, service)
    except TimeoutError:
        raise NotConnected(
            f"{service} gave no answer within {HANDSHAKE_TIMEOUT_S:.0f} s."
        ) from None
    except WSError as error:
        raise NotConnected(_refusal(service, error)) from error
    except (OSError, ValueError) as error:  # ValueError: a name that no name server could have
        raise NotConnected(f"No connection to {service}: {reason_of(error)}.") from error
    except asyncio.CancelledError:
        link.abort()
        raise
    if not link.is_connected:  # picows takes a close in the handshake for its end
        raise NotConnected(f"{service} closed the connection without an answer.")
    return link


async def _connect(link: WebSocketLink, service: WebAddress) -> None:
    scheme = "wss" if service.is_tls else "ws"
    transport, _ = await ws_connect(
        lambda: link,
        f"{scheme}://{service.authority}{TUNNEL_PATH}",
        ssl_context=ssl.create_default_context() if service.is_tls else None,
        websocket_handshake_timeout=HANDSHAKE_TIMEOUT_S,
        max_frame_size=MAX_MESSAGE_BYTES,
        max_redirects=0,  # what is dialled is what both ends sign, so a person has to give it
        enable_auto_pong=False,  # the link answers pings
        extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
    )
    if link.is_connected:
        _keep_alive(transport.underlying_transport.get_extra_info("socket"))


def _keep_alive(sock: socket.socket | None) -> None:
    """Let the kernel find out soon that the connection was interrupted for a while.

    The service may have given this connection up meanwhile; its reset got lost, and the tunnel's
    own pings are too rare to notice before the next minute.
    """
    if sock is None or sock.fileno() < 0:  # lost again already, as the link will say
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_IDLE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_EVERY_S)


def _refusal(service: WebAddress, error: WSError) -> str:
    response = error.response if isinstance(error, WSHandshakeError) else None
    if response is None:
        return f"{service} opened no tunnel: {_shown(str(error))}."
    location = response.headers.get("Location", "")
    if response.status in _REDIRECTS and location:
        return f"{service} sends us on to {_shown(location)}: give that address instead."
    return f"{service} opened no tunnel: it answered with status {int(response.status)}."


def _shown(text: str) -> str:
    """Words of a stranger, made fit for a log."""
    return printable(text[:_MAX_SHOWN_CHARS], "?")
