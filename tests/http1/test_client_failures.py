"""The client: every way in which there is no answer; each is reported once."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable

import pytest
import uvloop

from printreach.http1 import client as client_module
from printreach.http1.client import Client, ExchangeFailure, reason_of
from printreach.http1.heads import MAX_HEAD_BYTES
from tests.fakes.hasty_loop import hasty_loop, on_a_hasty_loop
from tests.fakes.loop import on_a_loop
from tests.fakes.skipping_loop import on_a_skipping_loop, skip
from tests.http1.scripted_server import GET, OK, Heard, talk

POST_CHUNKED = b"POST / HTTP/1.1\r\nHost: printer\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED_OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LARGE_HEAD = b"HTTP/1.1 200 OK\r\nX-Large: " + b"x" * MAX_HEAD_BYTES


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"HTTP/2 200\r\n\r\n", "The status line is malformed."),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "The status line is malformed."),
        (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "The status line is malformed."),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "There is more than one Content-Length.",
        ),
        (CHUNKED_OK + b"five\r\n", "In a chunked body, the size of a chunk is malformed."),
        (LARGE_HEAD, "The head of the answer is larger than 32 KiB."),
        (LARGE_HEAD + b"\r\n\r\n", "The head of the response is larger than 32 KiB."),
    ],
)
def test_an_answer_that_cannot_be_read_is_broken_and_its_connection_closed(
    answer: bytes, sentence: str
) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            heard, _ = at.ask()
            accepted = await at.server.accept()
            await accepted.answer(answer)

            await heard.until_over()
            assert heard.failures == [(ExchangeFailure.BROKEN, sentence)]
            await accepted.end()

    body()


CUT_SHORT = "the connection was closed in the middle of the answer"
NO_ANSWER = "the connection was closed before an answer came"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", NO_ANSWER),
        (b"HTTP/1.1 200", NO_ANSWER),
        (OK[:-1], CUT_SHORT),
        (CHUNKED_OK, CUT_SHORT),
        (CHUNKED_OK + b"5\r\nhello\r\n", CUT_SHORT),
        (OK[:-5], CUT_SHORT),
    ],
)
def test_an_answer_that_ends_too_early_is_broken(answer: bytes, sentence: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            heard, _ = at.ask()
            accepted = await at.server.accept()
            await accepted.answer(answer)
            accepted.close()

            await heard.until_over()
            assert heard.fins == 0
            assert heard.failures == [(ExchangeFailure.BROKEN, sentence)]

    body()


@on_a_loop
async def test_an_answer_without_length_that_is_broken_off_is_no_whole_one() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.1 200 OK\r\n\r\nhel")
        await heard.until_body(3)
        accepted.reset()

        await heard.until_over()
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]


REFUSAL = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"


@pytest.mark.parametrize("make_loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop])
@pytest.mark.parametrize("said", [REFUSAL, REFUSAL[:-1], REFUSAL[:-9], b""])
def test_a_refusal_is_read_though_the_upload_meets_the_end_of_the_connection(
    make_loop: Callable[[], asyncio.AbstractEventLoop], said: bytes
) -> None:
    """The server answers, reads no more and closes; the next write is answered by a reset."""

    async def body() -> None:
        loop, (ours, theirs) = asyncio.get_running_loop(), connected_pair()
        client = Client(lambda protocol: loop.create_connection(protocol, sock=ours))
        heard = Heard()
        exchange = client.request(heard, b"POST", POST_CHUNKED, fin=False, chunked=True)
        with theirs:
            await loop.sock_recv(theirs, 4096)
            exchange.send(b"unread", fin=False)
            theirs.send(said)
        exchange.send(b"more", fin=False)  # the loop has had no turn to look at what came

        await heard.until_over()
        assert bool(heard.fins) == (said == REFUSAL)
        assert [one.status for one in heard.responses] == ([413] if b"\r\n\r\n" in said else [])
        await client.close()

    asyncio.Runner(loop_factory=make_loop).run(body())


def connected_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection over loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    for end in (ours, theirs):
        end.setblocking(False)
    return ours, theirs


@on_a_loop
async def test_a_server_that_is_not_there_is_unreachable() -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        client = Client(lambda protocol: loop.create_connection(protocol, "127.0.0.1", port))
        heard = Heard()
        client.request(heard, b"GET", GET)

        await heard.until_over()
        assert heard.failures == [(ExchangeFailure.UNREACHABLE, "Connection refused")]


@on_a_loop
async def test_a_name_that_no_name_server_can_be_asked_for_is_unreachable() -> None:
    loop = asyncio.get_running_loop()
    client = Client(lambda protocol: loop.create_connection(protocol, "x" * 64 + ".local", 80))
    heard = Heard()
    client.request(heard, b"GET", GET)

    await heard.until_over()
    assert [failure for failure, _ in heard.failures] == [ExchangeFailure.UNREACHABLE]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 1)"), "Connection refused"),
        (OSError(errno.EHOSTUNREACH, "no matter"), os.strerror(errno.EHOSTUNREACH)),
        (
            OSError(
                "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0),"
                " [Errno 111] Connect call failed ('127.0.0.1', 1)"
            ),
            "Connection refused",
        ),
        (
            OSError("Multiple exceptions: [Errno 101] Connect call, [Errno 111] Connect call"),
            "Network is unreachable, Connection refused",
        ),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ConnectionResetError(), "ConnectionResetError"),
        (OSError("in other words"), "in other words"),
        (
            ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"),
            "TLS failed: wrong version number",
        ),
    ],
)
def test_why_there_is_no_connection_is_said_in_words(error: OSError, words: str) -> None:
    assert reason_of(error) == words


@on_a_hasty_loop
async def test_a_connection_that_takes_too_long_is_given_up() -> None:
    async def never(_protocol: object) -> None:
        await asyncio.get_running_loop().create_future()

    began_at = hasty_loop().time()
    heard = Heard()
    Client(never).request(heard, b"GET", GET)
    await heard.until_over(60)

    assert heard.failures == [(ExchangeFailure.UNREACHABLE, "no connection within 10 s")]
    assert hasty_loop().time() - began_at == pytest.approx(client_module.CONNECT_TIMEOUT_S)


class SilentTransport(asyncio.Transport):
    """A connection that accepts writes, and from which nothing comes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_aborted = False
        self.protocol: asyncio.BaseProtocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True


def client_of(transport: SilentTransport) -> Client:
    async def connect(make_protocol: Callable[[], asyncio.Protocol]) -> None:
        transport.protocol = make_protocol()
        transport.protocol.connection_made(transport)

    return Client(connect)


@on_a_hasty_loop
async def test_a_server_that_says_nothing_for_ten_minutes_is_given_up() -> None:
    transport, heard = SilentTransport(), Heard()
    began_at = hasty_loop().time()
    client_of(transport).request(heard, b"GET", GET)
    await heard.until_over(3600)

    assert heard.failures == [(ExchangeFailure.TIMED_OUT, "no answer in time")]
    assert hasty_loop().time() - began_at == pytest.approx(600)
    assert transport.is_aborted


@on_a_hasty_loop
async def test_ten_minutes_count_from_the_last_byte_of_an_upload() -> None:
    transport, heard = SilentTransport(), Heard()
    exchange = client_of(transport).request(heard, b"POST", POST_CHUNKED, fin=False, chunked=True)
    for fin in [False] * 9 + [True]:
        await asyncio.sleep(300)
        exchange.send(b"more", fin=fin)
    await asyncio.sleep(599)
    assert heard.failures == []

    await asyncio.sleep(2)
    assert [failure for failure, _ in heard.failures] == [ExchangeFailure.TIMED_OUT]


@on_a_hasty_loop
async def test_an_upload_that_its_sender_pauses_is_not_the_servers_delay() -> None:
    transport, heard = SilentTransport(), Heard()
    client_of(transport).request(heard, b"POST", POST_CHUNKED, fin=False, chunked=True)
    await asyncio.sleep(3600)

    assert heard.failures == []


class Stumbling(Heard):
    """A handler that raises in on_failed."""

    def on_failed(self, failure: ExchangeFailure, text: str) -> None:
        super().on_failed(failure, text)
        raise RuntimeError("a fault of ours")


@on_a_hasty_loop
async def test_a_server_that_takes_nothing_of_an_upload_for_ten_minutes_is_given_up() -> None:
    transport, heard = SilentTransport(), Heard()
    client_of(transport).request(heard, b"POST", POST_CHUNKED, fin=False, chunked=True)
    await asyncio.sleep(100)
    transport.protocol.pause_writing()
    await asyncio.sleep(400)
    transport.protocol.resume_writing()
    transport.protocol.pause_writing()
    await asyncio.sleep(599)
    assert heard.failures == []

    await asyncio.sleep(2)
    assert [failure for failure, _ in heard.failures] == [ExchangeFailure.TIMED_OUT]


@on_a_hasty_loop
async def test_a_handler_that_raises_for_a_late_answer_does_not_hold_up_other_late_ones() -> None:
    client, others = client_of(SilentTransport()), [Heard() for _ in range(8)]
    client.request(Stumbling(), b"GET", GET)
    for heard in others:
        client.request(heard, b"GET", GET)
    await asyncio.sleep(601)

    for heard in others:
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.TIMED_OUT]


@on_a_hasty_loop
async def test_a_connection_that_comes_about_after_a_freeze_carries_nothing_out() -> None:
    transport, heard = SilentTransport(), Heard()

    async def connect_while_frozen(make_protocol: Callable[[], asyncio.Protocol]) -> None:
        hasty_loop().freeze(60.0)
        make_protocol().connection_made(transport)

    Client(connect_while_frozen).request(heard, b"POST", POST_CHUNKED, chunked=True)
    await asyncio.sleep(1)

    assert transport.written == b""
    assert transport.is_aborted
    assert heard.failures == [(ExchangeFailure.UNREACHABLE, "the connection came too late")]


@on_a_loop
async def test_a_server_that_is_late_is_given_up_and_left() -> None:
    async with talk(first_byte_s=0.05) as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()

        await heard.until_over()
        assert heard.failures == [(ExchangeFailure.TIMED_OUT, "no answer in time")]
        assert await accepted.end() == GET


@on_a_skipping_loop
async def test_a_body_may_pause_for_longer_than_the_first_byte() -> None:
    async with talk(first_byte_s=60.0) as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(OK[:-1])
        await heard.until_body(4)
        skip(120.0)
        await asyncio.sleep(0.001)  # a timer that is due has its turn
        accepted.send(OK[-1:])

        assert (await heard.until_over()).body == b"hello"
