"""The MQTT proxy of the command API, with a broker that is a bare socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import pytest
from websockets.frames import Frame, Opcode

from printreach.printers.port import Camera, MqttEndpoint, Printer, View
from printreach.wire.heads import decode_response, encode_request, get
from tests.agent.test_mqtt_connect import ANONYMOUS, WITH_LOGIN
from tests.fakes.loop import on_a_loop
from tests.printers.asking import AskedCommand, CommandCalls, command_calls
from tests.rigs.waiting import free_port

TARGET = b"/service-command-api/proxy/mqtt"
HANDSHAKE = [
    (b"Host", b"printer"),
    (b"Sec-WebSocket-Version", b"13"),
    (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="),
    (b"Sec-WebSocket-Protocol", b"mqtt"),
]
ACCEPTED = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, section 1.3
CLOSED_1000 = b"\x88"
FLOOD_BYTES = 64 << 20
WAIT_S = 60.0


@dataclass
class Stand:
    """As much of a printer as the proxy looks at."""

    mqtt: MqttEndpoint | None

    @property
    def view(self) -> View:
        return View(trouble=None)

    async def cameras(self) -> list[Camera]:
        return []


class Broker:
    """The messages of one client, and a way to answer."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.has_ended = asyncio.Event()
        self.changed = asyncio.Event()
        self.writer: asyncio.StreamWriter

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        while data := await reader.read(65536):
            self.heard += data
            self.changed.set()
        self.has_ended.set()
        writer.close()

    async def hears(self, size: int) -> bytes:
        while len(self.heard) < size:
            self.changed.clear()
            await self.changed.wait()
        return bytes(self.heard)


class Greedy(AskedCommand):
    """Takes nothing of what it gets: its credit runs out."""

    def on_data(self, data: bytes, fin: bool) -> None:
        self.pieces.append(data)
        self._changed.set()


def ask(calls: CommandCalls, asked: AskedCommand) -> AskedCommand:
    head = encode_request(b"GET", TARGET, HANDSHAKE)
    asked.stream = calls.relay.open(asked, head, b"", fin=False, upgrade=True)
    return asked


def say(asked: AskedCommand, data: bytes) -> None:
    asked.stream.send(Frame(Opcode.BINARY, data).serialize(mask=True))


@asynccontextmanager
async def proxied(asked: AskedCommand) -> AsyncIterator[tuple[AskedCommand, Broker]]:
    """A connection through the proxy that has been accepted."""
    broker = Broker()
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = MqttEndpoint(
        host="127.0.0.1", port=port, tls=False, user="bblp", password="12345678"
    )
    async with asyncio.timeout(WAIT_S), command_calls(cast("Printer", Stand(endpoint))) as calls:
        ask(calls, asked)
        while asked.head is None:
            await asked.more()
        yield asked, broker
    server.close()


async def refusal(endpoint: MqttEndpoint | None) -> tuple[int, int]:
    """HTTP status and Status of the envelope."""
    async with asyncio.timeout(WAIT_S), command_calls(cast("Printer", Stand(endpoint))) as calls:
        reply = await ask(calls, AskedCommand()).reply()
        return reply.http_status, reply.status


@on_a_loop
async def test_a_printer_without_a_broker_does_not_support_it() -> None:
    assert await refusal(None) == (501, 788)


@on_a_loop
async def test_a_broker_that_is_not_there_is_not_connected() -> None:
    endpoint = MqttEndpoint(host="127.0.0.1", port=free_port(), tls=False)

    assert await refusal(endpoint) == (502, 785)


@on_a_loop
async def test_the_handshake_is_answered_as_websocket_has_it() -> None:
    async with proxied(AskedCommand()) as (asked, _):
        head = decode_response(asked.head or b"")

        assert head.status == 101
        assert get(head.headers, b"sec-websocket-accept") == ACCEPTED
        assert get(head.headers, b"sec-websocket-protocol") == b"mqtt"
        assert get(head.headers, b"upgrade") is None  # hop by hop: the relay's own


@on_a_loop
async def test_bytes_pass_both_ways_and_the_login_is_put_in() -> None:
    async with proxied(AskedCommand()) as (asked, broker):
        say(asked, ANONYMOUS[:5])
        say(asked, ANONYMOUS[5:] + b"and more")
        assert await broker.hears(len(WITH_LOGIN) + 8) == WITH_LOGIN + b"and more"

        broker.writer.write(b"an answer")
        while b"an answer" not in b"".join(asked.pieces):
            await asked.more()


@on_a_loop
async def test_a_caller_that_leaves_frees_the_broker() -> None:
    async with proxied(AskedCommand()) as (asked, broker):
        say(asked, ANONYMOUS)
        await broker.hears(1)
        asked.leave()

        await broker.has_ended.wait()


@on_a_loop
async def test_a_broker_that_ends_it_closes_the_websocket() -> None:
    async with proxied(AskedCommand()) as (asked, broker):
        say(asked, ANONYMOUS)
        await broker.hears(1)
        broker.writer.close()
        while not asked.is_whole:
            await asked.more()

        assert b"".join(asked.pieces).startswith(CLOSED_1000)


@pytest.mark.slow
@on_a_loop
async def test_a_slow_caller_slows_the_broker_and_fills_no_memory() -> None:
    async with proxied(Greedy()) as (asked, broker):
        say(asked, ANONYMOUS)
        await broker.hears(1)
        broker.writer.write(b"x" * FLOOD_BYTES)
        taken = -1
        while taken != len(b"".join(asked.pieces)):
            taken = len(b"".join(asked.pieces))
            await asyncio.sleep(0.1)

        # what is under way fills the window and the sockets between; the rest waits at the broker
        assert len(b"".join(asked.pieces)) < 1 << 20
        assert broker.writer.transport.get_write_buffer_size() > FLOOD_BYTES // 2
        broker.writer.transport.abort()
