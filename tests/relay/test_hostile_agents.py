"""An agent may be anybody's machine: what it sends costs itself at most, and no other tenant."""

import struct
from collections.abc import Callable

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode, Reason
from printreach.wire.frames import CHUNK_BYTES, FIN, WINDOW_BYTES, Kind
from printreach.wire.session import MAX_STREAMS
from tests.fakes.loop import on_a_loop
from tests.relay.caller import Answer, BrokenOff, Caller, calling, request
from tests.relay.rig import relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, echo, ignore
from tests.relay.waiting import settle, until

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")


async def answered_with(
    head: bytes, body: bytes = b"", *fields: bytes, method: bytes = b"GET"
) -> Answer:
    """What a caller gets when the agent sends these bytes for a head, and says that was all."""
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *fields, method=method))
        agent.send_head(await agent.next(), head, body)
        return await caller.answer(to_head=method == b"HEAD")


# --- heads ----------------------------------------------------------------------------------------

MALFORMED = {
    "a second answer behind a blank line": b"200 OK\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n",
    "a value with CR LF": b"200 OK\r\nA: b\r\nSet-Cookie\r\n",
    "a value with bare LF": b"200 OK\r\nA: b\nC: d\r\n",
    "a value with bare CR": b"200 OK\r\nA: b\rC: d\r\n",
    "a value with NUL": b"200 OK\r\nA: \x00\r\n",
    "a folded value": b"200 OK\r\nA: b\r\n c\r\n",
    "a name with a blank": b"200 OK\r\nA : b\r\n",
    "a name with CR LF": b"200 OK\r\nA\r\nB: c\r\n",
    "no name": b"200 OK\r\n: b\r\n",
    "a reason with CR": b"200 OK\rX: y\r\n",
    "a reason with LF": b"200 OK\nX: y\r\n",
    "a status of two digits": b"20 OK\r\n",
    "a status of four digits": b"2000 OK\r\n",
    "a status in words": b"OK OK\r\n",
    "a status line of HTTP": b"HTTP/1.1 200 OK\r\n",
    "no line end": b"200 OK",
    "nothing": b"",
    "two lengths": b"200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n",
    "the same length twice": b"200 OK\r\nContent-Length: 0\r\ncontent-length: 0\r\n",
    "a list of lengths": b"200 OK\r\nContent-Length: 0, 0\r\n",
    "a length below zero": b"200 OK\r\nContent-Length: -1\r\n",
    "a length with plus": b"200 OK\r\nContent-Length: +0\r\n",
    "a length of nothing": b"200 OK\r\nContent-Length: \r\n",
    "a length in superscript": b"200 OK\r\nContent-Length: \xb2\r\n",
    "a length of 20 digits": b"200 OK\r\nContent-Length: 00000000000000000000\r\n",
    "a change of protocol that nobody asked for": b"101 Switching Protocols\r\n",
    "an interim answer in place of an answer": b"100 Continue\r\n",
    "an unknown interim answer in place of an answer": b"199 Hm\r\n",
}


@pytest.mark.parametrize("head", MALFORMED.values(), ids=MALFORMED)
@on_a_loop
async def test_a_head_that_cannot_be_read_in_one_way_is_612(head: bytes) -> None:
    answer = await answered_with(head)

    assert (answer.status, answer.all(b"x-service-error")) == (612, [b"612"])


@pytest.mark.parametrize(
    ("length", "body"), [(b"5", b"hello!"), (b"5", b"hell"), (b"0", b"x"), (b"5", b"")]
)
@on_a_loop
async def test_a_body_that_is_not_as_long_as_its_head_says_is_612(
    length: bytes, body: bytes
) -> None:
    answer = await answered_with(b"200 OK\r\nContent-Length: %b\r\n" % length, body)

    assert answer.status == 612


@pytest.mark.parametrize(
    ("status", "method"), [(b"200", b"HEAD"), (b"204", b"GET"), (b"304", b"GET")]
)
@on_a_loop
async def test_a_body_where_none_can_be_is_612(status: bytes, method: bytes) -> None:
    assert (await answered_with(status + b" OK\r\n", b"x", method=method)).status == 612


@pytest.mark.parametrize("extra", [b"longer than promised", b""], ids=["too long", "too short"])
@on_a_loop
async def test_a_body_that_turns_out_to_have_another_length_is_broken_off(extra: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer) * 2)
        asked = await agent.next()
        asked.answer(headers=[(b"Content-Length", b"10")], body=b"hello", fin=False)
        await settle()
        asked.stream.send(extra, fin=True)

        with pytest.raises(BrokenOff) as broken:
            await caller.answer()
        assert b"longer" not in broken.value.received
        assert len(agent.asked) == 1


@pytest.mark.parametrize(("status", "method"), [(200, b"HEAD"), (204, b"GET"), (304, b"GET")])
@on_a_loop
async def test_a_late_body_where_none_can_be_never_reaches_the_caller(
    status: int, method: bytes
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, method=method) * 2)
        asked = await agent.next()
        asked.answer(status, fin=False)
        await settle()
        asked.stream.send(b"HTTP/1.1 200 OK\r\n\r\n", fin=True)

        assert (await caller.answer(to_head=True)).status == status
        assert await caller.is_closed()


@pytest.mark.parametrize(
    "reset", [Reason.BROKEN, Reason.CANCELLED, Reason.TIMED_OUT], ids=lambda reason: reason.name
)
@on_a_loop
async def test_an_answer_that_the_agent_gives_up_is_broken_off(reset: Reason) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        asked.answer(body=b"some", fin=False)
        await settle()
        asked.stream.reset(reset)

        with pytest.raises(BrokenOff):
            await caller.answer()


@on_a_loop
async def test_an_answer_that_is_broken_off_is_not_the_beginning_of_the_next_one() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer) * 2)
        asked = await agent.next()
        asked.answer(headers=[(b"Content-Length", b"10")], body=b"hello", fin=False)
        await settle()
        agent.leave()

        with pytest.raises(BrokenOff) as broken:
            await caller.answer()
        assert broken.value.received in (b"hello", b"")


# --- what heads must not carry --------------------------------------------------------------------


@on_a_loop
async def test_what_speaks_of_one_hop_or_of_the_service_itself_is_taken_off() -> None:
    hop = (
        b"Connection: close, X-Named\r\nKeep-Alive: timeout=9999\r\nTransfer-Encoding: chunked\r\n"
        b"Upgrade: h2c\r\nTrailer: X\r\nTE: trailers\r\nProxy-Authenticate: Basic\r\n"
        b"Proxy-Connection: x\r\nX-Service-Error: 604\r\n"
    )

    answer = await answered_with(b"200 OK\r\n" + hop + b"Kept: yes\r\n")

    assert answer.headers == [(b"Kept", b"yes"), (b"Content-Length", b"0")]


SET_COOKIES = {
    b"a=1; Domain=tunnel.example": [b"a=1"],
    b"a=1; path=/; DOMAIN = .example ; Secure": [b"a=1; path=/; Secure"],
    b"a=1;domain": [b"a=1"],
    b"printreach_own=x": [],
    b"PrintReach_Own=x": [],
    b" printreach_own =x": [],
    b"__Host-printreach_own=x; Path=/; Secure": [],
    b"printreach_own": [],
    b"=printreach_own=x": [],
    b" = printreach_own=x": [],
    b"==__Host-printreach_own=x": [],
    b"other=printreach_own": [b"other=printreach_own"],
    b"=x": [b"=x"],
}


@pytest.mark.parametrize(("sent", "arrives"), SET_COOKIES.items())
@on_a_loop
async def test_a_printers_cookie_is_for_its_own_host_and_never_one_of_ours(
    sent: bytes, arrives: list[bytes]
) -> None:
    answer = await answered_with(b"200 OK\r\nSet-Cookie: %b\r\n" % sent)

    assert answer.all(b"set-cookie") == arrives


@on_a_loop
async def test_a_printer_cannot_sign_people_out_of_what_shares_its_domain() -> None:
    answer = await answered_with(b'200 OK\r\nClear-Site-Data: "cookies"\r\n')

    assert answer.all(b"clear-site-data") == []


# --- interim answers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "interim",
    [
        b"103 Early Hints\r\nContent-Length: 5\r\n",
        b"103 Early Hints\r\nTransfer-Encoding: chunked\r\n",
        b"103 Early Hints\r\nConnection: close\r\n",
        b"103 Early Hints\r\nSet-Cookie: printreach_own=x\r\n",
        b"103 Early Hints\r\nX-Service-Error: 604\r\n",
    ],
)
@on_a_loop
async def test_an_interim_answer_is_cleaned_as_answers_are(interim: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        agent.send_frame(Kind.INTERIM, asked.stream.id, interim)
        agent.send_head(asked, b"200 OK\r\n")

        assert (await caller.answer()) == Answer(103, b"Early Hints", [], b"")
        assert (await caller.answer()).status == 200


@pytest.mark.parametrize(
    "interim", [b"103 \r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n", b"103 x\nA: b\r\n"]
)
@on_a_loop
async def test_an_interim_answer_that_cannot_be_read_is_612(interim: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        agent.send_frame(Kind.INTERIM, (await agent.next()).stream.id, interim)

        assert (await caller.answer()).status == 612


@on_a_loop
async def test_a_101_that_calls_itself_interim_changes_nothing() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        asked = await agent.next()
        agent.send_frame(Kind.INTERIM, asked.stream.id, b"101 Switching Protocols\r\n")
        agent.send_head(asked, b"200 OK\r\n")

        assert (await caller.answer()).status == 200


@on_a_loop
async def test_interim_answers_do_not_pile_up_for_a_caller_that_does_not_read() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=4096) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        hint = frames.frame(Kind.INTERIM, asked.stream.id, b"103 x\r\nA: %b\r\n" % (b"x" * 30_000))
        for _ in range(100):
            agent.link.send(hint)

        await until(lambda: asked.reset is not None)
        assert agent.closed is None


# --- upgrades -------------------------------------------------------------------------------------


@on_a_loop
async def test_a_101_says_nothing_of_lengths() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        head = b"101 Hm\r\nContent-Length: 5\r\nUpgrade: h2c\r\n"
        agent.send_head(await agent.next(), head, fin=False)

        assert (await caller.answer()).headers == [
            (b"Upgrade", b"websocket"),
            (b"Connection", b"Upgrade"),
        ]


@on_a_loop
async def test_a_101_that_ends_at_once_ends_the_connection() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        agent.send_head(await agent.next(), b"101 Hm\r\n", b"bye")

        assert (await caller.answer()).status == 101
        assert await caller.rest() == b"bye"


# --- frames ---------------------------------------------------------------------------------------

Attack = Callable[[ScriptedAgent, Asked], None]


def frame(kind: int, payload: bytes, *, stream: int | None = None) -> Attack:
    def send(agent: ScriptedAgent, asked: Asked) -> None:
        agent.send_frame(kind, asked.stream.id if stream is None else stream, payload)

    return send


def overrun(agent: ScriptedAgent, asked: Asked) -> None:
    agent.send_head(asked, b"200 OK\r\n", fin=False)
    chunk = frames.frame(Kind.DATA, asked.stream.id, b"x" * CHUNK_BYTES)
    agent.link.send(chunk * (WINDOW_BYTES // CHUNK_BYTES + 1))  # in one message: no credit between


def two_heads(agent: ScriptedAgent, asked: Asked) -> None:
    agent.send_head(asked, b"200 OK\r\n", fin=False)
    agent.send_head(asked, b"200 OK\r\n", fin=False)


def data_behind_the_end(agent: ScriptedAgent, asked: Asked) -> None:
    agent.send_head(asked, b"101 x\r\n")
    agent.send_frame(Kind.DATA, asked.stream.id, b"more")


BREACHES: dict[str, tuple[Attack, CloseCode]] = {
    "more than the window": (overrun, CloseCode.WINDOW_OVERRUN),
    "two heads": (two_heads, CloseCode.UNEXPECTED_FRAME),
    "a body before its head": (frame(Kind.DATA, b"x"), CloseCode.UNEXPECTED_FRAME),
    "an unknown kind": (frame(99, b"", stream=0), CloseCode.BAD_FRAME),
    "a stream that never was": (frame(Kind.DATA, b"x", stream=99), CloseCode.UNKNOWN_STREAM),
    "a stream opened from below": (
        frame(Kind.OPEN | FIN, frames.encode_open(0, b"GET /\r\n", b""), stream=99),
        CloseCode.UNEXPECTED_FRAME,
    ),
    "the id of a stream that runs": (
        frame(Kind.OPEN | FIN, frames.encode_open(0, b"GET /\r\n", b"")),
        CloseCode.UNEXPECTED_FRAME,
    ),
    "a head of 41 KiB": (
        lambda agent, asked: agent.send_head(asked, b"200 OK\r\n".ljust(41 * 1024, b"x")),
        CloseCode.BAD_HEAD,
    ),
    "a head longer than its frame": (frame(Kind.HEAD, b"\xff\xff200 OK\r\n"), CloseCode.BAD_FRAME),
    "a chunk over 64 KiB": (
        frame(Kind.HEAD, b"\x00\x00" + b"x" * 70_000),
        CloseCode.FRAME_TOO_LARGE,
    ),
    "credit for nothing": (frame(Kind.CREDIT, struct.pack(">I", 0)), CloseCode.BAD_CREDIT),
    "credit without end": (frame(Kind.CREDIT, b"\xff\xff\xff\xff"), CloseCode.BAD_CREDIT),
    "a second greeting": (
        frame(Kind.HELLO, frames.encode_hello(1, 1, WINDOW_BYTES, ()), stream=0),
        CloseCode.UNEXPECTED_FRAME,
    ),
    "a frame cut short": (
        lambda agent, _: agent.link.send(b"\x00\x00\x00\x09\x00"),
        CloseCode.BAD_FRAME,
    ),
}


@pytest.mark.parametrize(("attack", "code"), BREACHES.values(), ids=BREACHES)
@on_a_loop
async def test_a_breach_of_the_protocol_closes_that_tunnel_and_touches_no_other(
    attack: Attack, code: CloseCode
) -> None:
    async with relay() as rig, calling(rig.port) as victim, calling(rig.port) as caller:
        one, two = rig.connect("app-one"), rig.connect("app-two", printer="two")
        hostile, other = await rig.agent("one", ignore), await rig.agent("two", ignore)
        victim.send(request(two.host, two.bearer))
        running = await other.next()
        running.answer(body=b"begun, ", fin=False)
        caller.send(request(one.host, one.bearer))
        attack(hostile, await hostile.next())

        await until(lambda: hostile.closed)
        assert hostile.closed is not None
        assert hostile.closed[0] is code
        running.stream.send(b"and ended", fin=True)
        assert (await victim.answer()).body == b"begun, and ended"
        assert other.closed is None
        assert await broken_or_refused(caller)


async def broken_or_refused(caller: Caller) -> bool:
    try:
        return (await caller.answer()).status in (601, 612)
    except BrokenOff:
        return True


@on_a_loop
async def test_behind_a_breach_the_printer_is_601_until_its_agent_comes_back() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        agent.send_frame(99, 0)
        await until(lambda: rig.figure("printers_online") == 0)
        caller.send(request(access.host, access.bearer))
        assert (await caller.answer()).status == 601
        await rig.agent()
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 200


@on_a_loop
async def test_frames_for_a_stream_that_ended_lately_are_no_breach() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        caller.leave()
        await until(lambda: asked.reset is not None)
        agent.send_head(asked, b"200 OK\r\n", fin=False)
        agent.send_frame(Kind.DATA | FIN, asked.stream.id, b"late")
        await settle()

        assert agent.closed is None


@on_a_loop
async def test_for_an_agent_that_takes_nothing_no_more_than_a_few_requests_are_kept() -> None:
    async with relay() as rig, calling(rig.port) as last:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        agent.link.stop_reading()
        filler = b"X: " + b"x" * 30_000
        for _ in range(300):
            async with calling(rig.port) as caller:
                caller.send(request(access.host, access.bearer, filler))
                await settle(1)
        last.send(request(access.host, access.bearer))
        answer = await last.answer()

        assert answer.status == 612
        assert b"More requests wait" in answer.body


@on_a_loop
async def test_at_most_512_requests_are_under_way_in_one_tunnel() -> None:
    async with relay() as rig, calling(rig.port) as last:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        callers = [await Caller.connect(rig.port) for _ in range(MAX_STREAMS)]
        for caller in callers:
            caller.send(request(access.host, access.bearer))
        await agent.next(MAX_STREAMS)
        last.send(request(access.host, access.bearer))
        assert (await last.answer()).status == 612
        callers[0].leave()
        agent.script = echo
        await until(lambda: agent.asked[0].reset is Reason.CANCELLED)
        last.send(request(access.host, access.bearer))

        assert (await last.answer()).status == 200
        for caller in callers:
            caller.leave()
