"""Connections handed over to picows by its private class, as websocket_upgrade.py does it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from printreach.tunnel.websocket_link import SUBPROTOCOL
from printreach.wire import frames
from printreach.wire.frames import MAX_MESSAGE_BYTES, Kind
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Rig, relay
from tests.relay.waiting import until
from tests.tunnel.raw_websocket import BINARY, CONTINUATION, PING, PONG, TEXT, RawClient, frame_of

TARGET = b"/api/agent/tunnel"
HANDSHAKE = (
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)
HELLO = frames.frame(Kind.HELLO, 0, frames.encode_hello(1, 1, frames.WINDOW_BYTES, ()))
PING_FRAME = frames.frame(Kind.PING, 0, b"12345678")
PONG_FRAME = frames.frame(Kind.PONG, 0, b"12345678")


@asynccontextmanager
async def connected(
    rig: Rig, behind: bytes = b"", *, piece: int = 1 << 20
) -> AsyncIterator[RawClient]:
    """A WebSocket client after its handshake. behind: bytes that it sends at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, limit=1 << 22)
    try:
        sent = request(OWN, *HANDSHAKE, target=TARGET) + behind
        for at in range(0, len(sent), piece):
            writer.write(sent[at : at + piece])
            await asyncio.sleep(0)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"Sec-WebSocket-Protocol: " + SUBPROTOCOL.encode() + b"\r\n" in head
        yield RawClient(reader, writer)
    finally:
        writer.transport.abort()


async def pongs(client: RawClient, count: int = 1) -> None:
    """Wait for that many answers to PING_FRAME after the greeting."""
    heard = b""
    while heard.count(PONG_FRAME) < count:
        kind, payload = await client.receive()
        assert kind == BINARY
        heard += payload
    assert heard[8] == Kind.HELLO


@on_a_loop
async def test_a_websocket_on_the_tunnels_path_is_an_agents() -> None:
    async with relay() as rig, connected(rig) as client:
        client.send(BINARY, HELLO + PING_FRAME)

        await pongs(client)
        assert rig.figure("agents") == 1


@pytest.mark.parametrize("piece", [1 << 20, 1], ids=["at once", "byte by byte"])
@on_a_loop
async def test_bytes_that_come_with_the_handshake_are_not_lost(piece: int) -> None:
    behind = frame_of(BINARY, HELLO) + frame_of(BINARY, PING_FRAME)

    async with relay() as rig, connected(rig, behind, piece=piece) as client:
        await pongs(client)


@on_a_loop
async def test_much_may_come_with_the_handshake() -> None:
    many = frame_of(BINARY, HELLO) + 200 * frame_of(BINARY, b"") + frame_of(BINARY, PING_FRAME)

    async with relay() as rig, connected(rig, many) as client:
        await pongs(client)


@on_a_loop
async def test_a_message_that_a_proxy_fragmented_is_gathered() -> None:
    async with relay() as rig, connected(rig) as client:
        client.send(BINARY, HELLO[:3], fin=False)
        client.send(CONTINUATION, HELLO[3:7], fin=False)
        client.send(PING, b"between")
        client.send(CONTINUATION, HELLO[7:] + PING_FRAME)

        answers = [await client.receive() for _ in range(3)]
        assert (PONG, b"between") in answers
        assert answers[-1] == (BINARY, PONG_FRAME)


@on_a_loop
async def test_text_is_refused() -> None:
    async with relay() as rig, connected(rig) as client:
        client.send(TEXT, b"hello")

        assert await client.closing() == 1003
        await until(lambda: rig.figure("agents") == 0)


@on_a_loop
async def test_a_message_over_a_mebibyte_closes_the_connection() -> None:
    async with relay() as rig, connected(rig) as client:
        client.writer.write(frame_of(BINARY, b"x" * (MAX_MESSAGE_BYTES + 1))[:1000])

        assert await client.closing() == 1009
        await until(lambda: rig.figure("agents") == 0)


@on_a_loop
async def test_an_unmasked_frame_closes_the_connection() -> None:
    async with relay() as rig, connected(rig) as client:
        client.writer.write(b"\x82\x01x")

        assert await client.closing() == 1002
        await until(lambda: rig.figure("agents") == 0)


BAD_HANDSHAKES = {
    "no key": [line for line in HANDSHAKE if b"Key" not in line],
    "a short key": [*HANDSHAKE[:3], b"Sec-WebSocket-Key: AAAA"],
    "no version": [line for line in HANDSHAKE if b"Version" not in line],
    "a version that is none": [*HANDSHAKE[:2], b"Sec-WebSocket-Version: 99", HANDSHAKE[3]],
    "more headers than picows reads": [*HANDSHAKE, *[b"a: b"] * 500],
}


@pytest.mark.parametrize("fields", BAD_HANDSHAKES.values(), ids=BAD_HANDSHAKES)
@on_a_loop
async def test_a_malformed_handshake_is_refused_and_leaves_no_connection(
    fields: list[bytes],
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *fields, target=TARGET))

        assert (await caller.rest()).startswith(b"HTTP/1.1 400 ")
        await until(lambda: rig.figure("agents") == 0)


@pytest.mark.parametrize("method", [b"GET", b"POST"])
@on_a_loop
async def test_without_a_handshake_the_tunnels_path_is_the_web_roles(method: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, target=TARGET, method=method))

        assert (await caller.answer()).body == b'{"web": "%b /api/agent/tunnel"}' % method


@on_a_loop
async def test_on_a_printers_host_the_tunnels_path_is_the_printers() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(request(access.host, access.bearer, *HANDSHAKE, target=TARGET))

        assert (await caller.answer()).body == b"GET " + TARGET
        assert len(agent.asked) == 1


@on_a_loop
async def test_an_agent_may_dial_by_any_address_of_the_service() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(b"127.0.0.1:8080", *HANDSHAKE, target=TARGET + b"?x"))

        await until(lambda: rig.figure("agents") == 1)
        assert rig.figure("connections") == 0
