"""Bodies that the server is sent, over real sockets."""

import pytest

from printreach.http1 import connection
from printreach.http1.connection import ServerLimits
from printreach.http1.request_body import BodyLimits
from tests.http1.serving import DEADLINE_S, GET, echo_body, ignore_body, run, talking_to


def test_a_body_with_a_length_arrives_whole() -> None:
    async def test() -> None:
        async with talking_to(echo_body) as client:
            data = bytes(range(256)) * 1024
            await client.say(
                b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(data)
            )
            await client.say(data + GET % (b"/", b""))

            assert (await client.answer())[1] == data
            assert (await client.answer())[1] == b""

    run(test())


def test_a_chunked_body_arrives_whole_and_the_next_request_after_it() -> None:
    async def test() -> None:
        async with talking_to(echo_body) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            await client.say(b"5\r\nhello\r\n1")
            await client.say(b"\r\n!\r\n0\r\n\r\n" + GET % (b"/", b""))

            assert (await client.answer())[1] == b"hello!"
            assert (await client.answer())[1] == b""

    run(test())


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 9\r\n\r\n123456789",
        b"Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n",
    ],
)
def test_a_body_above_the_bound_is_refused_with_413(framing: bytes) -> None:
    async def test() -> None:
        async with talking_to(echo_body, ServerLimits(body=BodyLimits(max_bytes=8))) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing)

            assert (await client.answer())[0].startswith(b"HTTP/1.1 413 ")

    run(test())


def test_a_body_that_stops_coming_is_given_up() -> None:
    async def test() -> None:
        async with talking_to(echo_body, ServerLimits(body=BodyLimits(timeout_s=0.05))) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")

            assert (await client.answer())[0].startswith(b"HTTP/1.1 408 ")

    run(test())


def test_malformed_chunks_are_refused() -> None:
    async def test() -> None:
        async with talking_to(echo_body) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            await client.say(b"zz\r\n")

            assert (await client.answer())[0].startswith(b"HTTP/1.1 400 ")

    run(test())


EXPECTING = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"


def test_a_waiting_client_is_told_to_continue_when_its_body_is_wanted() -> None:
    async def test() -> None:
        async with talking_to(echo_body) as client:
            await client.say(EXPECTING)
            assert await client.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await client.say(b"hello")

            assert (await client.answer())[1] == b"hello"

    run(test())


def test_a_waiting_client_whose_body_is_not_wanted_gets_the_answer_at_once() -> None:
    async def test() -> None:
        async with talking_to(ignore_body) as client:
            await client.say(EXPECTING)

            head, body = await client.answer()
            assert head.startswith(b"HTTP/1.1 403 ")
            assert b"Connection: close" in head
            assert body == b"no"

    run(test())


def test_a_client_that_is_refused_while_sending_can_read_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "LINGER_S", DEADLINE_S)  # so that no standstill outlasts it

    async def test() -> None:
        async with talking_to(ignore_body) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")
            await client.say(bytes(4_000_000))

            assert (await client.answer())[1] == b"no"
            assert await client.rest() == b""

    run(test())
