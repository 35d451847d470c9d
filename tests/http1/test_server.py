"""The server, spoken to over real sockets: requests, answers, upgrades."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from printreach.http1.messages import Answer, Call
from printreach.http1.stream import ByteStream
from tests.http1.serving import (
    GET,
    UPGRADE,
    count_to_three,
    echo_target,
    run,
    talking_to,
)

# Requests in turn.


def test_a_connection_carries_one_request_after_another() -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            assert (await client.ask(b"/a"))[1] == b"/a"
            assert (await client.ask(b"/b?c=%20"))[1] == b"/b?c=%20"

    run(test())


def test_pipelined_requests_are_answered_in_order() -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            await client.say(GET % (b"/1", b"") + GET % (b"/2", b"") + GET % (b"/3", b""))

            assert [(await client.answer())[1] for _ in range(3)] == [b"/1", b"/2", b"/3"]

    run(test())


def test_an_empty_line_before_a_request_is_skipped() -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            await client.say(b"\r\n" + GET % (b"/a", b""))

            assert (await client.answer())[1] == b"/a"

    run(test())


def test_a_head_may_come_byte_by_byte() -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            for byte in GET % (b"/slow", b""):
                await client.say(bytes([byte]))
                await asyncio.sleep(0)

            assert (await client.answer())[1] == b"/slow"

    run(test())


@pytest.mark.parametrize(
    ("request_head", "stays_open"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_a_connection_stays_open_as_the_client_wishes(
    request_head: bytes, stays_open: bool
) -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            await client.say(request_head)
            head, _ = await client.answer()

            assert (b"Connection: close" not in head) == stays_open
            if stays_open:
                assert (await client.ask(b"/again"))[1] == b"/again"
            else:
                assert await client.rest() == b""

    run(test())


# Answers.


def test_an_answer_of_unknown_length_is_sent_in_chunks() -> None:
    async def test() -> None:
        async with talking_to(count_to_three) as client:
            await client.say(GET % (b"/", b"Connection: close\r\n"))

            assert b"Transfer-Encoding: chunked" in await client.head()
            assert await client.rest() == b"4\r\none \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n"

    run(test())


def test_http_1_0_gets_an_answer_of_unknown_length_until_the_close() -> None:
    async def test() -> None:
        async with talking_to(count_to_three) as client:
            await client.say(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            head = await client.head()

            assert b"chunked" not in head
            assert b"keep-alive" not in head
            assert await client.rest() == b"one two three"

    run(test())


def test_a_head_request_gets_the_headers_alone() -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            await client.say(b"HEAD /12345 HTTP/1.1\r\nHost: a\r\n\r\n")
            assert b"Content-Length: 6\r\n" in await client.head()

            assert (await client.ask(b"/next"))[1] == b"/next"

    run(test())


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_body_has_none_and_no_length(status: int) -> None:
    async def handler(call: Call) -> Answer:
        return Answer(status=status, body=b"not sent")

    async def test() -> None:
        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b"Connection: close\r\n"))

            assert b"Content-Length" not in await client.head()
            assert await client.rest() == b""

    run(test())


def test_a_fault_in_a_handler_is_a_500_and_the_server_lives_on() -> None:
    async def handler(call: Call) -> Answer:
        if call.path == b"/broken":
            raise LookupError("a secret path")
        return Answer(body=b"fine")

    async def test() -> None:
        async with talking_to(handler) as client:
            head, body = await client.ask(b"/broken")
            assert head.startswith(b"HTTP/1.1 500 ")
            assert b"secret" not in body

            assert (await client.ask(b"/"))[1] == b"fine"

    run(test())


def test_a_fault_inside_a_streamed_body_cuts_it_short_visibly() -> None:
    async def handler(call: Call) -> Answer:
        async def body() -> AsyncGenerator[bytes, None]:
            yield b"half"
            raise LookupError

        return Answer(body=body())

    async def test() -> None:
        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b""))
            await client.head()

            try:
                assert b"0\r\n\r\n" not in await client.rest()
            except ConnectionResetError:
                pass  # as visible

    run(test())


def test_a_header_with_a_line_break_is_never_sent() -> None:
    async def handler(call: Call) -> Answer:
        return Answer(headers=[(b"X-Name", b"a\r\nX-Admin: yes")])

    async def test() -> None:
        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b""))

            try:
                assert await client.rest() == b""
            except ConnectionResetError:
                pass

    run(test())


# Upgrades.


async def reverse(call: Call) -> Answer:
    async def talk(stream: ByteStream) -> None:
        while data := await stream.receive():
            await stream.send(data[::-1])

    headers = [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    return Answer(status=101, headers=headers, upgraded=talk)


def test_an_upgraded_connection_is_the_handlers() -> None:
    async def test() -> None:
        async with talking_to(reverse) as client:
            await client.say(GET % (b"/ws", UPGRADE) + b"early")
            assert (await client.head()).startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
            assert await client.reader.readexactly(5) == b"ylrae"
            await client.say(b"late")
            assert await client.reader.readexactly(4) == b"etal"
            client.writer.write_eof()

            assert await client.rest() == b""

    run(test())
