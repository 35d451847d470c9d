"""Clients that are rude, late or gone, and what becomes of them when the server closes."""

import asyncio

import pytest

from printreach.http1.connection import ServerLimits
from printreach.http1.messages import Answer, Call
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.http1.serving import (
    DEADLINE_S,
    GET,
    Endless,
    client_of,
    echo_target,
    run,
    serving,
    talking_to,
)

# Bad clients.


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 33_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 70_000, 431),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ],
)
def test_bytes_that_are_no_good_request_are_refused_and_the_connection_ends(
    data: bytes, status: int
) -> None:
    async def test() -> None:
        async with talking_to(echo_target) as client:
            await client.say(data + GET % (b"/smuggled", b""))

            head, _ = await client.answer()
            assert head.startswith(b"HTTP/1.1 %d " % status)
            assert b"Connection: close" in head
            assert await client.rest() == b""

    run(test())


def test_a_head_that_drips_is_refused_with_408() -> None:
    async def test() -> None:
        async with talking_to(echo_target, ServerLimits(head_timeout_s=0.05)) as client:
            await client.say(b"GET / HTTP/1.1\r\nHost:")

            assert (await client.answer())[0].startswith(b"HTTP/1.1 408 ")

    run(test())


@on_a_skipping_loop
async def test_an_idle_connection_is_closed_without_a_word() -> None:
    async with talking_to(echo_target, ServerLimits(idle_timeout_s=75.0)) as client:
        await client.ask(b"/")
        skip(75.0)

        async with asyncio.timeout(DEADLINE_S):
            assert await client.rest() == b""


def test_a_connection_too_many_gets_503() -> None:
    async def test() -> None:
        async with (
            serving(echo_target, ServerLimits(max_connections=1)) as server,
            client_of(server) as first,
        ):
            await first.ask(b"/")
            async with client_of(server) as second:
                assert (await second.rest()).startswith(b"HTTP/1.1 503 ")

            assert (await first.ask(b"/again"))[1] == b"/again"

    run(test())


# Clients that leave.


def test_a_client_that_leaves_cancels_its_handler() -> None:
    async def test() -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def handler(call: Call) -> Answer:
            began.set()
            try:
                await asyncio.sleep(DEADLINE_S * 2)
            finally:
                ended.set()
            return Answer()

        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b""))
            await began.wait()
            client.leave()

            await ended.wait()

    run(test())


def test_a_client_that_leaves_ends_the_stream_it_was_sent() -> None:
    async def test() -> None:
        handler = Endless(b"frame")
        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b""))
            await handler.began.wait()
            client.leave()

            await handler.ended.wait()

    run(test())


def test_a_stream_waits_for_a_client_that_does_not_read() -> None:
    async def test() -> None:
        handler = Endless(bytes(1 << 20))
        async with talking_to(handler) as client:
            await client.say(GET % (b"/", b""))
            before = -1
            while handler.yielded != before:
                before = handler.yielded
                await asyncio.sleep(0.1)
            # The kernel's buffers take some; without back-pressure each round would add 20 MiB.
            assert handler.yielded < 20

    run(test())


def test_a_body_is_not_read_before_the_handler_asks_for_it() -> None:
    async def test() -> None:
        asked = asyncio.Event()

        async def handler(call: Call) -> Answer:
            await asked.wait()
            return Answer(body=b"%d" % len(await call.body.read(1 << 26)))

        async with talking_to(handler) as client:
            size = 50_000_000
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
            sending = asyncio.create_task(client.say(bytes(size)))
            await asyncio.wait([sending], timeout=0.2)
            assert not sending.done()
            asked.set()

            assert (await client.answer())[1] == b"%d" % size

    run(test())


# Closing the server.


def test_closing_lets_a_running_request_end() -> None:
    async def test() -> None:
        began, go_on = asyncio.Event(), asyncio.Event()

        async def handler(call: Call) -> Answer:
            began.set()
            await go_on.wait()
            return Answer(body=b"done")

        async with serving(handler) as server, client_of(server) as client:
            await client.say(GET % (b"/", b""))
            await began.wait()
            closing = asyncio.create_task(server.close(grace_s=DEADLINE_S))
            await asyncio.sleep(0)
            go_on.set()

            head, body = await client.answer()
            assert body == b"done"
            assert b"Connection: close" in head
            await closing

    run(test())


def test_closing_ends_requests_that_outlast_the_grace() -> None:
    async def test() -> None:
        handler = Endless(b"frame")
        async with serving(handler) as server, client_of(server) as client:
            await client.say(GET % (b"/", b""))
            await handler.began.wait()
            await server.close(grace_s=0.02)

            assert handler.ended.is_set()

    run(test())


def test_closing_ends_idle_connections_at_once() -> None:
    async def test() -> None:
        async with serving(echo_target) as server, client_of(server) as client:
            await client.ask(b"/")
            await server.close(grace_s=DEADLINE_S * 2)

    run(test())
