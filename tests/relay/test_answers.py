"""Every form of a printer's answer, as its caller receives it."""

import pytest

from printreach.relay.connection import MAX_PIPELINED_BYTES
from printreach.wire.errors import Reason
from printreach.wire.heads import Headers, encode_response
from tests.relay.caller import Answer, BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import Asked, Script, ignore
from tests.relay.waiting import settle, until

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")
ENDLESS = b"Content-Length: 1000000000"


async def answered(script: Script, *fields: bytes, **line: bytes) -> Answer:
    """Return the answer to one request when the agent runs this script."""
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=script)
        caller.send(request(access.host, access.bearer, *fields, **line))
        return await caller.answer(to_head=line.get("method") == b"HEAD")


@on_a_loop
async def test_an_answer_with_a_length_keeps_it() -> None:
    answer = await answered(lambda asked: asked.answer_with_length(b"hello"))

    assert answer.all(b"content-length") == [b"5"]
    assert answer.body == b"hello"


@on_a_loop
async def test_an_answer_without_a_length_that_came_whole_gets_one() -> None:
    answer = await answered(lambda asked: asked.answer(body=b"hello"))

    assert answer.all(b"content-length") == [b"5"]
    assert answer.body == b"hello"


@on_a_loop
async def test_an_answer_without_a_length_that_comes_in_parts_comes_in_chunks() -> None:
    def in_parts(asked: Asked) -> None:
        asked.answer(body=b"hel", fin=False)
        asked.stream.send(b"lo")
        asked.stream.send(b"", fin=True)

    answer = await answered(in_parts)

    assert answer.all(b"transfer-encoding") == [b"chunked"]
    assert answer.body == b"hello"


def in_two_parts(asked: Asked) -> None:
    asked.answer(body=b"hel", fin=False)
    asked.stream.send(b"lo", fin=True)


@on_a_loop
async def test_http_1_0_gets_such_an_answer_until_the_connection_closes() -> None:
    answer = await answered(in_two_parts, b"Connection: keep-alive", version=b"HTTP/1.0")

    assert answer.all(b"transfer-encoding") == []
    assert answer.get(b"connection") == b"close"
    assert answer.body == b"hello"


@on_a_loop
async def test_http_1_0_keeps_its_connection_where_it_asks_to_and_the_length_is_known() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        asked = (access.bearer, b"Connection: keep-alive")
        caller.send(request(access.host, *asked, version=b"HTTP/1.0") * 2)
        answers = [await caller.answer(), await caller.answer()]

        assert [answer.get(b"connection") for answer in answers] == [b"keep-alive"] * 2


@pytest.mark.parametrize(
    ("version", "fields"),
    [(b"HTTP/1.1", [b"Connection: close"]), (b"HTTP/1.0", [])],
    ids=["asked to close", "HTTP/1.0"],
)
@on_a_loop
async def test_the_connection_ends_after_the_answer_where_the_caller_wants_that(
    version: bytes, fields: list[bytes]
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        caller.send(request(access.host, access.bearer, *fields, version=version))

        assert (await caller.answer()).get(b"connection") == b"close"
        assert await caller.is_closed()


@on_a_loop
async def test_an_answer_to_head_says_the_length_and_has_no_body() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        length = [(b"Content-Length", b"500")]
        await rig.agent(script=lambda asked: asked.answer(headers=length))
        caller.send(request(access.host, access.bearer, method=b"HEAD") * 2)

        for _ in range(2):
            assert (await caller.answer(to_head=True)).all(b"content-length") == [b"500"]


@on_a_loop
async def test_head_learns_of_a_file_that_is_too_large_to_download() -> None:
    length = [(b"Content-Length", b"5000000000")]

    answer = await answered(lambda asked: asked.answer(headers=length), method=b"HEAD")

    assert (answer.status, answer.all(b"content-length")) == (200, [b"5000000000"])


@pytest.mark.parametrize("status", [204, 304])
@on_a_loop
async def test_an_answer_that_can_have_no_body_ends_with_its_head(status: int) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer(status))
        caller.send(request(access.host, access.bearer) * 2)

        assert [(await caller.answer()).status for _ in range(2)] == [status, status]


@on_a_loop
async def test_a_304_says_the_length_of_what_the_caller_has() -> None:
    length = [(b"Content-Length", b"500")]

    answer = await answered(lambda asked: asked.answer(304, length))

    assert answer.all(b"content-length") == [b"500"]


@on_a_loop
async def test_a_304_may_speak_of_a_file_that_is_too_large_to_download() -> None:
    length = [(b"Content-Length", b"5000000000")]

    answer = await answered(lambda asked: asked.answer(304, length))

    assert (answer.status, answer.all(b"content-length")) == (304, [b"5000000000"])


@on_a_loop
async def test_a_204_says_no_length() -> None:
    length = [(b"Content-Length", b"500")]

    assert (await answered(lambda asked: asked.answer(204, length))).headers == []


@on_a_loop
async def test_headers_keep_their_order_their_case_and_their_number() -> None:
    headers = [(b"set-COOKIE", b"a=1"), (b"X", b""), (b"Set-Cookie", b"b=2"), (b"X", b"\xe9")]

    answer = await answered(lambda asked: asked.answer(headers=headers))

    assert answer.headers == [*headers, (b"Content-Length", b"0")]


@pytest.mark.parametrize("status", [200, 206, 401, 418, 500, 599, 614, 999])
@on_a_loop
async def test_a_printers_status_and_reason_pass_as_they_are(status: int) -> None:
    answer = await answered(lambda asked: asked.answer(status, reason=b"Its own W\xf6rds"))

    assert (answer.status, answer.reason) == (status, b"Its own W\xf6rds")


# --- interim answers, early answers ---------------------------------------------------------------


@on_a_loop
async def test_a_caller_that_expects_100_continue_gets_the_printers() -> None:
    def invite(asked: Asked) -> None:
        asked.stream.interim(encode_response(100, b"Continue", []))
        asked.when_complete = lambda asked: asked.answer_with_length(asked.body)

    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=invite)
        expecting = (b"Expect: 100-continue", b"Content-Length: 5")
        caller.send(request(access.host, access.bearer, *expecting, method=b"POST"))
        assert (await caller.answer()).status == 100
        caller.send(b"hello")

        assert (await caller.answer()).body == b"hello"
        assert agent.asked[0].all(b"expect") == [b"100-continue"]


@on_a_loop
async def test_http_1_0_gets_no_interim_answer() -> None:
    def hint(asked: Asked) -> None:
        asked.stream.interim(encode_response(103, b"Early Hints", []))
        asked.answer()

    assert (await answered(hint, version=b"HTTP/1.0")).status == 200


@on_a_loop
async def test_an_answer_may_come_before_the_upload_has_ended() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, ENDLESS, method=b"POST"))
        asked = await agent.next()
        asked.answer(413, body=b"too large")

        answer = await caller.answer()
        assert (answer.status, answer.body) == (413, b"too large")
        assert answer.get(b"connection") == b"close"
        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_an_upload_goes_on_while_its_answer_has_begun() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, b"Content-Length: 10", method=b"POST"))
        asked = await agent.next()
        asked.answer(body=b"so far ", fin=False)
        await settle()
        caller.send(b"0123456789")
        await until(lambda: asked.is_complete)
        asked.stream.send(asked.body, fin=True)

        assert (await caller.answer()).body == b"so far 0123456789"


# --- uploads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 1_000_000])
@on_a_loop
async def test_a_chunked_upload_reaches_the_agent_whole(size: int) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        chunked = b"Transfer-Encoding: chunked"
        chunk = b"%x\r\n%b\r\n" % (size, b"x" * size) if size else b""
        caller.send(request(access.host, access.bearer, chunked, method=b"POST"))
        caller.send(chunk + b"0\r\nTrailer: dropped\r\n\r\n")
        asked = await agent.next()
        await until(lambda: asked.is_complete)

        assert asked.body == b"x" * size
        assert asked.all(b"transfer-encoding") == []


@on_a_loop
async def test_a_chunked_upload_that_came_with_its_head_gets_a_length() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        chunked = b"Transfer-Encoding: chunked"
        asked = request(access.host, access.bearer, chunked, method=b"POST")
        caller.send(asked + b"5\r\nhello\r\n0\r\n\r\n")
        await caller.answer()

        assert agent.asked[0].is_complete
        assert agent.asked[0].all(b"content-length") == [b"5"]


# --- upgrades -------------------------------------------------------------------------------------


async def upgraded(caller: Caller, headers: Headers | None = None) -> Answer:
    return await caller.answer()


@on_a_loop
async def test_after_a_handshake_bytes_travel_raw_both_ways() -> None:
    def agree(asked: Asked) -> None:
        asked.answer(101, [(b"Sec-WebSocket-Accept", b"x")], b"first", fin=False)

    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=agree)
        caller.send(request(access.host, access.bearer, *HANDSHAKE, target=b"/ws"))
        answer = await caller.answer()
        asked = await agent.next()
        assert await caller.read(5) == b"first"
        caller.send(b"GET / HTTP/1.1\r\n\r\n")
        await until(lambda: asked.body == b"GET / HTTP/1.1\r\n\r\n")
        asked.stream.send(b"\x81\x00")

        assert await caller.read(2) == b"\x81\x00"
        assert asked.opened.upgrade
        assert answer.headers == [
            (b"Upgrade", b"websocket"),
            (b"Connection", b"Upgrade"),
            (b"Sec-WebSocket-Accept", b"x"),
        ]


@on_a_loop
async def test_frames_that_came_with_the_handshake_reach_the_printer_after_it() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *HANDSHAKE) + b"hasty")
        asked = await agent.next()
        await settle()
        assert asked.body == b""
        asked.answer(101, fin=False)

        await until(lambda: asked.body == b"hasty")


@on_a_loop
async def test_after_many_frames_that_came_with_the_handshake_more_are_read() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        early = b"x" * (MAX_PIPELINED_BYTES + 1)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        asked = await agent.next()
        caller.send(early)
        await until(lambda: caller.unsent == 0)
        await settle()
        asked.answer(101, fin=False)
        assert (await caller.answer()).status == 101
        caller.send(b"late")

        await until(lambda: asked.body == early + b"late")


@on_a_loop
async def test_when_the_printer_ends_a_websocket_the_caller_gets_the_last_of_it() -> None:
    def say_goodbye(asked: Asked) -> None:
        asked.answer(101, fin=False)
        asked.stream.send(b"goodbye", fin=True)

    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=say_goodbye)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))

        assert (await caller.answer()).status == 101
        assert await caller.rest() == b"goodbye"


@on_a_loop
async def test_when_the_caller_ends_a_websocket_the_printers_side_ends() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        agent = await rig.agent(script=lambda asked: asked.answer(101, fin=False))
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        await caller.answer()
        caller.send(b"goodbye")
        caller.half_close()
        asked = await agent.next()

        await until(lambda: asked.is_complete)
        assert asked.body == b"goodbye"


@on_a_loop
async def test_a_printer_may_refuse_a_handshake_with_an_answer_of_its_own() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer(403, body=b"no"))
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        answer = await caller.answer()
        caller.send(request(access.host, access.bearer))

        assert (answer.status, answer.body) == (403, b"no")
        assert (await caller.answer()).status == 403


@on_a_loop
async def test_an_upgrade_to_something_else_is_an_ordinary_request() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        h2c = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMA")
        caller.send(request(access.host, access.bearer, *h2c))

        assert (await caller.answer()).status == 200
        asked = agent.asked[0]
        assert not asked.opened.upgrade
        assert asked.all(b"upgrade") + asked.all(b"http2-settings") == []


@on_a_loop
async def test_an_answer_that_ends_before_its_length_is_broken_off() -> None:
    def too_short(asked: Asked) -> None:
        asked.answer(headers=[(b"Content-Length", b"10")], body=b"hello", fin=False)
        asked.stream.send(b"", fin=True)

    with pytest.raises(BrokenOff):
        await answered(too_short)
