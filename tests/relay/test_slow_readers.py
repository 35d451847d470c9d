"""Callers that don't read their answers: the memory that they may take."""

from dataclasses import replace

from printreach.relay.connection import HIGH_WATER_BYTES, MAX_PIPELINED_BYTES
from printreach.wire.errors import Reason
from printreach.wire.frames import WINDOW_BYTES
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import QUICK, Rig, relay
from tests.relay.scripted_agent import ignore, send_for_ever
from tests.relay.waiting import settle, until

SMALL_BUFFER = 4096
ONE_READ_BYTES = 256 * 1024  # the event loop's


@on_a_loop
async def test_a_slow_reader_holds_up_its_own_stream_and_no_more_than_a_window_of_it() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as slow:
        access, agent = rig.connect(), await rig.agent()
        agent.script = send_for_ever
        slow.send(request(access.host, access.bearer))
        await agent.next()
        await settle(50)
        assert agent.link.sent_bytes < 3 * WINDOW_BYTES

        agent.script = lambda asked: asked.answer_with_length(b"quick")
        async with calling(rig.port) as quick:
            quick.send(request(access.host, access.bearer))
            assert (await quick.answer()).body == b"quick"


@on_a_loop
async def test_a_caller_that_asks_on_without_reading_is_not_answered_on() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as caller:
        access = rig.connect()
        agent = await rig.agent(script=lambda asked: asked.answer_with_length(b"x" * 50_000))
        caller.send(request(access.host, access.bearer) * 2000)
        await settle(100)

        assert len(agent.asked) * 50_000 < 20 * HIGH_WATER_BYTES


@on_a_loop
async def test_refusals_do_not_pile_up_for_a_caller_that_does_not_read() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as caller:
        caller.send(request(b"nobody.tunnel.example", b"Accept: text/html") * 300_000)

        assert await most_kept(rig) <= MAX_PIPELINED_BYTES + ONE_READ_BYTES
        assert rig.figure("requests_total") < 10_000


@on_a_loop
async def test_requests_do_not_pile_up_after_one_that_is_not_answered() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer) * 300_000)

        assert await most_kept(rig) <= MAX_PIPELINED_BYTES + ONE_READ_BYTES


def kept(rig: Rig) -> int:
    """Return how many bytes of a caller wait in the relay."""
    return max((len(one._core.surplus) for one in rig.node._front._connections), default=0)


async def most_kept(rig: Rig) -> int:
    """Return the most of them over a while, from the first on."""
    await until(lambda: kept(rig) > 0)
    most = 0
    for _ in range(100):
        most = max(most, kept(rig))
        await settle(1)
    return most


@on_a_loop
async def test_a_caller_that_reads_again_gets_every_answer_it_asked_for() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer_with_length(b"x" * 50_000))
        caller.send(request(access.host, access.bearer) * 100)
        await settle(50)

        sizes = [len((await caller.answer()).body) for _ in range(100)]
        assert sizes == [50_000] * 100


@on_a_loop
async def test_a_caller_that_takes_nothing_for_too_long_is_given_up() -> None:
    quick = replace(QUICK, write=0.05)
    async with relay(timeouts=quick) as rig, calling(rig.port, receive_buffer=4096) as caller:
        access, agent = rig.connect(), await rig.agent(script=send_for_ever)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()

        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_a_flood_of_requests_leaves_the_loop_to_others_in_between() -> None:
    async with relay() as rig, calling(rig.port) as flood:
        access = rig.connect()
        await rig.agent()
        flood.send(request(b"nobody.tunnel.example") * 3000)
        async with calling(rig.port) as other:
            other.send(request(access.host, access.bearer))
            await other.answer()

        assert rig.figure("requests_total") < 3000
