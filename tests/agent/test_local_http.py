"""Requests from the tunnel to the printer's own web server, and its answers back."""

import asyncio

import pytest

from printreach.tunnel.stream import MIN_PIECE_BYTES
from printreach.wire.errors import Reason
from printreach.wire.frames import WINDOW_BYTES
from printreach.wire.heads import Headers
from tests.agent.beside_printer import beside_printer, eventually, fill, until
from tests.fakes.loop import on_a_loop
from tests.http1.scripted_server import OK
from tests.rigs.waiting import free_port

LENGTH_FIVE: Headers = [(b"Content-Length", b"5")]
CHUNKED_OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GET_HEAD = b"GET / HTTP/1.1\r\nHost: app-1.example.org\r\n\r\n"


@on_a_loop
async def test_a_request_and_its_answer_pass_through() -> None:
    async with beside_printer() as rig:
        asked = rig.ask()
        assert await (await rig.printer.accept()).answer() == GET_HEAD

        await until(asked.is_whole)
        assert asked.heads == [b"200 OK\r\nContent-Length: 5\r\n"]
        assert asked.body == b"hello"


@on_a_loop
async def test_target_and_headers_reach_the_printer_byte_by_byte() -> None:
    async with beside_printer() as rig:
        rig.ask(
            b"PROPFIND",
            b"//a%2Fb/%C3%A4?q=%20&q=\xff",
            [(b"X-Api-Key", b"key"), (b"x-CASE", b"a, b"), (b"Cookie", b"a=1"), (b"Cookie", b"b")],
        )

        assert await (await rig.printer.accept()).head() == (
            b"PROPFIND //a%2Fb/%C3%A4?q=%20&q=\xff HTTP/1.1\r\n"
            b"Host: app-1.example.org\r\n"
            b"X-Api-Key: key\r\nx-CASE: a, b\r\nCookie: a=1\r\nCookie: b\r\n\r\n"
        )


@pytest.mark.parametrize(("secure", "scheme"), [(True, b"https"), (False, b"http")])
def test_octoprint_is_told_what_host_and_scheme_the_caller_sees(
    secure: bool, scheme: bytes
) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer(wants_outside_host=True) as rig:
            rig.ask(secure=secure)

            assert await (await rig.printer.accept()).head() == (
                b"GET / HTTP/1.1\r\nHost: app-1.example.org\r\n"
                b"X-Forwarded-Host: app-1.example.org\r\nX-Forwarded-Proto: %b\r\n\r\n" % scheme
            )

    body()


@pytest.mark.parametrize("wants_outside_host", [False, True])
def test_a_caller_that_names_no_host_asks_the_printer_by_its_own(wants_outside_host: bool) -> None:
    """HTTP/1.0 needs none, and the printer is asked in HTTP/1.1, which does."""

    @on_a_loop
    async def body() -> None:
        async with beside_printer(wants_outside_host=wants_outside_host) as rig:
            rig.ask(headers=[(b"Accept", b"*/*")], host=None)
            head = await (await rig.printer.accept()).head()

            host = b"Host: 127.0.0.1:%d\r\n" % rig.printer.port
            assert head.startswith(b"GET / HTTP/1.1\r\n" + host + b"Accept: */*\r\n")
            assert head.lower().count(b"host:") == 1

    body()


@on_a_loop
async def test_hop_by_hop_fields_end_here_both_ways() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(
            headers=[(b"Connection", b"X-Hop, close"), (b"X-Hop", b"1"), (b"Keep-Alive", b"5")]
        )
        visit = await rig.printer.accept()
        assert await visit.head() == GET_HEAD
        visit.send(
            b"HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nSet-Cookie: a=1\r\n"
            b"Set-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"
        )

        await until(asked.is_whole)
        assert asked.heads == [
            b"200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n"
        ]


@on_a_loop
async def test_an_upload_with_its_length_is_passed_on_as_it_is() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(b"POST", b"/", LENGTH_FIVE, b"he", fin=False)
        visit = await rig.printer.accept()
        assert b"Content-Length: 5\r\n" in await visit.head()
        assert await visit.receive(2) == b"he"

        asked.stream.send(b"llo", fin=True)
        assert await visit.receive(3) == b"llo"
        visit.send(OK)
        await until(asked.is_whole)


@on_a_loop
async def test_an_upload_without_length_is_sent_in_chunks() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(b"POST", b"/", body=b"he", fin=False)
        asked.stream.send(b"llo", fin=True)
        visit = await rig.printer.accept()

        assert (await visit.head()).endswith(b"Transfer-Encoding: chunked\r\n\r\n")
        sent = b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
        assert await visit.receive(len(sent)) == sent


@on_a_loop
async def test_an_upload_without_length_that_came_whole_is_no_next_request() -> None:
    async with beside_printer() as rig:
        rig.ask(b"POST", b"/", body=b"DELETE / HTTP/1.1\r\n\r\n")
        visit = await rig.printer.accept()

        assert (await visit.head()).endswith(b"Transfer-Encoding: chunked\r\n\r\n")
        assert await visit.receive(4) == b"15\r\n"


@on_a_loop
async def test_an_expectation_is_passed_on_and_so_is_its_answer() -> None:
    async with beside_printer() as rig:
        headers = [*LENGTH_FIVE, (b"Expect", b"100-continue")]
        asked = rig.ask(b"POST", b"/", headers, fin=False)
        visit = await rig.printer.accept()
        assert b"Expect: 100-continue\r\n" in await visit.head()

        visit.send(b"HTTP/1.1 100 Continue\r\nConnection: keep-alive\r\nX-Now: 1\r\n\r\n")
        await eventually(lambda: bool(asked.interims))
        assert asked.interims == [b"100 Continue\r\nX-Now: 1\r\n"]
        asked.stream.send(b"hello", fin=True)
        assert await visit.receive(5) == b"hello"


@on_a_loop
async def test_a_stream_of_pictures_is_live_from_its_first_byte() -> None:
    async with beside_printer() as rig:
        asked = rig.ask()
        visit = await rig.printer.accept()
        await visit.answer(b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n")
        await until(asked.has_head)
        visit.send(b"--frame")
        await eventually(lambda: asked.body == b"--frame")

        assert not asked.is_whole.is_set()


@on_a_loop
async def test_a_slow_printer_holds_the_upload_up_at_its_caller() -> None:
    async with beside_printer(buffer_bytes=1000) as rig:
        asked = rig.ask(b"POST", b"/", fin=False)
        visit = await rig.printer.accept()
        await visit.head()
        sent = await fill(asked)
        assert asked.writable == 0

        await visit.receive(sent)  # and the lines around its chunks
        await eventually(lambda: asked.writable == 1)


@on_a_loop
async def test_a_slow_caller_holds_the_printer_up() -> None:
    async with beside_printer() as rig:
        asked = rig.ask(takes=False)
        visit = await rig.printer.accept()
        size = 32 * 1024 * 1024
        await visit.answer(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        visit.send(b"x" * size)
        await eventually(lambda: len(asked.body) > WINDOW_BYTES - MIN_PIECE_BYTES)
        await asyncio.sleep(0.05)
        unsent = visit.writer.transport.get_write_buffer_size()
        assert unsent > size - 16 * 1024 * 1024
        assert len(asked.body) <= WINDOW_BYTES

        asked.take()
        await until(asked.is_whole)
        assert len(asked.body) == size


@on_a_loop
async def test_an_early_answer_is_passed_on_and_the_rest_of_the_upload_is_drained() -> None:
    async with beside_printer(buffer_bytes=1000) as rig:
        asked = rig.ask(b"POST", b"/", fin=False)
        visit = await rig.printer.accept()
        await visit.head()
        await fill(asked)
        visit.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await until(asked.is_whole)
        await visit.end()

        await eventually(lambda: asked.writable == 1)
        asked.stream.send(b"x" * 1_000_000, fin=True)
        await eventually(lambda: rig.hub.stream_count == 0)
        await eventually(lambda: rig.agent.stream_count == 0)


@on_a_loop
async def test_a_printer_that_is_off_is_named_with_its_address() -> None:
    port = free_port()
    async with beside_printer(port=port) as rig:
        asked = rig.ask()

        await until(asked.is_over)
        assert asked.endings == [
            (
                Reason.UNREACHABLE,
                f"The printer's web server at http://127.0.0.1:{port} can't be reached:"
                " Connection refused.",
            )
        ]


@on_a_loop
async def test_a_printer_that_gives_no_answer_is_told_apart() -> None:
    async with beside_printer(first_byte_s=0.05) as rig:
        asked = rig.ask()
        visit = await rig.printer.accept()

        await until(asked.is_over)
        (ending,) = asked.endings
        assert ending.reason is Reason.TIMED_OUT
        assert ending.text.endswith("gave no answer: no answer in time.")
        await visit.end()


GAVE_NONE = "gave no answer that can be passed on"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", f"{GAVE_NONE}: the connection was closed before an answer came."),
        (b"SSH-2.0-OpenSSH\r\n\r\n", f"{GAVE_NONE}: The status line is malformed."),
        (OK[:-1], "broke its answer off: the connection was closed in the middle of the answer."),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            f"{GAVE_NONE}: it changed to another protocol unasked.",
        ),
    ],
)
def test_a_broken_answer_ends_the_stream_with_a_sentence(answer: bytes, sentence: str) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer() as rig:
            asked = rig.ask()
            visit = await rig.printer.accept()
            await visit.answer(answer)
            visit.close()

            await until(asked.is_over)
            (ending,) = asked.endings
            assert ending.reason is Reason.BROKEN
            assert ending.text.endswith(sentence)
            assert rig.agent.stream_count == 0

    body()


@pytest.mark.parametrize("said", [b"", OK[:20], OK[:-1], CHUNKED_OK + b"5\r\nhel"])
def test_a_caller_that_leaves_ends_the_printers_connection_within_a_moment(said: bytes) -> None:
    @on_a_loop
    async def body() -> None:
        async with beside_printer() as rig:
            asked = rig.ask(b"POST", b"/", body=b"he", fin=False)
            visit = await rig.printer.accept()
            await visit.answer(said)
            asked.stream.reset(Reason.CANCELLED)

            await visit.end()
            assert rig.agent.stream_count == 0

    body()


@on_a_loop
async def test_a_lost_tunnel_ends_the_printers_connections() -> None:
    async with beside_printer() as rig:
        rig.ask()
        visit = await rig.printer.accept()
        await visit.head()

        rig.agent_link.abort()
        await visit.end()


@on_a_loop
async def test_a_caller_that_left_takes_nobody_elses_connection_with_it() -> None:
    async with beside_printer() as rig:
        slow = rig.ask(takes=False)
        visit = await rig.printer.accept()
        await visit.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
        await eventually(lambda: rig.client.kept == 1)  # the answer is whole for the agent
        assert len(slow.body) <= WINDOW_BYTES
        other = rig.ask()  # on the connection of the first
        await visit.head()

        slow.stream.reset(Reason.CANCELLED)
        await asyncio.sleep(0.01)
        visit.send(OK)

        await until(other.is_whole)
        assert other.body == b"hello"
        assert rig.printer.accepted == 1
