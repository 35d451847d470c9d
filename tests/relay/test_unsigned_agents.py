"""Limits on agents' connections that have not signed in, since anybody may make them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from printreach.relay import agent_frames
from printreach.relay.agent_frames import MAX_FRAMES, READ_BYTES, AgentFrames
from printreach.relay.caller_origin import Origin
from printreach.relay.unsigned_agents import MAX_OF_NETWORK, MAX_UNSIGNED, UnsignedAgents
from printreach.tunnel.link import MAX_UNSIGNED_MESSAGE_BYTES
from printreach.tunnel.websocket_link import WebSocketLink
from printreach.wire import frames
from printreach.wire.frames import MAX_MESSAGE_BYTES, Kind
from tests.relay.caller import Answer, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, Rig, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import until
from tests.tunnel.raw_websocket import BINARY, CONTINUATION, PING, PONG, RawClient, frame_of

HANDSHAKE = (
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)
HELLO = frames.frame(Kind.HELLO, 0, frames.encode_hello(1, 1, frames.WINDOW_BYTES, ()))
TOO_BIG, POLICY_VIOLATION = 1009, 1008
PROXY = [ip_network("127.0.0.0/8")]
MIB = 1024 * 1024


async def knock(caller: Caller, *fields: bytes) -> Answer:
    """Ask for the tunnel's WebSocket; the head of what comes back."""
    caller.send(request(OWN, *HANDSHAKE, *fields, target=b"/api/agent/tunnel"))
    return await caller.head()


@asynccontextmanager
async def connected(rig: Rig) -> AsyncIterator[RawClient]:
    """A WebSocket after its handshake, which sends nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, limit=1 << 22)
    try:
        writer.write(request(OWN, *HANDSHAKE, target=b"/api/agent/tunnel"))
        await reader.readuntil(b"\r\n\r\n")
        yield RawClient(reader, writer)
    finally:
        writer.transport.abort()


TOO_MUCH = {
    "one frame": frame_of(BINARY, b"x" * (MAX_UNSIGNED_MESSAGE_BYTES + 1)),
    "a frame that isn't whole": frame_of(BINARY, b"x" * MAX_MESSAGE_BYTES)[:20_000],
    "a frame that isn't whole behind others": frame_of(BINARY, HELLO)
    + frame_of(BINARY, b"x" * MAX_MESSAGE_BYTES)[:20_000],
    "fragments": frame_of(BINARY, b"x" * 9000, fin=False)
    + frame_of(CONTINUATION, b"x" * 9000, fin=False),
    "a fragment that isn't whole": frame_of(BINARY, b"x" * 100, fin=False)
    + frame_of(CONTINUATION, b"x" * MAX_MESSAGE_BYTES, fin=False)[:20_000],
}


@pytest.mark.parametrize("sent", TOO_MUCH.values(), ids=TOO_MUCH)
@on_a_loop
async def test_no_more_than_16_kib_of_a_message_is_read_before_an_agent_has_signed_in(
    sent: bytes,
) -> None:
    async with relay() as rig, connected(rig) as client:
        client.writer.write(sent)

        assert await client.closing() == TOO_BIG
        await until(lambda: rig.figure("agents") == 0)


@on_a_loop
async def test_many_small_messages_are_no_large_one() -> None:
    ping = frame_of(BINARY, frames.frame(Kind.PING, 0, b"12345678"))
    async with relay() as rig, connected(rig) as client:
        client.writer.write(frame_of(BINARY, HELLO) + 200 * frame_of(BINARY, b"") + ping)
        heard = b""
        while b"12345678" not in heard:
            kind, payload = await client.receive()
            assert kind == BINARY
            heard += payload


TOO_MANY = {
    "messages": MAX_FRAMES * frame_of(BINARY, b""),
    "pings": MAX_FRAMES * frame_of(PING, b""),
    "pongs": MAX_FRAMES * frame_of(PONG, b""),
    "fragments": frame_of(BINARY, b"", fin=False)
    + MAX_FRAMES * frame_of(CONTINUATION, b"", fin=False),
}


@pytest.mark.parametrize("sent", TOO_MANY.values(), ids=TOO_MANY)
@on_a_loop
async def test_who_sends_too_many_frames_before_the_sign_in_is_closed_with_1008(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(agent_frames, "FRAME_EVERY_S", 600.0)
    async with relay() as rig, connected(rig) as client:
        client.writer.write(frame_of(BINARY, HELLO) + sent)

        assert await client.closing() == POLICY_VIOLATION
        await until(lambda: rig.figure("agents") == 0)


@on_a_loop
async def test_little_is_read_in_a_turn_of_the_loop_before_the_sign_in() -> None:
    link = WebSocketLink(is_trusted=False)
    reader = AgentFrames(asyncio.BufferedProtocol(), link)

    assert len(reader.get_buffer(-1)) == READ_BYTES == 16 * 1024
    link.trust()
    assert len(reader.get_buffer(-1)) > frames.WINDOW_BYTES


@on_a_loop
async def test_an_agent_that_is_not_linked_gets_no_more() -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one")
        await agent.dial(rig.port)
        await agent.prove()
        await until(lambda: agent.heard[-1:] and rig.figure("agents_unsigned") == 0)
        agent.link.send(frames.frame(Kind.PING, 0, b"12345678") * 2000)

        await until(lambda: agent.closed)


@on_a_loop
async def test_the_agent_of_a_linked_printer_sends_large_messages() -> None:
    async with relay() as rig:
        access, agent = rig.connect(), await rig.agent()
        agent.link.send(frames.frame(Kind.PING, 0, b"12345678") * 3_000)
        async with calling(rig.port) as caller:
            caller.send(request(access.host, access.bearer, target=b"/after"))

            assert (await caller.answer()).body == b"GET /after"
        assert agent.closed is None


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.slow
@on_a_loop
async def test_connections_that_have_not_signed_in_take_little_memory_and_give_it_back() -> None:
    half = frame_of(BINARY, b"x" * 1000, fin=False) + frame_of(
        CONTINUATION, b"x" * MAX_MESSAGE_BYTES, fin=False
    )
    async with relay() as rig, AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(connected(rig))
        before = resident_bytes()
        clients = [await stack.enter_async_context(connected(rig)) for _ in range(150)]
        for client in clients:
            client.writer.write(half[: MIB - 1])
        await until(lambda: rig.figure("agents_unsigned") <= 5)

        assert resident_bytes() - before < 200 * 1024 * 150


@on_a_loop
async def test_a_network_has_twenty_connections_that_have_not_signed_in() -> None:
    async with relay(networks=PROXY) as rig, AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(calling(rig.port)) for _ in range(22)]
        for caller in callers[:MAX_OF_NETWORK]:
            assert (await knock(caller, b"X-Forwarded-For: 203.0.113.5")).status == 101
        refused = await knock(callers[20], b"X-Forwarded-For: 203.0.113.5")
        other = await knock(callers[21], b"X-Forwarded-For: 203.0.113.6")

        assert (refused.status, refused.get(b"retry-after")) == (503, b"1")
        assert other.status == 101
        assert rig.figure("agents_unsigned") == MAX_OF_NETWORK + 1
        callers[0].leave()
        await until(lambda: rig.figure("agents_unsigned") == MAX_OF_NETWORK)
        async with calling(rig.port) as again:
            assert (await knock(again, b"X-Forwarded-For: 203.0.113.5")).status == 101


@on_a_loop
async def test_an_agent_that_has_signed_in_leaves_its_place_to_others() -> None:
    async with relay() as rig:
        await rig.agent()
        waiting = ScriptedAgent("nobody's")
        await waiting.dial(rig.port)
        assert rig.figure("agents_unsigned") == 1
        await waiting.prove()

        await until(lambda: rig.figure("agents_unsigned") == 0)
        assert rig.figure("agents") == 2
        waiting.leave()


@on_a_loop
async def test_a_handshake_that_is_none_takes_no_place() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, *HANDSHAKE[:3], target=b"/api/agent/tunnel"))

        assert (await caller.rest()).startswith(b"HTTP/1.1 400 ")
        assert rig.figure("agents_unsigned") == 0


def test_all_networks_together_have_five_hundred() -> None:
    unsigned = UnsignedAgents()
    places = [
        unsigned.take(Origin(f"203.0.{n // 250}.{n % 250}", "http")) for n in range(MAX_UNSIGNED)
    ]

    assert None not in places
    assert unsigned.take(Origin("198.51.100.1", "http")) is None
    assert places[0] is not None
    places[0].leave()
    places[0].leave()
    assert unsigned.take(Origin("198.51.100.1", "http")) is not None
    assert unsigned.take(Origin("198.51.100.2", "http")) is None


def test_one_customers_ipv6_networks_are_no_way_around_that() -> None:
    unsigned = UnsignedAgents()
    taken = [unsigned.take(Origin(f"2001:db8:1:{n:x}::1", "http")) for n in range(MAX_UNSIGNED)]

    assert sum(place is not None for place in taken) < MAX_UNSIGNED


@pytest.mark.parametrize(
    "origin", [Origin("198.51.100.1", "http", is_proven=False), Origin("127.0.0.1", "http")]
)
def test_callers_that_share_an_address_are_bounded_all_together_alone(origin: Origin) -> None:
    unsigned = UnsignedAgents()

    assert all(unsigned.take(origin) for _ in range(MAX_UNSIGNED))
    assert unsigned.take(origin) is None
