"""The client: one request and its answer, in every form that a server gives it."""

import pytest

from printreach.http1.client import ExchangeFailure
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import GET, OK, talk

CHUNKED_OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
POST_FIVE = b"POST / HTTP/1.1\r\nHost: printer\r\nContent-Length: 5\r\n\r\n"
POST_CHUNKED = b"POST / HTTP/1.1\r\nHost: printer\r\nTransfer-Encoding: chunked\r\n\r\n"


@on_a_loop
async def test_a_request_reaches_the_server_byte_by_byte_as_it_was_given() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        assert await (await at.server.accept()).answer() == GET

        await heard.until_over()
        assert heard.response.status == 200
        assert heard.body == b"hello"


@on_a_loop
async def test_an_answer_may_come_one_byte_at_a_time() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.head()
        for at_byte in range(len(OK)):
            accepted.send(OK[at_byte : at_byte + 1])
            await accepted.writer.drain()

        assert (await heard.until_over()).body == b"hello"
        assert len(heard.responses) == 1


@on_a_loop
async def test_bytes_of_the_body_are_passed_on_at_once() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(OK[:-3])

        assert await heard.until_body(2) == b"he"
        assert not heard.is_over

        accepted.send(b"llo")
        assert (await heard.until_over()).body == b"hello"


@on_a_loop
async def test_a_chunked_answer_is_unwrapped_as_it_comes() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(CHUNKED_OK + b"3\r\nhel\r\n2\r\nl")
        assert await heard.until_body(4) == b"hell"

        accepted.send(b"o\r\n0\r\nX-Trailer: dropped\r\n\r\n")
        assert (await heard.until_over()).body == b"hello"


@on_a_loop
async def test_an_answer_without_length_ends_with_its_connection() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.0 200 OK\r\n\r\nhello")
        assert await heard.until_body(5) == b"hello"
        assert not heard.is_over

        accepted.close()
        assert (await heard.until_over()).fins == 1


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_an_answer_that_has_no_body_is_whole_with_its_head(status: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with talk() as at:
            heard, _ = at.ask()
            await (await at.server.accept()).answer(b"HTTP/1.1 %b\r\n\r\n" % status)

            assert (await heard.until_over()).body == b""

    body()


@on_a_loop
async def test_the_answer_to_head_has_no_body_whatever_its_length_says() -> None:
    async with talk() as at:
        heard, _ = at.ask(HEAD)
        await (await at.server.accept()).answer(OK[:-5])

        assert (await heard.until_over()).body == b""
        assert heard.failures == []


@on_a_loop
async def test_interim_answers_come_before_the_answer() -> None:
    async with talk() as at:
        heard, _ = at.ask(POST_FIVE, fin=False)
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n")
        assert [interim.status for interim in await heard.until_interims(1)] == [100]
        accepted.send(b"Link: </style.css>\r\n\r\n" + OK)

        await heard.until_over()
        assert [interim.status for interim in heard.interims] == [100, 103]
        assert heard.response.status == 200


@on_a_loop
async def test_a_server_that_only_ever_says_wait_is_given_up() -> None:
    async with talk() as at:
        heard, _ = at.ask()
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.1 102 Processing\r\n\r\n" * 10_000)

        await heard.until_over()
        assert heard.failures == [(ExchangeFailure.BROKEN, "There are too many interim answers.")]
        assert len(heard.interims) <= 100
        await accepted.end()


@on_a_loop
async def test_a_body_that_comes_with_the_request_is_sent_after_its_head() -> None:
    async with talk() as at:
        heard, _ = at.ask(POST_FIVE, body=b"hello")
        accepted = await at.server.accept()

        assert await accepted.head() == POST_FIVE
        assert await accepted.receive(5) == b"hello"
        accepted.send(OK)
        await heard.until_over()


@on_a_loop
async def test_a_body_that_comes_later_is_sent_as_it_comes() -> None:
    async with talk() as at:
        heard, exchange = at.ask(POST_FIVE, fin=False)
        accepted = await at.server.accept()
        await accepted.head()

        assert exchange.send(b"he", fin=False)
        assert await accepted.receive(2) == b"he"
        assert exchange.send(b"llo", fin=True)
        assert await accepted.receive(3) == b"llo"
        accepted.send(OK)
        await heard.until_over()


@on_a_loop
async def test_a_body_that_comes_before_the_connection_waits_for_it() -> None:
    async with talk() as at:
        heard, exchange = at.ask(POST_FIVE, body=b"he", fin=False)
        assert not exchange.send(b"llo", fin=True)
        accepted = await at.server.accept()

        await accepted.head()
        assert await accepted.receive(5) == b"hello"
        await heard.until_writable()


@on_a_loop
async def test_a_body_without_length_is_sent_in_chunks() -> None:
    async with talk() as at:
        _, exchange = at.ask(POST_CHUNKED, body=b"hello", fin=False, chunked=True)
        exchange.send(b"", fin=False)
        exchange.send(b" world", fin=True)
        accepted = await at.server.accept()
        await accepted.head()

        sent = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
        assert await accepted.receive(len(sent)) == sent


@pytest.mark.parametrize("body", [b"", b"hello"])
def test_a_chunked_body_that_is_known_whole_is_ended(body: bytes) -> None:
    @on_a_loop
    async def run() -> None:
        async with talk() as at:
            at.ask(POST_CHUNKED, body=body, chunked=True)
            accepted = await at.server.accept()
            await accepted.head()

            sent = (b"5\r\nhello\r\n" if body else b"") + b"0\r\n\r\n"
            assert await accepted.receive(len(sent)) == sent

    run()


@on_a_loop
async def test_an_answer_before_the_end_of_the_upload_arrives_and_the_rest_is_dropped() -> None:
    async with talk() as at:
        heard, exchange = at.ask(POST_CHUNKED, fin=False, chunked=True)
        accepted = await at.server.accept()
        await accepted.answer(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await heard.until_over()

        assert heard.response.status == 413
        assert exchange.send(b"x" * 100_000, fin=False)
        assert exchange.send(b"", fin=True)
        assert await accepted.end() == b""


@on_a_loop
async def test_bodies_that_both_ends_stream_at_once_arrive() -> None:
    async with talk() as at:
        heard, exchange = at.ask(POST_CHUNKED, fin=False, chunked=True)
        accepted = await at.server.accept()
        await accepted.answer(CHUNKED_OK + b"1\r\na\r\n")
        await heard.until_body(1)
        exchange.send(b"hello", fin=True)
        assert await accepted.receive(10) == b"5\r\nhello\r\n"

        accepted.send(b"1\r\nb\r\n0\r\n\r\n")
        assert (await heard.until_over()).body == b"ab"


UPGRADE = b"GET /ws HTTP/1.1\r\nHost: printer\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


@on_a_loop
async def test_after_an_upgrade_bytes_are_raw_both_ways() -> None:
    async with talk() as at:
        heard, exchange = at.ask(UPGRADE, fin=False)
        accepted = await at.server.accept()
        await accepted.answer(SWITCHING + b"\x81\x02hi")
        assert (await heard.until_response()).status == 101
        assert heard.body == b"\x81\x02hi"

        exchange.send_raw(b"HTTP/1.1 200 OK\r\n\r\n")
        assert await accepted.receive(19) == b"HTTP/1.1 200 OK\r\n\r\n"
        accepted.send(b"\x81\x03you")
        assert await heard.until_body(9) == b"\x81\x02hi\x81\x03you"


@on_a_loop
async def test_our_end_of_raw_bytes_leaves_the_servers_side_open() -> None:
    async with talk() as at:
        heard, exchange = at.ask(UPGRADE, fin=False)
        accepted = await at.server.accept()
        await accepted.answer(SWITCHING)
        await heard.until_response()

        exchange.send_raw(b"bye")
        exchange.end_raw()
        assert await accepted.end() == b"bye"
        accepted.send(b"good bye")
        accepted.close()

        assert (await heard.until_over()).body == b"good bye"
        assert heard.failures == []


@on_a_loop
async def test_the_servers_end_of_raw_bytes_ends_the_exchange() -> None:
    async with talk() as at:
        heard, exchange = at.ask(UPGRADE, fin=False)
        accepted = await at.server.accept()
        await accepted.answer(SWITCHING + b"bye")
        accepted.writer.write_eof()
        await heard.until_over()

        assert (bytes(heard.body), heard.fins) == (b"bye", 1)
        assert exchange.send_raw(b"too late")
        exchange.end_raw()
        assert await accepted.end() == b""


@on_a_loop
async def test_raw_bytes_that_are_broken_off_are_no_regular_end() -> None:
    async with talk() as at:
        heard, _ = at.ask(UPGRADE, fin=False)
        accepted = await at.server.accept()
        await accepted.answer(SWITCHING)
        await heard.until_response()
        accepted.reset()

        await heard.until_over()
        assert [failure for failure, _ in heard.failures] == [ExchangeFailure.BROKEN]
