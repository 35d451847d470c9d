"""Callers that leave, and a service that stops."""

import socket
from dataclasses import replace

import pytest

from printreach.relay.caller_exchange import CallerExchange
from printreach.relay.connection import (
    FrontConnection,
    IncomingRequest,
)
from printreach.relay.front import Front
from printreach.tunnel.stream import MIN_PIECE_BYTES
from printreach.wire.errors import Reason
from printreach.wire.frames import WINDOW_BYTES
from tests.relay.caller import BrokenOff, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, QUICK, relay
from tests.relay.scripted_agent import ignore, send_for_ever
from tests.relay.waiting import PATIENCE_S, settle, until

SMALL_BUFFER = 4096
ENDLESS = b"Content-Length: 1000000000"


@on_a_loop
async def test_a_caller_that_leaves_cancels_its_request_at_the_printer() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        caller.leave()

        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_a_caller_that_leaves_in_the_middle_of_an_answer_cancels_it() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=lambda asked: asked.answer(fin=False))
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        await settle()
        caller.leave()

        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_a_caller_is_missed_although_its_upload_waits_for_the_printer() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        agent.takes_bodies = False
        caller.send(request(access.host, access.bearer, ENDLESS, method=b"POST"))
        caller.send(b"x" * (WINDOW_BYTES + 50_000))
        asked = await agent.next()
        await until(lambda: len(asked.body) > WINDOW_BYTES - MIN_PIECE_BYTES)
        caller.leave()

        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_a_caller_is_missed_although_its_request_waits_for_the_store() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        rig.grants.hold()
        caller.send(request(access.host, access.bearer, ENDLESS, method=b"POST"))
        await until(lambda: rig.grants.lookups)
        caller.leave()
        await settle()
        rig.grants.release()

        await until(lambda: rig.figure("connections") == 0)
        await settle()
        assert agent.asked == []


@on_a_loop
async def test_a_caller_that_ends_its_side_and_is_sent_nothing_for_a_while_is_gone() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        caller.half_close()

        await until(lambda: asked.reset is Reason.CANCELLED)
        await until(lambda: rig.figure("connections") == 0)


@on_a_loop
async def test_a_caller_that_ends_its_side_and_reads_nothing_is_gone_as_well() -> None:
    async with relay() as rig, calling(rig.port, receive_buffer=SMALL_BUFFER) as caller:
        access, agent = rig.connect(), await rig.agent(script=send_for_ever)
        caller.send(request(access.host, access.bearer))
        asked = await agent.next()
        await settle(50)
        caller.half_close()

        await until(lambda: asked.reset is Reason.CANCELLED)
        await until(lambda: rig.figure("connections") == 0)


@on_a_loop
async def test_a_caller_that_ends_its_side_after_its_whole_request_gets_the_answer() -> None:
    patient = replace(QUICK, linger=PATIENCE_S)
    async with relay(timeouts=patient) as rig, calling(rig.port) as caller:
        caller.send(request(b"nobody." + b"tunnel.example", method=b"POST", body=b"x" * 100_000))
        await until(lambda: caller.unsent == 0)
        caller.half_close()

        assert (await caller.answer()).status == 603


@on_a_loop
async def test_a_caller_that_vanished_silently_is_noticed_in_the_end() -> None:
    accepted: list[FrontConnection] = []

    def accept(incoming: IncomingRequest) -> CallerExchange | None:
        accepted.append(incoming.caller)
        return None

    front = Front(accept, QUICK)
    async with calling(await front.listen("127.0.0.1", 0)) as caller:
        caller.send(request(OWN))
        await until(lambda: accepted)
        sock = accepted[0].transport.get_extra_info("socket")

        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        await front.stop(0.0)


@on_a_loop
async def test_stopping_lets_a_running_request_end_and_takes_no_other() -> None:
    async with relay() as rig, calling(rig.port) as caller, calling(rig.port) as idle:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        idle.send(request(OWN))
        assert (await idle.answer()).status == 200
        caller.send(request(access.host, access.bearer) * 2)
        asked = await agent.next()
        stopping = rig.begin_stop(grace_s=PATIENCE_S)
        assert await idle.is_closed()
        asked.answer_with_length(b"in time")

        assert (await caller.answer()).body == b"in time"
        assert await caller.is_closed()
        await stopping
        assert len(agent.asked) == 1


@on_a_loop
async def test_stopping_breaks_off_requests_that_do_not_end_in_time() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=send_for_ever)
        caller.send(request(access.host, access.bearer))
        await agent.next()
        await rig.begin_stop(grace_s=0.01)

        with pytest.raises(BrokenOff):
            await caller.answer()
