"""The WebSocket client, against the websockets library's own server and against worse."""

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from printreach.printers import websocket as module
from printreach.printers.connecting import connect_to
from printreach.printers.websocket import (
    MessageReader,
    WebSocket,
    WebSocketFailed,
    websocket,
)
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.rigs.waiting import free_port

Talk = Callable[[ServerConnection], Awaitable[None]]
DEADLINE_S = 60.0
SILENCE_S = 30.0
"""Longer than a busy machine stands still."""


def run(test: Coroutine[object, object, None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(with_deadline())


@asynccontextmanager
async def talking_to(talk: Talk, at_most: int = 1000) -> AsyncIterator[WebSocket]:
    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with dialled(port, at_most) as socket:
            yield socket


@asynccontextmanager
async def dialled(port: int, at_most: int = 1000) -> AsyncIterator[WebSocket]:
    connect = connect_to("127.0.0.1", port, tls=False)
    url = f"ws://127.0.0.1:{port}/sockjs/websocket?a=b"
    headers = [(b"X-Api-Key", b"key")]
    async with websocket(connect, url, headers, at_most=at_most) as socket:
        yield socket


async def echo(peer: ServerConnection) -> None:
    async for message in peer:
        await peer.send(message)


def test_texts_and_bytes_go_both_ways() -> None:
    async def body() -> None:
        async with talking_to(echo) as socket:
            await socket.send("grüße")
            await socket.send(b"\x00\xff")

            assert await socket.receive(SILENCE_S) == "grüße"
            assert await socket.receive(SILENCE_S) == b"\x00\xff"

    run(body())


def test_the_handshake_carries_target_and_headers() -> None:
    async def tell(peer: ServerConnection) -> None:
        assert peer.request is not None
        await peer.send(f"{peer.request.path} {peer.request.headers['X-Api-Key']}")

    async def body() -> None:
        async with talking_to(tell) as socket:
            assert await socket.receive(SILENCE_S) == "/sockjs/websocket?a=b key"

    run(body())


def test_a_message_in_fragments_arrives_whole() -> None:
    async def in_pieces(peer: ServerConnection) -> None:
        await peer.send(["one ", "two ", "three"])

    async def body() -> None:
        async with talking_to(in_pieces) as socket:
            assert await socket.receive(SILENCE_S) == "one two three"

    run(body())


@pytest.mark.slow
def test_empty_fragments_without_end_take_no_memory() -> None:
    protocol = ServerProtocol(state=State.OPEN)
    reader = MessageReader(protocol)
    empty = Frame(Opcode.CONT, b"", fin=False).serialize(mask=True)
    reader.feed(Frame(Opcode.BINARY, b"", fin=False).serialize(mask=True))
    reader.feed(empty * 1000)

    tracemalloc.start()
    try:
        for _ in range(20):
            reader.feed(empty * 1000)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert grown < 20_000


def test_tiny_frames_are_parsed_a_few_in_each_turn_of_the_loop() -> None:
    tiny = Frame(Opcode.TEXT, b"").serialize(mask=False)
    count = 6 * module.PARSED_BYTES // len(tiny)
    turn = 0

    def count_turns() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(count_turns)

    async def send_at_once(peer: ServerConnection) -> None:
        peer.transport.write(tiny * count)
        await peer.wait_closed()

    async def body() -> None:
        async with talking_to(send_at_once) as socket:
            count_turns()
            received: Counter[int] = Counter()
            for _ in range(count):
                await socket.receive(SILENCE_S)
                received[turn] += 1

            assert max(received.values()) <= module.PARSED_BYTES // len(tiny)

    run(body())


def test_what_came_before_a_goodbye_is_still_received() -> None:
    async def say_and_leave(peer: ServerConnection) -> None:
        await peer.send("last words")

    async def body() -> None:
        async with talking_to(say_and_leave) as socket:
            assert await socket.receive(SILENCE_S) == "last words"
            with pytest.raises(WebSocketFailed, match="closed"):
                await socket.receive(SILENCE_S)
            with pytest.raises(WebSocketFailed):
                await socket.receive(SILENCE_S)
            with pytest.raises(WebSocketFailed):
                await socket.send("too late")

    run(body())


def test_a_message_that_is_too_long_ends_the_connection() -> None:
    async def shout(peer: ServerConnection) -> None:
        await peer.send("x" * 2000)
        await peer.wait_closed()

    async def body() -> None:
        with pytest.raises(WebSocketFailed, match="broke the protocol"):
            async with talking_to(shout, at_most=1000) as socket:
                await socket.receive(SILENCE_S)

    run(body())


def test_a_text_that_is_no_utf8_is_read_as_far_as_it_is() -> None:
    async def mumble(peer: ServerConnection) -> None:
        await peer.send(b"a\xffb", text=True)

    async def body() -> None:
        async with talking_to(mumble) as socket:
            assert await socket.receive(SILENCE_S) == "a\ufffdb"

    run(body())


@on_a_skipping_loop
async def test_a_printer_that_says_nothing_but_answers_pings_is_there() -> None:
    may_speak = asyncio.Event()

    async def late(peer: ServerConnection) -> None:
        await may_speak.wait()
        await peer.send("here")

    async with talking_to(late) as socket:
        hearing = asyncio.create_task(socket.receive(4 * module.PING_AFTER_S))
        for _ in range(8):
            skip(module.PING_AFTER_S)
            await asyncio.sleep(0.05)  # a ping goes out, and its answer comes
        may_speak.set()

        async with asyncio.timeout(DEADLINE_S):
            assert await hearing == "here"


def test_a_frozen_printer_is_given_up() -> None:
    async def freeze(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(DEADLINE_S)
        writer.close()

    async def body() -> None:
        server = await asyncio.start_server(freeze, "127.0.0.1", 0)
        with pytest.raises(WebSocketFailed, match="no WebSocket within"):
            async with dialled(server.sockets[0].getsockname()[1]):
                pass
        server.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "OPEN_S", 0.1)
        run(body())


def test_silence_without_a_pong_is_the_end() -> None:
    async def deaf(peer: ServerConnection) -> None:
        peer.transport.pause_reading()
        await is_over.wait()
        peer.transport.abort()

    is_over = asyncio.Event()

    async def body() -> None:
        async with talking_to(deaf) as socket:
            try:
                with pytest.raises(WebSocketFailed, match="nothing came"):
                    await socket.receive(0.1)
            finally:
                is_over.set()

    run(body())


def test_a_refused_handshake_tells_its_status() -> None:
    def refuse(peer: ServerConnection, _request: Request) -> Response:
        return peer.respond(HTTPStatus.FORBIDDEN, "no")

    async def body() -> None:
        async with serve(echo, "127.0.0.1", 0, process_request=refuse) as server:
            with pytest.raises(WebSocketFailed) as refused:
                async with dialled(next(iter(server.sockets)).getsockname()[1]):
                    pass
        assert refused.value.status == 403

    run(body())


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 101 Yes\r\n\r\n", b""])
def test_what_is_no_websocket_is_said_to_be_none(answer: bytes) -> None:
    async def other(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    async def body() -> None:
        server = await asyncio.start_server(other, "127.0.0.1", 0)
        with pytest.raises(WebSocketFailed) as refused:
            async with dialled(server.sockets[0].getsockname()[1]):
                pass
        server.close()
        assert refused.value.status is None

    run(body())


def test_nobody_at_the_address_is_a_failure_with_words() -> None:
    async def body() -> None:
        with pytest.raises(WebSocketFailed, match="refused"):
            async with dialled(free_port()):
                pass

    run(body())


def test_a_host_name_that_is_none_is_a_failure() -> None:
    async def body() -> None:
        connect = connect_to("a..b", 80, tls=False)
        with pytest.raises(WebSocketFailed):
            async with websocket(connect, "ws://a..b/"):
                pass

    run(body())
