"""Fetching with `await`: whole answers, answers as they come, and failures."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from printreach.http1 import fetch as module
from printreach.http1.client import ExchangeFailure
from printreach.http1.connection import ServerLimits
from printreach.http1.fetch import Fetcher, FetchFailed, OpenAnswer
from printreach.http1.messages import Answer, Call
from printreach.http1.server import Server
from tests.http1.fetching import PIECE, asking, asking_peer, fetcher_of
from tests.http1.serving import (
    DEADLINE_S,
    Endless,
    count_to_three,
    echo_body,
    echo_target,
    run,
    serving,
)
from tests.rigs.waiting import free_port


def test_an_answer_is_fetched_whole() -> None:
    async def body() -> None:
        async with asking(echo_target) as fetcher:
            answer = await fetcher.fetch(b"GET", b"/a?b=c")

        assert (answer.status, answer.body) == (200, b"/a?b=c")
        assert answer.header(b"content-length") == b"6"

    run(body())


def test_host_and_headers_are_sent_as_given() -> None:
    async def tell(call: Call) -> Answer:
        return Answer(body=call.head.host + b" " + (call.header(b"x-api-key") or b""))

    async def body() -> None:
        async with serving(tell) as server:
            fetcher = fetcher_of(server.port)
            answer = await fetcher.fetch(b"GET", b"/", [(b"X-Api-Key", b"key")])
            await fetcher.close()
            assert answer.body == b"printer:%d key" % server.port

    run(body())


@pytest.mark.parametrize("sent", [b"", b"hello"])
def test_a_body_is_sent_with_its_length(sent: bytes) -> None:
    async def body() -> None:
        async with asking(echo_body) as fetcher:
            assert (await fetcher.fetch(b"POST", b"/", body=sent)).body == sent

    run(body())


def test_a_kept_connection_is_used_again() -> None:
    connections = set[int]()

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer.get_extra_info("peername")[1])
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def body() -> None:
        async with asking_peer(peer) as fetcher:
            for _ in range(3):
                assert (await fetcher.fetch(b"GET", b"/")).status == 204

    run(body())
    assert len(connections) == 1


def test_an_answer_over_the_limit_is_refused_before_it_is_whole() -> None:
    async def body() -> None:
        endless = Endless(PIECE)
        async with asking(endless) as fetcher:
            with pytest.raises(FetchFailed, match="over 50000 bytes"):
                await fetcher.fetch(b"GET", b"/", at_most=50_000)
            await endless.ended.wait()

    run(body())


def test_an_answer_is_read_as_it_comes() -> None:
    async def body() -> None:
        async with asking(count_to_three) as fetcher, fetcher.open(b"GET", b"/") as answer:
            assert answer.status == 200
            assert await _read(answer) == b"one two three"

    run(body())


def test_leaving_an_answer_early_ends_it_at_the_server() -> None:
    async def body() -> None:
        endless = Endless(PIECE)
        async with asking(endless) as fetcher:
            async with fetcher.open(b"GET", b"/") as answer:
                async for _ in answer.chunks():
                    break
            await endless.ended.wait()

    run(body())


def test_a_slow_reader_slows_the_server_down() -> None:
    async def body() -> None:
        sent = 0

        async def handler(_call: Call) -> Answer:
            async def all_of_it() -> AsyncGenerator[bytes, None]:
                nonlocal sent
                for _ in range(4096):  # 64 MiB, more than sockets hold
                    sent += 1
                    yield PIECE

            return Answer(body=all_of_it())

        async with asking(handler) as fetcher, fetcher.open(b"GET", b"/") as answer:
            async for _ in answer.chunks():
                await asyncio.sleep(0.2)
                break
            assert sent < 4096

    run(body())


def test_a_server_that_is_silent_is_given_up() -> None:
    async def silent(call: Call) -> Answer:
        await asyncio.sleep(2 * DEADLINE_S)
        return Answer()

    async def body() -> None:
        async with asking(silent, first_byte_s=0.1) as fetcher:
            with pytest.raises(FetchFailed) as failed:
                await fetcher.fetch(b"POST", b"/", body=b"hello")
        assert failed.value.failure is ExchangeFailure.TIMED_OUT

    run(body())


def test_an_answer_that_stalls_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_TIMEOUT_S", 0.1)

    async def stalling(_call: Call) -> Answer:
        async def begun() -> AsyncGenerator[bytes, None]:
            yield b"begun"
            await asyncio.sleep(2 * DEADLINE_S)

        return Answer(body=begun())

    async def body() -> None:
        async with asking(stalling) as fetcher:
            with pytest.raises(FetchFailed, match="nothing came"):
                await fetcher.fetch(b"GET", b"/")

    run(body())


def test_an_answer_that_breaks_off_is_not_taken_for_whole() -> None:
    async def half(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        writer.close()

    async def body() -> None:
        async with asking_peer(half) as fetcher:
            with pytest.raises(FetchFailed) as failed:
                await fetcher.fetch(b"GET", b"/")
        assert failed.value.failure is ExchangeFailure.BROKEN

    run(body())


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b""])
def test_an_answer_that_is_not_http_is_a_failure(said: bytes) -> None:
    async def other(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async def body() -> None:
        async with asking_peer(other) as fetcher:
            with pytest.raises(FetchFailed):
                await fetcher.fetch(b"GET", b"/")

    run(body())


def test_a_refused_connection_is_reported_in_the_systems_words() -> None:
    async def body() -> None:
        fetcher = fetcher_of(free_port())
        with pytest.raises(FetchFailed, match="Connection refused") as failed:
            await fetcher.fetch(b"GET", b"/")
        assert failed.value.failure is ExchangeFailure.UNREACHABLE

    run(body())


def test_a_host_name_that_is_none_is_a_failure() -> None:
    async def body() -> None:
        loop = asyncio.get_running_loop()
        connect = partial(loop.create_connection, host="a..b", port=80)
        with pytest.raises(FetchFailed) as failed:
            await Fetcher(connect, b"a..b").fetch(b"GET", b"/")
        assert failed.value.failure is ExchangeFailure.UNREACHABLE

    run(body())


def test_closing_ends_running_exchanges() -> None:
    async def body() -> None:
        async with serving(Endless(PIECE)) as server:
            fetcher = fetcher_of(server.port)
            async with fetcher.open(b"GET", b"/") as answer:
                await fetcher.close()
                with pytest.raises(FetchFailed):
                    await _read(answer)

    run(body())


def test_a_server_that_restarts_between_two_questions_is_asked_again() -> None:
    async def body() -> None:
        port = free_port()
        fetcher = fetcher_of(port)
        async with _serving_at(port):
            assert (await fetcher.fetch(b"GET", b"/one")).body == b"/one"
        async with _serving_at(port):
            assert (await fetcher.fetch(b"GET", b"/two")).body == b"/two"
        await fetcher.close()

    run(body())


@asynccontextmanager
async def _serving_at(port: int) -> AsyncIterator[Server]:
    server = Server(echo_target, ServerLimits())
    await server.listen("127.0.0.1", port, None)
    try:
        yield server
    finally:
        await server.close()


async def _read(answer: OpenAnswer) -> bytes:
    return b"".join([chunk async for chunk in answer.chunks()])
