"""The client: slow readers and writers on either side, and cancelled exchanges."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from printreach.http1.client import Client, ClientExchange, ExchangeFailure
from printreach.http1.heads import Response
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import GET, OK, PATIENCE_S, Heard, ServerConnection, Talk, talk

POST_CHUNKED = b"POST / HTTP/1.1\r\nHost: printer\r\nTransfer-Encoding: chunked\r\n\r\n"
UPGRADE = b"GET /ws HTTP/1.1\r\nHost: printer\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
LARGE = 32 * 1024 * 1024


@on_a_loop
async def test_a_paused_exchange_reads_little_of_a_large_answer_and_later_the_rest() -> None:
    async with talk() as at:
        heard, exchange = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE)
        await heard.until_response()
        exchange.pause()
        accepted.send(b"x" * LARGE)
        await asyncio.sleep(0.05)
        assert len(heard.body) < 1024 * 1024

        exchange.resume()
        async with asyncio.timeout(PATIENCE_S):
            while not heard.is_over:
                await heard.until_body(min(LARGE, len(heard.body) + 1))
        assert len(heard.body) == LARGE


@on_a_loop
async def test_a_pause_before_the_connection_holds_back_the_answer() -> None:
    async with talk() as at:
        heard, exchange = at.ask()
        exchange.pause()
        await (await at.server.accept()).answer()
        await asyncio.sleep(0.02)
        assert heard.responses == []

        exchange.resume()
        await heard.until_over()


@on_a_loop
async def test_a_connection_whose_exchange_ended_in_a_pause_reads_on_for_the_next() -> None:
    async with talk() as at:
        first, exchange = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(OK[:-1])
        await first.until_body(4)
        first.at_fin = exchange.pause
        accepted.send(OK[-1:])
        await first.until_over()

        second, _ = at.ask()
        await accepted.answer()
        assert (await second.until_over()).body == b"hello"


async def until_held_up(exchange: ClientExchange) -> int:
    """Send until on_writable has to be awaited; return how many bytes that took."""
    for count in range(1, 1000):
        if not exchange.send(b"x" * 50_000, fin=False):
            return count * 50_000
        await asyncio.sleep(0)
    raise AssertionError("nothing held the upload up")


@on_a_loop
async def test_a_server_that_does_not_read_holds_up_the_upload_until_it_does() -> None:
    async with talk(buffer_bytes=1000) as at:
        heard, exchange = at.ask(POST_CHUNKED, fin=False, chunked=True)
        accepted = await at.server.accept()
        await heard.until_writable(0)
        await accepted.head()
        before = heard.writable
        sent = await until_held_up(exchange)

        await accepted.receive(sent)
        await heard.until_writable(before + 1)
        assert exchange.send(b"y", fin=True)


@on_a_loop
async def test_cancelling_while_connecting_ends_the_attempt_at_once() -> None:
    ended = asyncio.Event()

    async def connect(_protocol: object) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    heard = Heard()
    exchange = Client(connect).request(heard, b"GET", GET)
    await asyncio.sleep(0)
    exchange.cancel()

    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()
    assert heard.failures == []


async def asked(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    _, exchange = at.ask()
    accepted = await at.server.accept()
    await accepted.head()
    return accepted, exchange


async def uploading(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    _, exchange = at.ask(POST_CHUNKED, body=b"hello", fin=False, chunked=True)
    accepted = await at.server.accept()
    await accepted.head()
    return accepted, exchange


async def stuck_in_the_upload(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    accepted, exchange = await uploading(at)
    await until_held_up(exchange)
    return accepted, exchange


async def in_the_head(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    accepted, exchange = await asked(at)
    accepted.send(OK[:12])
    return accepted, exchange


async def in_the_body(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    heard, exchange = at.ask()
    accepted = await at.server.accept()
    await accepted.answer(OK[:-1])
    await heard.until_body(4)
    return accepted, exchange


async def paused_in_the_body(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    accepted, exchange = await in_the_body(at)
    exchange.pause()
    return accepted, exchange


async def in_raw_bytes(at: Talk) -> tuple[ServerConnection, ClientExchange]:
    heard, exchange = at.ask(UPGRADE, fin=False)
    accepted = await at.server.accept()
    await accepted.answer(SWITCHING)
    await heard.until_response()
    return accepted, exchange


@pytest.mark.parametrize(
    "state",
    [
        asked,
        uploading,
        stuck_in_the_upload,
        in_the_head,
        in_the_body,
        paused_in_the_body,
        in_raw_bytes,
    ],
)
def test_cancelling_closes_the_servers_side_within_a_moment(
    state: Callable[[Talk], Awaitable[tuple[ServerConnection, ClientExchange]]],
) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            accepted, exchange = await state(at)
            exchange.cancel()

            await accepted.end()
            assert exchange.is_over
            assert exchange.send(b"too late", fin=True)
            assert exchange.send_raw(b"too late")
            exchange.cancel()

    body()


@on_a_loop
async def test_a_cancelled_exchange_calls_no_handler() -> None:
    async with talk() as at:
        heard, exchange = at.ask()
        accepted = await at.server.accept()
        await accepted.head()
        exchange.cancel()
        accepted.send(OK)
        await accepted.end()

        assert not heard.responses
        assert not heard.failures


@on_a_loop
async def test_a_closed_client_tells_every_exchange_and_leaves_no_connection() -> None:
    async with talk() as at:
        waiting, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.head()
        connecting, _ = at.ask()
        await at.client.close()
        late, _ = at.ask()

        for heard in (waiting, connecting, late):
            await heard.until_over()
            assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]
        await accepted.end()


@on_a_loop
async def test_a_closed_client_does_not_repeat_a_question() -> None:
    async with talk() as at:
        first, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer()
        await first.until_over()
        second, _ = at.ask()
        await accepted.head()

        await at.client.close()

        await second.until_over()
        assert [failure for failure, _ in second.failures] == [ExchangeFailure.BROKEN]
        assert at.server.accepted == 1


@on_a_loop
async def test_an_early_answer_to_an_upload_that_is_stuck_frees_the_connection_at_once() -> None:
    async with talk(buffer_bytes=1000) as at:
        heard, exchange = at.ask(POST_CHUNKED, fin=False, chunked=True)
        accepted = await at.server.accept()
        await accepted.head()
        await until_held_up(exchange)
        accepted.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

        await heard.until_over()
        assert heard.response.status == 413
        await accepted.end()


class Faulty(Heard):
    """An AnswerHandler that raises in one of its methods."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place

    def _perhaps_fail(self, place: str) -> None:
        if place == self._place:
            raise ZeroDivisionError

    def on_interim(self, response: Response) -> None:
        self._perhaps_fail("interim")
        super().on_interim(response)

    def on_response(self, response: Response, body: bytes, fin: bool) -> None:
        self._perhaps_fail("response")
        super().on_response(response, body, fin)

    def on_body(self, data: bytes, fin: bool) -> None:
        self._perhaps_fail("end" if fin else "body")
        super().on_body(data, fin)

    def on_writable(self) -> None:
        self._perhaps_fail("writable")


@pytest.mark.parametrize("place", ["interim", "response", "body", "end", "writable"])
def test_a_handler_that_raises_ends_its_exchange_and_is_logged(
    place: str, caplog: pytest.LogCaptureFixture
) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            heard = Faulty(place)
            at.client.request(heard, b"POST", POST_CHUNKED, body=b"x", chunked=True)
            accepted = await at.server.accept()
            await accepted.head()
            for piece in (b"HTTP/1.1 103 Early Hints\r\n\r\n", OK[:-2], OK[-2:-1], OK[-1:]):
                if heard.is_over:
                    break
                said = heard.words
                accepted.send(piece)
                await heard.until_words(said + 1)

            await heard.until_over()
            assert heard.failures == [(ExchangeFailure.BROKEN, "a fault at this end")]
            if place != "end":  # there the connection is free already
                await accepted.end()

    body()
    assert "ZeroDivisionError" in caplog.text
