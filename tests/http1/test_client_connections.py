"""Connections that the client reuses, and stale ones among them."""

import pytest

from printreach.http1 import client as client_module
from printreach.http1.client import ExchangeFailure
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import GET, OK, ServerConnection, Talk, talk

POST_EMPTY = b"POST /api/job HTTP/1.1\r\nHost: printer\r\nContent-Length: 0\r\n\r\n"
PUT_FIVE = b"PUT / HTTP/1.1\r\nHost: printer\r\nContent-Length: 5\r\n\r\n"
GET_FIVE = b"GET / HTTP/1.1\r\nHost: printer\r\nContent-Length: 5\r\n\r\n"


async def kept_connection(at: Talk) -> ServerConnection:
    """Ask once; the connection that is kept since."""
    heard, _ = at.ask()
    accepted = await at.server.accept()
    await accepted.answer()
    await heard.until_over()
    return accepted


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"OPTIONS"])
def test_a_request_that_may_be_repeated_uses_a_kept_connection(method: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            accepted = await kept_connection(at)
            heard, _ = at.ask(GET.replace(b"GET", method))
            head = await accepted.answer(OK if method != b"HEAD" else OK[:-5])

            assert head.startswith(method)
            assert (await heard.until_over()).failures == []
            assert at.server.accepted == 1

    body()


@on_a_loop
async def test_a_command_gets_a_connection_of_its_own() -> None:
    async with talk() as at:
        await kept_connection(at)
        heard, _ = at.ask(POST_EMPTY)
        accepted = await at.server.accept()

        assert await accepted.answer() == POST_EMPTY
        await heard.until_over()
        assert at.server.accepted == 2


@on_a_loop
async def test_a_get_with_a_body_gets_a_connection_of_its_own() -> None:
    async with talk() as at:
        await kept_connection(at)
        heard, _ = at.ask(GET_FIVE, body=b"hello")
        accepted = await at.server.accept()
        await accepted.answer()

        await heard.until_over()
        assert at.server.accepted == 2


@on_a_loop
async def test_the_connection_of_a_command_is_kept_for_later_questions() -> None:
    async with talk() as at:
        heard, _ = at.ask(PUT_FIVE, body=b"hello")
        accepted = await at.server.accept()
        await accepted.answer()
        await accepted.receive(5)
        await heard.until_over()

        heard, _ = at.ask()
        await accepted.answer()
        await heard.until_over()
        assert at.server.accepted == 1


@pytest.mark.parametrize("interval", ["before the request", "at the request", "in the head"])
def test_a_stale_kept_connection_costs_a_question_one_more_try(interval: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            accepted = await kept_connection(at)
            if interval == "before the request":
                accepted.close()
            heard, _ = at.ask()
            if interval == "at the request":
                accepted.reset()
            elif interval == "in the head":
                await accepted.head()
                accepted.close()
            fresh = await at.server.accept()

            assert await fresh.answer() == GET
            assert (await heard.until_over()).failures == []

    body()


@on_a_loop
async def test_a_question_is_repeated_once_only() -> None:
    async with talk() as at:
        accepted = await kept_connection(at)
        heard, _ = at.ask()
        await accepted.head()
        accepted.close()
        fresh = await at.server.accept()
        await fresh.head()
        fresh.close()

        await heard.until_over()
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]
        assert at.server.accepted == 2


@on_a_loop
async def test_a_request_whose_answer_has_begun_is_not_repeated() -> None:
    async with talk() as at:
        accepted = await kept_connection(at)
        heard, _ = at.ask()
        await accepted.answer(OK[:-1])
        accepted.close()

        await heard.until_over()
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]
        assert at.server.accepted == 1


@on_a_loop
async def test_a_command_that_meets_a_closed_connection_is_not_repeated() -> None:
    async with talk() as at:
        heard, _ = at.ask(POST_EMPTY)
        accepted = await at.server.accept()
        await accepted.head()
        accepted.close()

        await heard.until_over()
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]
        assert at.server.accepted == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        OK + b"and more than was asked for",
        OK + OK,
    ],
)
def test_a_connection_that_cannot_be_trusted_with_another_question_is_closed(answer: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            heard, _ = at.ask()
            accepted = await at.server.accept()
            await accepted.answer(answer)

            assert (await heard.until_over()).body == b"hello"
            assert await accepted.end() == b""

    body()


@on_a_loop
async def test_unrequested_bytes_are_no_answer_to_the_next_request() -> None:
    async with talk() as at:
        accepted = await kept_connection(at)
        accepted.send(OK.replace(b"hello", b"wrong"))
        await accepted.end()
        heard, _ = at.ask()
        await (await at.server.accept()).answer()

        assert (await heard.until_over()).body == b"hello"


@on_a_loop
async def test_a_cancelled_exchange_does_not_close_the_connection_that_another_uses_now() -> None:
    async with talk() as at:
        first, exchange = at.ask()
        accepted = await at.server.accept()
        await accepted.answer()
        await first.until_over()
        second, _ = at.ask()
        await accepted.head()

        exchange.cancel()
        accepted.send(OK)

        assert (await second.until_over()).body == b"hello"
        assert at.server.accepted == 1


@on_a_loop
async def test_a_finished_exchange_neither_pauses_nor_writes_on_the_connection_of_another() -> None:
    async with talk() as at:
        first, exchange = at.ask()
        accepted = await at.server.accept()
        await accepted.answer()
        await first.until_over()
        second, _ = at.ask()
        await accepted.head()

        exchange.pause()
        exchange.send_raw(b"stray bytes")
        exchange.end_raw()
        accepted.send(OK)
        await second.until_over()
        accepted.close()

        assert second.body == b"hello"
        assert await accepted.end() == b""


def test_an_idle_connection_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "KEEP_IDLE_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            accepted = await kept_connection(at)

            assert await accepted.end() == b""
            assert at.client.kept == 0

    body()


@on_a_loop
async def test_no_more_connections_are_kept_than_are_of_use() -> None:
    async with talk() as at:
        count = client_module.MAX_KEPT + 3
        asked = [at.ask()[0] for _ in range(count)]
        connections = [await at.server.accept() for _ in range(count)]
        for accepted in connections:
            await accepted.answer()
        for heard in asked:
            await heard.until_over()

        assert at.client.kept == client_module.MAX_KEPT
