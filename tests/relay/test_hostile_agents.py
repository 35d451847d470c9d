"""Any machine may be an agent: hostile messages harm no other tenant."""

import pytest

from printreach.contract.errors import ErrorCode
from printreach.wire import frames
from printreach.wire.errors import Reason
from printreach.wire.frames import Kind
from tests.relay.caller import Answer, BrokenOff, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import ignore
from tests.relay.waiting import settle, until

HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")


async def answered_with(
    head: bytes, body: bytes = b"", *fields: bytes, method: bytes = b"GET"
) -> Answer:
    """Return a caller's answer when the agent sends these bytes as a head, with FIN."""
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


@pytest.mark.provokes(612)
@pytest.mark.parametrize("head", MALFORMED.values(), ids=MALFORMED)
@on_a_loop
async def test_a_head_that_cannot_be_read_in_one_way_is_612(head: bytes) -> None:
    answer = await answered_with(head)

    assert (answer.status, answer.all(b"x-service-error")) == (612, [b"612"])


@pytest.mark.parametrize("fields", [(), HANDSHAKE], ids=["plain", "WebSocket"])
@pytest.mark.parametrize("status", [int(code) for code in ErrorCode])
@on_a_loop
async def test_a_printers_answer_is_never_taken_for_a_failure_of_the_service(
    status: int, fields: tuple[bytes, ...]
) -> None:
    head = b"%d Own\r\nContent-Length: 5\r\nX-Service-Error: %d\r\n" % (status, status)

    answer = await answered_with(head, b"hello", *fields)

    assert (answer.status, answer.all(b"x-service-error")) == (612, [b"612"])
    assert b"hello" not in answer.body
    assert b"%d, which only the service does" % status in answer.body


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
async def test_fields_of_one_hop_or_of_the_service_itself_are_removed() -> None:
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
async def test_a_printer_cannot_sign_people_out_of_hosts_that_share_its_domain() -> None:
    answer = await answered_with(b'200 OK\r\nClear-Site-Data: "cookies"\r\n')

    assert answer.all(b"clear-site-data") == []


@pytest.mark.parametrize(
    "field",
    [
        b'Alt-Svc: h2="elsewhere.example:443"; ma=31536000',
        b'NEL: {"report_to":"all","max_age":31536000,"success_fraction":1.0}',
        b'Report-To: {"group":"all","max_age":31536000,"endpoints":[{"url":"https://x.example"}]}',
        b'Public-Key-Pins: pin-sha256="x"; max-age=31536000',
        b'Public-Key-Pins-Report-Only: pin-sha256="x"; max-age=31536000',
        b"Set-Cookie2: a=b; Domain=example",
    ],
)
@on_a_loop
async def test_a_printer_says_nothing_that_a_browser_remembers_of_the_host(field: bytes) -> None:
    answer = await answered_with(b"200 OK\r\n%b\r\n" % field)

    assert answer.status == 200
    assert answer.all(field.partition(b":")[0].lower()) == []


@pytest.mark.parametrize(("scheme", "told"), [("http", []), ("https", [b"max-age=31536000"])])
@on_a_loop
async def test_whether_browsers_use_https_alone_is_not_said_by_a_printer(
    scheme: str, told: list[bytes]
) -> None:
    async with relay(scheme=scheme) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        said = b"200 OK\r\nStrict-Transport-Security: max-age=0\r\n"
        agent.send_head(await agent.next(), said, b"")
        answer = await caller.answer()

    assert answer.all(b"strict-transport-security") == told


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
