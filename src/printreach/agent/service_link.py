"""The agent's WebSocket link to the service, which is closed when this machine was suspended.

Dialling gives a link, or a sentence with the reason of the failure.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

from picows import WSError, WSHandshakeError, ws_connect

from printreach.agent.addresses import WebAddress
from printreach.http1.client import reason_of
from printreach.rules.safe_text import printable
from printreach.tunnel.link import Link, LinkReceiver
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


TICK_S = 1.0
ASLEEP_S = 5.0
"""A loop that was stalled this long was suspended: no step of the agent takes a second."""


class SuspendAwareLink:
    """A link that closes when the process was frozen or the machine suspended.

    The service has answered its callers long ago that the printer did not respond. If the requests
    in the socket were carried out on waking, a print might start by itself.
    """

    def __init__(self, link: Link, steady_time: Callable[[], float]) -> None:
        self._link = link
        self._now = steady_time  # unlike the loop's, it counts while the machine is suspended
        self._receiver: LinkReceiver | None = None
        self._loop = asyncio.get_running_loop()
        self._ticked_at = self._now()
        self._timer = self._loop.call_later(TICK_S, self._tick)

    # --- Link ---------------------------------------------------------------------------------

    def start(self, receiver: LinkReceiver) -> None:
        self._receiver = receiver
        self._link.start(self)

    def send(self, message: bytes) -> None:
        self._link.send(message)

    def close(self) -> None:
        self._link.close()

    def abort(self) -> None:
        self._link.abort()

    # --- LinkReceiver -------------------------------------------------------------------------

    def on_link_message(self, data: bytes | memoryview) -> int:
        if self._now() - self._ticked_at > ASLEEP_S:
            self._wake()
        elif self._receiver is not None:
            return self._receiver.on_link_message(data)
        return 0

    def on_link_congested(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_congested()

    def on_link_clear(self) -> None:
        if self._receiver is not None:
            self._receiver.on_link_clear()

    def on_link_lost(self, detail: str) -> None:
        self._timer.cancel()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_link_lost(detail)

    def _wake(self) -> None:
        self.on_link_lost("this machine was asleep")
        self._link.abort()

    def _tick(self) -> None:
        if self._now() - self._ticked_at > ASLEEP_S:
            self._wake()
            return
        self._ticked_at = self._now()
        self._timer = self._loop.call_later(TICK_S, self._tick)
