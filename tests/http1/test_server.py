"""The server, spoken to over real sockets."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager

import pytest

from printreach.http1.connection import Limits
from printreach.http1.messages import Answer, Call, Handler
from printreach.http1.request_body import BodyLimits
from printreach.http1.server import Server, serve
from printreach.http1.stream import ByteStream

DEADLINE_S = 5.0
GET = b"GET %b HTTP/1.1\r\nHost: printer\r\n%b\r\n"
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def run(test: Coroutine[object, object, None]) -> None:
    async def with_deadline() -> None:
        async with asyncio.timeout(DEADLINE_S):
            await test

    asyncio.run(with_deadline())


class Client:
    """A client that says exactly what it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def ask(self, target: bytes, headers: bytes = b"") -> tuple[bytes, bytes]:
        """The head and the body of an answer that has a Content-Length."""
        await self.say(GET % (target, headers))
        return await self.answer()

    async def answer(self) -> tuple[bytes, bytes]:
        head = await self.head()
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        return head, await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        return await self.reader.read()

    def leave(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def serving(handler: Handler, limits: Limits | None = None) -> AsyncIterator[Server]:
    server = await serve(handler, "127.0.0.1", 0, limits=limits)
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[Client]:
    client = Client(*await asyncio.open_connection("127.0.0.1", server.port))
    try:
        yield client
    finally:
        client.leave()


@asynccontextmanager
async def talking_to(handler: Handler, limits: Limits | None = None) -> AsyncIterator[Client]:
    async with serving(handler, limits) as server, client_of(server) as client:
        yield client


async def echo_target(call: Call) -> Answer:
    return Answer(body=call.head.target)


async def echo_body(call: Call) -> Answer:
    return Answer(body=await call.body.read(1 << 20))


async def ignore_body(call: Call) -> Answer:
    return Answer(status=403, body=b"no")


async def count_to_three(call: Call) -> Answer:
    async def body() -> AsyncGenerator[bytes, None]:
        for word in (b"one ", b"two ", b"three"):
            yield word

    return Answer(body=body())


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


# Bodies of requests.


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


def test_a_chunked_body_arrives_whole_and_the_next_request_behind_it() -> None:
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
        async with talking_to(echo_body, Limits(body=BodyLimits(max_bytes=8))) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing)

            assert (await client.answer())[0].startswith(b"HTTP/1.1 413 ")

    run(test())


def test_a_body_that_stops_coming_is_given_up() -> None:
    async def test() -> None:
        async with talking_to(echo_body, Limits(body=BodyLimits(timeout_s=0.05))) as client:
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


def test_a_client_that_is_refused_while_sending_can_read_why() -> None:
    async def test() -> None:
        async with talking_to(ignore_body) as client:
            await client.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")
            await client.say(bytes(4_000_000))

            assert (await client.answer())[1] == b"no"
            assert await client.rest() == b""

    run(test())


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
        async with talking_to(echo_target, Limits(head_timeout_s=0.05)) as client:
            await client.say(b"GET / HTTP/1.1\r\nHost:")

            assert (await client.answer())[0].startswith(b"HTTP/1.1 408 ")

    run(test())


def test_an_idle_connection_is_closed_without_a_word() -> None:
    async def test() -> None:
        async with talking_to(echo_target, Limits(idle_timeout_s=0.05)) as client:
            await client.ask(b"/")

            assert await client.rest() == b""

    run(test())


def test_a_connection_too_many_gets_503() -> None:
    async def test() -> None:
        async with (
            serving(echo_target, Limits(max_connections=1)) as server,
            client_of(server) as first,
        ):
            await first.ask(b"/")
            async with client_of(server) as second:
                assert (await second.rest()).startswith(b"HTTP/1.1 503 ")

            assert (await first.ask(b"/again"))[1] == b"/again"

    run(test())


# Clients that leave.


class Endless:
    """A handler that streams for ever, and knows what became of it."""

    def __init__(self, piece: bytes) -> None:
        self.piece = piece
        self.yielded = 0
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, call: Call) -> Answer:
        return Answer(body=self._body())

    async def _body(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                self.yielded += 1
                yield self.piece
                self.began.set()
                await asyncio.sleep(0.005)
        finally:
            self.ended.set()


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


def test_closing_ends_what_outlasts_its_grace() -> None:
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
