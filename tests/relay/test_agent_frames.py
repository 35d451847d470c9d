"""Frames of agents: a payload without a mask is taken as it lies in the buffer."""

import asyncio
import random
from typing import cast

import pytest

from printreach.relay.websocket_upgrade import accept_websocket
from printreach.tunnel.websocket_link import WebSocketLink
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import PATIENCE_S
from tests.tunnel.raw_websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    RawClient,
    RecordingReceiver,
    frame_of,
)

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
SIZES = (0, 1, 125, 126, 1000, 65_535, 65_536, 300_000)


def masked_frame_of(kind: int, payload: bytes, *, fin: bool = True) -> bytes:
    """A client's frame with a mask."""
    plain, key = frame_of(kind, payload, fin=fin), b"\x01\x80\x7f\xfe"
    masked = bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))
    return plain[: len(plain) - len(payload) - 4] + key + masked


class Accepting(asyncio.Protocol):
    """Answers a handshake by websocket_upgrade, and starts the link."""

    def __init__(self) -> None:
        self.receiver = RecordingReceiver()
        self.link: WebSocketLink | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.link = accept_websocket(self.transport, data)
        assert self.link is not None
        self.link.trust()
        self.link.start(self.receiver)


async def exchanged(sent: list[bytes]) -> tuple[Accepting, RawClient]:
    """Write pieces to a link, each by itself."""
    accepting = Accepting()
    server = await asyncio.get_running_loop().create_server(lambda: accepting, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1 << 20)
    writer.write(HANDSHAKE)
    await reader.readuntil(b"\r\n\r\n")
    for piece in sent:
        writer.write(piece)
        await asyncio.sleep(0)
    server.close()
    return accepting, RawClient(reader, writer)


@pytest.mark.parametrize("piece", [1, 7, 20_000, 1 << 20])
@on_a_loop
async def test_messages_with_and_without_a_mask_arrive_in_order(piece: int) -> None:
    sizes = [size for size in SIZES if size < 5000 * piece]
    messages = [random.Random(size).randbytes(size) for size in sizes for _ in range(2)]
    frames = b"".join(
        (frame_of, masked_frame_of)[number % 2](BINARY, message)
        for number, message in enumerate(messages)
    )
    pieces = [frames[at : at + piece] for at in range(0, len(frames), piece)]

    accepting, client = await exchanged(pieces)

    async with asyncio.timeout(PATIENCE_S):
        assert await accepting.receiver.until_messages(len(messages)) == messages
    client.writer.transport.abort()


@on_a_loop
async def test_a_whole_message_without_a_mask_between_fragments_is_refused() -> None:
    frames = [masked_frame_of(BINARY, b"one ", fin=False), frame_of(BINARY, b"two")]

    accepting, client = await exchanged([b"".join(frames)])

    assert await client.closing() == 1002
    assert accepting.receiver.messages == []


@on_a_loop
async def test_fragments_and_pings_are_taken_whatever_their_mask() -> None:
    frames = [
        frame_of(BINARY, b"one ", fin=False),
        masked_frame_of(CONTINUATION, b"two ", fin=False),
        masked_frame_of(PING, b"between"),
        frame_of(CONTINUATION, b"three"),
    ]

    accepting, client = await exchanged([b"".join(frames)])

    assert await accepting.receiver.until_messages(1) == [b"one two three"]
    assert (await client.receive())[1] == b"between"
    client.writer.transport.abort()


@on_a_loop
async def test_nothing_is_taken_after_a_close() -> None:
    frames = [frame_of(CLOSE, b"\x03\xe8"), frame_of(BINARY, b"late")]

    accepting, client = await exchanged([b"".join(frames)])

    assert await client.closing() == 1000
    assert accepting.receiver.messages == []


@pytest.mark.parametrize(
    "refused",
    [
        b"\x83\x80" + bytes(4),  # a kind that doesn't exist
        frame_of(PING, b"", fin=False),
        frame_of(PING, bytes(126)),
        frame_of(CLOSE, b"\x00\x01"),
        b"\x82\x01x",  # no mask
    ],
)
@on_a_loop
async def test_one_frame_is_refused_and_nothing_is_taken_after_it(
    refused: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    accepting, client = await exchanged([100 * refused + frame_of(BINARY, b"late")])

    assert await client.closing() == 1002
    assert accepting.receiver.messages == []
    assert len(caplog.records) == 1
