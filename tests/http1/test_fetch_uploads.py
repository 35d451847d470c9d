"""Bodies sent as they come: at the server's pace, at the uploader's, and given up in time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from printreach.http1.fetch import FetchFailed
from printreach.http1.messages import Answer, Call
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.http1.fetching import PIECE, asking, asking_peer, fetcher_of, pieces
from tests.http1.serving import DEADLINE_S, echo_body, ignore_body, run
from tests.rigs.waiting import free_port


@pytest.mark.parametrize("length", [20 * len(PIECE), None])
def test_a_body_in_pieces_arrives_whole(length: int | None) -> None:
    async def count(call: Call) -> Answer:
        size = 0
        async for piece in call.body:
            size += len(piece)
        framing = call.header(b"transfer-encoding") or call.header(b"content-length") or b""
        return Answer(body=b"%d %b" % (size, framing))

    async def body() -> None:
        async with asking(count) as fetcher:
            send = fetcher.send(b"POST", b"/", [], pieces(20), length=length)
            async with send as answer:
                told = b"".join([chunk async for chunk in answer.chunks()])
        framing = b"chunked" if length is None else b"%d" % length
        assert told == b"%d %b" % (20 * len(PIECE), framing)

    run(body())


@pytest.mark.parametrize("length", [0, None])
def test_an_empty_body_can_be_sent_in_pieces(length: int | None) -> None:
    async def body() -> None:
        async with asking(echo_body) as fetcher:
            send = fetcher.send(b"PUT", b"/", [], pieces(0), length=length)
            async with send as answer:
                assert (answer.status, [chunk async for chunk in answer.chunks()]) == (200, [])

    run(body())


def test_a_slow_server_slows_the_sender_down() -> None:
    taken = 0

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    async def counted() -> AsyncIterator[bytes]:
        nonlocal taken
        async for piece in pieces(4096):
            taken += 1
            yield piece

    async def body() -> None:
        async with asking_peer(peer) as fetcher:
            send = fetcher.send(b"POST", b"/", [], counted(), length=None)
            async with send as answer:
                assert answer.status == 200

    run(body())
    assert taken < 4096


def test_an_upload_that_is_refused_at_once_is_not_sent_to_its_end() -> None:
    sent = 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal sent
        async for piece in pieces(1000, pause_s=0.001):
            sent += 1
            yield piece

    async def body() -> None:
        async with asking(ignore_body) as fetcher:
            send = fetcher.send(b"POST", b"/", [], counted(), length=None)
            async with send as answer:
                assert answer.status == 403

    run(body())
    assert sent < 1000


def test_a_sender_that_fails_breaks_its_request_off() -> None:
    arrived = bytearray()
    has_begun, is_gone = asyncio.Event(), asyncio.Event()

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                arrived.extend(data)
                if arrived.endswith(b"half\r\n"):
                    has_begun.set()
        except ConnectionError:
            pass  # a reset is as good an end
        is_gone.set()
        writer.close()

    async def half() -> AsyncIterator[bytes]:
        yield b"half"
        await has_begun.wait()
        raise ValueError("the uploader went away")

    async def body() -> None:
        async with asking_peer(peer) as fetcher:
            with pytest.raises(ValueError, match="went away"):
                async with fetcher.send(b"POST", b"/", [], half(), length=None):
                    pass
            await is_gone.wait()

    run(body())
    assert arrived.endswith(b"4\r\nhalf\r\n")


async def take_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read an upload to its end, however long it takes, and answer."""
    await reader.readuntil(b"\r\n0\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


async def slow_pieces(number: int, pause_s: float) -> AsyncIterator[bytes]:
    for _ in range(number):
        yield b"piece"
        skip(pause_s)
        await asyncio.sleep(0.001)  # a timer that is due has its turn


@pytest.mark.parametrize(("number", "pause_s"), [(10, 90.0), (2, 500.0)])
@on_a_skipping_loop
async def test_an_upload_may_take_longer_than_an_answer(number: int, pause_s: float) -> None:
    async with asking_peer(take_all, first_byte_s=100.0) as fetcher:
        send = fetcher.send(b"POST", b"/", [], slow_pieces(number, pause_s), length=None)
        async with send as answer:
            assert answer.status == 200


def test_a_server_that_stops_taking_an_upload_is_given_up() -> None:
    async def deaf(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a transport for both
        await asyncio.sleep(2 * DEADLINE_S)
        writer.transport.abort()

    async def body() -> None:
        async with asking_peer(deaf, first_byte_s=0.1) as fetcher:
            with pytest.raises(FetchFailed, match="no answer in time"):
                async with fetcher.send(b"POST", b"/", [], pieces(4096), length=None):
                    pass

    run(body())


def test_an_upload_to_a_refused_connection_fails_without_waiting_for_its_body() -> None:
    async def body() -> None:
        fetcher = fetcher_of(free_port())
        with pytest.raises(FetchFailed):
            async with fetcher.send(b"PUT", b"/", [], pieces(1000), length=None):
                pass

    run(body())
