"""An agent that breaks the protocol or reads nothing loses its own tunnel and no other."""

import struct
from collections.abc import Callable
from functools import partial

import pytest

from printreach.wire import frames
from printreach.wire.errors import CloseCode
from printreach.wire.frames import CHUNK_BYTES, FIN, WINDOW_BYTES, Kind
from tests.relay.caller import BrokenOff, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, ignore
from tests.relay.waiting import settle, until

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
        assert hostile.closed[0] == code
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
async def test_after_a_breach_the_printer_is_601_until_its_agent_comes_back() -> None:
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
async def test_frames_for_a_stream_that_ended_recently_are_no_breach() -> None:
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


@pytest.mark.usefixtures("patience_with_agents")
@on_a_loop
async def test_for_an_agent_that_takes_nothing_no_more_than_a_few_requests_are_kept() -> None:
    async with relay() as rig, calling(rig.port) as last:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        agent.link.stop_reading()
        filler = b"X: " + b"x" * 30_000
        for number in range(1, 101):
            async with calling(rig.port) as caller:
                caller.send(request(access.host, access.bearer, filler))
                await until(partial(has_read, rig, number))
        last.send(request(access.host, access.bearer))
        answer = await last.answer()

        assert answer.status == 612
        assert b"More requests wait" in answer.body


def has_read(rig: Rig, requests: int) -> bool:
    return rig.figure("requests_total") >= requests
