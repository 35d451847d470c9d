"""The masking keys of an agent's messages: RFC 6455, section 5.3."""

import asyncio
import base64
import hashlib
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from picows import ws_connect

from printreach.tunnel import websocket_link
from printreach.tunnel.websocket_link import WebSocketLink
from tests.fakes.loop import on_a_loop
from tests.rigs.certificates import self_signed
from tests.tunnel.raw_websocket import TIMEOUT_S

pytestmark = pytest.mark.usefixtures("event_loop_of")

MESSAGES = [bytes([size % 251 + 1]) * size for size in (0, 125, 126, 65_535, 65_536, 300_000)]
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


async def answer_handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    key = head.lower().index(b"sec-websocket-key: ") + len(b"sec-websocket-key: ")
    accept = base64.b64encode(hashlib.sha1(head[key : key + 24] + GUID).digest())
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


async def read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The key and the masked payload of a binary message."""
    first, second = await reader.readexactly(2)
    assert (first, second & 0x80) == (0x82, 0x80)
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", await reader.readexactly(8))
    return await reader.readexactly(4), await reader.readexactly(size)


@asynccontextmanager
async def dialled(
    folder: Path | None = None,
) -> AsyncIterator[tuple[WebSocketLink, asyncio.StreamReader]]:
    """A link that has dialled, and what comes from it. folder: for a certificate, with TLS."""
    ends: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer_handshake(reader, writer)
        ends.put_nowait((reader, writer))

    serving = dialling = None
    if folder is not None:
        chain, key = self_signed(folder, "127.0.0.1")
        serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        serving.load_cert_chain(chain, key)
        dialling = ssl.create_default_context(cafile=str(chain))
    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=serving, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    link = WebSocketLink()
    url = f"{'ws' if folder is None else 'wss'}://127.0.0.1:{port}/"
    await ws_connect(lambda: link, url, ssl_context=dialling, websocket_handshake_timeout=TIMEOUT_S)
    reader, writer = await ends.get()
    try:
        yield link, reader
    finally:
        writer.transport.abort()
        server.close()


@pytest.mark.parametrize("has_tls", [False, True], ids=["within this machine", "over TLS"])
def test_the_key_is_zero_where_no_machine_on_the_way_sees_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_tls: bool
) -> None:
    if has_tls:
        monkeypatch.setattr(websocket_link, "_is_loopback", lambda _: False)

    @on_a_loop
    async def body() -> None:
        async with dialled(tmp_path if has_tls else None) as (link, reader):
            for message in MESSAGES:
                link.send(message)
            async with asyncio.timeout(TIMEOUT_S):
                assert [await read_frame(reader) for _ in MESSAGES] == [
                    (bytes(4), message) for message in MESSAGES
                ]

    body()


def test_without_tls_messages_to_other_machines_are_masked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_link, "_is_loopback", lambda _: False)

    @on_a_loop
    async def body() -> None:
        async with dialled() as (link, reader):
            link.send(b"x" * 1000)
            async with asyncio.timeout(TIMEOUT_S):
                key, masked = await read_frame(reader)
            assert key != bytes(4)
            assert masked == bytes(ord("x") ^ byte for byte in key) * 250

    body()
