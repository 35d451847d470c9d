"""A WebSocket client whose frames the test writes, and a server with links."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from picows import WSUpgradeRequest, ws_create_server

from printreach.tunnel.websocket_link import WebSocketLink
from printreach.wire.frames import MAX_MESSAGE_BYTES

TIMEOUT_S = 30.0
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

_HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def frame_of(kind: int, payload: bytes, *, fin: bool = True) -> bytes:
    """A client's frame; its mask is zero, so the payload stands there as it is."""
    first = kind | (0x80 if fin else 0)
    if len(payload) < 126:
        size = bytes([first, 0x80 | len(payload)])
    elif len(payload) < 1 << 16:
        size = bytes([first, 0x80 | 126]) + struct.pack(">H", len(payload))
    else:
        size = bytes([first, 0x80 | 127]) + struct.pack(">Q", len(payload))
    return size + bytes(4) + payload


class RawClient:
    """The other end of a link."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, kind: int, payload: bytes, *, fin: bool = True) -> None:
        self.writer.write(frame_of(kind, payload, fin=fin))

    async def receive(self) -> tuple[int, bytes]:
        """The next frame: its kind and payload."""
        first, second = await self.reader.readexactly(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self.reader.readexactly(8))
        return first & 0x0F, await self.reader.readexactly(size)

    async def closing(self) -> int:
        """Return the code of the next CLOSE, perhaps after other frames, and wait for the end."""
        while True:
            kind, payload = await self.receive()
            if kind == CLOSE:
                code: int = struct.unpack(">H", payload[:2])[0]
                assert await self.reader.read() == b""
                return code


class RecordingReceiver:
    """A LinkReceiver that records its calls."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.marks: list[str] = []
        self.losses: list[str] = []
        self.tiny_frames = 0  # in each message
        self.changed = asyncio.Event()

    def on_link_message(self, data: bytes | memoryview) -> int:
        self.messages.append(bytes(data))
        self.changed.set()
        return self.tiny_frames

    def on_link_congested(self) -> None:
        self.marks.append("congested")
        self.changed.set()

    def on_link_clear(self) -> None:
        self.marks.append("clear")
        self.changed.set()

    def on_link_lost(self, detail: str) -> None:
        self.losses.append(detail)
        self.changed.set()

    async def until_messages(self, count: int) -> list[bytes]:
        while len(self.messages) < count:
            await self._change()
        return self.messages

    async def until_mark(self, mark: str) -> None:
        while mark not in self.marks:
            await self._change()

    async def until_lost(self) -> str:
        while not self.losses:
            await self._change()
        return self.losses[0]

    async def _change(self) -> None:
        self.changed.clear()
        async with asyncio.timeout(TIMEOUT_S):
            await self.changed.wait()


@asynccontextmanager
async def raw_connection(
    *, read_bytes: int | None = None
) -> AsyncIterator[tuple[RawClient, WebSocketLink]]:
    """A client and the link that the server made for it, not yet started."""
    links: asyncio.Queue[WebSocketLink] = asyncio.Queue()

    def accept(_request: WSUpgradeRequest) -> WebSocketLink:
        link = WebSocketLink()
        links.put_nowait(link)
        return link

    server = await ws_create_server(
        accept,
        "127.0.0.1",
        0,
        max_frame_size=MAX_MESSAGE_BYTES,
        enable_auto_pong=False,
        websocket_handshake_timeout=TIMEOUT_S,
    )
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, limit=read_bytes or 4 * MAX_MESSAGE_BYTES
    )
    try:
        writer.write(_HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        yield RawClient(reader, writer), await links.get()
    finally:
        writer.transport.abort()
        server.close()
        await server.wait_closed()
