"""No byte of one request reaches a printer as another: the corpora, on the relay's own socket."""

from dataclasses import replace

import pytest

from tests.http1.corpus import SMUGGLED, Accepted, Refused
from tests.http1.corpus.bodies import ACCEPTED, REFUSED_BODIES
from tests.http1.corpus.heads import REFUSED_HEADS
from tests.relay.caller import BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, QUICK, Access, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, answer_when_complete
from tests.relay.waiting import until

REFUSED = [*REFUSED_HEADS, *REFUSED_BODIES]
SHORT_LINGER = replace(QUICK, linger=0.005, sweep=0.002)


def name_of(case: Refused | Accepted) -> str:
    return case.name


def sent_to(access: Access, case: Refused | Accepted) -> bytes:
    """The case for this printer host, with credentials that open it."""
    return case.sent_to(access.host, access.bearer + b"\r\n")


def targets(agent: ScriptedAgent) -> list[bytes]:
    return [asked.target for asked in agent.asked]


def pieces_of(raw: bytes) -> int:
    """Bytes at a time: one, but for the heads of 33 KB."""
    return 1 if len(raw) < 2000 else 997


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
@on_a_loop
async def test_an_ambiguous_request_is_refused_and_nothing_after_it_is_read(
    case: Refused,
) -> None:
    async with relay(timeouts=SHORT_LINGER) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(sent_to(access, case))

        assert (await caller.answer()).status == case.status
        assert await caller.is_closed()
        assert targets(agent) == []


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
@on_a_loop
async def test_it_is_refused_as_well_when_it_comes_byte_by_byte(case: Refused) -> None:
    async with relay(timeouts=SHORT_LINGER) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=answer_when_complete)
        raw = sent_to(access, case)
        await caller.send_in_pieces(raw, pieces_of(raw))

        # A body is passed on as it comes, so where it is the body that lies, the printer may have
        # seen the request begin. It never sees it end, nor another.
        assert await ended_with(caller) in (case.status, None)
        assert SMUGGLED not in targets(agent)
        assert len(agent.asked) <= (case in REFUSED_BODIES)
        assert not any(asked.is_complete for asked in agent.asked)


async def ended_with(caller: Caller) -> int | None:
    """The status of the one answer before the connection's end; None where there was none."""
    try:
        status = (await caller.answer()).status
    except BrokenOff:
        return None
    assert await caller.is_closed()
    return status


@pytest.mark.parametrize("case", ACCEPTED, ids=name_of)
@pytest.mark.parametrize("size", [1 << 20, 1], ids=["whole", "byte by byte"])
@on_a_loop
async def test_a_request_that_only_looks_wrong_reaches_the_printer_as_what_it_is(
    case: Accepted, size: int
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=answer_when_complete)
        await caller.send_in_pieces(sent_to(access, case), size)

        first = await caller.answer(to_head=case.raw.startswith(b"HEAD"))
        second = await caller.answer()
        assert (first.status, second.status) == (200, 200)
        assert targets(agent) == case.targets
        assert second.body == b"/after"


@on_a_loop
async def test_pipelined_requests_are_answered_in_their_order() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        wanted = [b"/%d" % number for number in range(50)]
        caller.send(b"".join(request(access.host, access.bearer, target=one) for one in wanted))

        assert [(await caller.answer()).body for _ in wanted] == [b"GET " + one for one in wanted]


@on_a_loop
async def test_a_slow_answer_holds_back_the_quick_one_after_it() -> None:
    held: list[Asked] = []

    def hold_the_first(asked: Asked) -> None:
        if asked.target == b"/slow":
            held.append(asked)
        else:
            asked.answer_with_length(b"quick")

    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=hold_the_first)
        caller.send(request(access.host, access.bearer, target=b"/slow"))
        caller.send(request(access.host, access.bearer, target=b"/quick"))
        await until(lambda: held)
        held[0].answer_with_length(b"slow")

        assert [(await caller.answer()).body for _ in range(2)] == [b"slow", b"quick"]


@on_a_loop
async def test_the_host_is_looked_at_for_each_request_of_a_connection() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        one, two = rig.connect("app-one"), rig.connect("app-two", printer="two")
        first, second = await rig.agent("one"), await rig.agent("two")
        caller.send(request(one.host, one.bearer, target=b"/1"))
        caller.send(request(OWN, target=b"/2"))
        caller.send(request(two.host, two.bearer, target=b"/3"))
        caller.send(request(one.host, one.bearer, target=b"/4"))
        bodies = [(await caller.answer()).body for _ in range(4)]

        assert bodies == [b"GET /1", b'{"web": "GET /2"}', b"GET /3", b"GET /4"]
        assert targets(first) == [b"/1", b"/4"]
        assert targets(second) == [b"/3"]


@on_a_loop
async def test_credentials_count_for_their_own_request_alone() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(request(access.host, access.bearer, target=b"/mine"))
        caller.send(request(access.host, target=b"/of-the-next-behind-the-proxy"))

        assert [(await caller.answer()).status for _ in range(2)] == [200, 606]
        assert targets(agent) == [b"/mine"]


@on_a_loop
async def test_a_refused_upload_does_not_become_requests() -> None:
    async with relay(timeouts=SHORT_LINGER) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        smuggled = request(access.host, access.bearer, target=SMUGGLED)
        caller.send(request(access.host, b"Content-Length: 100000", method=b"POST"))
        assert (await caller.answer()).status == 606
        caller.send(smuggled * 20)

        assert await caller.is_closed()
        assert targets(agent) == []


@on_a_loop
async def test_an_early_answer_does_not_turn_the_rest_of_the_upload_into_requests() -> None:
    async with relay(timeouts=SHORT_LINGER) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(request(access.host, access.bearer, b"Content-Length: 100000", method=b"POST"))
        answer = await caller.answer()
        caller.send(request(access.host, access.bearer, target=SMUGGLED) * 20)

        assert answer.get(b"connection") == b"close"
        assert await caller.is_closed()
        assert targets(agent) == [b"/"]


@pytest.mark.parametrize("cut", range(1, 40))
@on_a_loop
async def test_two_requests_in_two_pieces_are_two_requests_wherever_the_cut_is(cut: int) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=answer_when_complete)
        both = request(access.host, access.bearer, method=b"POST", target=b"/1", body=b"hello")
        both += request(access.host, access.bearer, target=b"/2")
        at = len(both) * cut // 40
        await caller.send_in_pieces(both[:at], at)
        await caller.send_in_pieces(both[at:], len(both))

        assert [(await caller.answer()).body for _ in range(2)] == [b"/1", b"/2"]
        assert [(asked.target, asked.body) for asked in agent.asked] == [
            (b"/1", b"hello"),
            (b"/2", b""),
        ]
