"""Large messages over an upgraded connection, on the event loop of the service."""

import asyncio
from typing import cast

import uvloop
from picows import ws_connect

from printreach.relay.websocket_upgrade import accept_websocket
from printreach.tunnel.websocket_link import WebSocketLink
from tests.relay.waiting import PATIENCE_S

MESSAGES = [bytes([number % 251]) * (9000 + 7001 * (number % 9)) for number in range(400)]


class Accepting(asyncio.Protocol):
    """Answers a handshake by websocket_upgrade, and sends everything at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        link = accept_websocket(self.transport, data)
        assert link is not None
        for message in MESSAGES:
            link.send(message)


class Collecting:
    """Keeps what arrives; slow at first, so that the sender's buffers fill."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.over = asyncio.Event()

    def on_link_message(self, data: bytes | memoryview) -> int:
        self.messages.append(bytes(data))
        if len(self.messages) == len(MESSAGES):
            self.over.set()
        return 0

    def on_link_congested(self) -> None: ...
    def on_link_clear(self) -> None: ...
    def on_link_lost(self, _detail: str) -> None:
        self.over.set()


async def _exchange() -> list[bytes]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Accepting, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    link, collecting = WebSocketLink(), Collecting()
    url = f"ws://127.0.0.1:{port}/"
    await ws_connect(lambda: link, url, websocket_handshake_timeout=PATIENCE_S)
    link.start(collecting)
    await asyncio.wait_for(collecting.over.wait(), PATIENCE_S)
    link.abort()
    server.close()
    return collecting.messages


def test_messages_that_wait_for_a_full_socket_arrive_as_they_were_sent() -> None:
    assert uvloop.run(_exchange()) == MESSAGES
