"""Callers that end their direction of a connection and go on reading."""

from dataclasses import replace

import pytest

from printreach.wire.errors import Reason
from printreach.wire.frames import WINDOW_BYTES
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, QUICK, relay
from tests.relay.scripted_agent import Asked, ignore
from tests.relay.waiting import PATIENCE_S, settle, until

PATIENT = replace(QUICK, ended=2 * PATIENCE_S)
HANDSHAKE = (b"Connection: Upgrade", b"Upgrade: websocket")


@on_a_loop
async def test_a_caller_that_ends_its_side_after_a_whole_request_gets_the_answer() -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, method=b"POST", body=b"x" * 1000))
        caller.half_close()
        asked = await agent.next()
        await settle(50)
        asked.answer(body=b"hello ", fin=False)
        await settle(50)
        asked.stream.send(b"you", fin=True)

        assert (await caller.answer()).body == b"hello you"
        assert await caller.is_closed()
        await until(lambda: rig.figure("connections") == 0)


@pytest.mark.parametrize("count", [2, 5])
@on_a_loop
async def test_every_request_that_came_before_the_end_is_answered(count: int) -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent()
        for number in range(count):
            caller.send(request(access.host, access.bearer, target=b"/%d" % number))
        caller.half_close()

        bodies = [(await caller.answer()).body for _ in range(count)]
        assert bodies == [b"GET /%d" % number for number in range(count)]
        assert await caller.is_closed()


@on_a_loop
async def test_half_a_request_after_a_whole_one_ends_the_connection_after_the_answer() -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        whole = request(access.host, access.bearer)
        caller.send(whole + whole[:-10])
        caller.half_close()

        assert (await caller.answer()).status == 200
        assert await caller.is_closed()
        assert len(agent.asked) == 1


@on_a_loop
async def test_a_body_that_is_cut_short_cancels_the_request_at_once() -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, b"Content-Length: 10", method=b"PUT"))
        asked = await agent.next()
        caller.send(b"five!")
        await until(lambda: asked.body)
        caller.half_close()

        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_an_upload_that_waits_for_the_printer_is_passed_on_whole() -> None:
    size = WINDOW_BYTES + 200_000
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        agent.takes_bodies = False
        caller.send(request(access.host, access.bearer, method=b"PUT", body=b"x" * size))
        asked = await agent.next()
        caller.half_close()
        await settle(50)
        asked.takes_body = True
        asked.stream.taken(len(asked.body))
        await until(lambda: asked.is_complete)
        asked.answer_with_length(b"%d" % len(asked.body))

        assert (await caller.answer()).body == b"%d" % size


@on_a_loop
async def test_on_a_websocket_the_directions_end_apart() -> None:
    def say_goodbye(asked: Asked) -> None:
        asked.stream.send(b"the last of it", fin=True)

    def agree(asked: Asked) -> None:
        asked.answer(101, fin=False)
        asked.when_complete = say_goodbye

    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=agree)
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        assert (await caller.answer()).status == 101
        caller.send(b"goodbye")
        caller.half_close()

        assert await caller.rest() == b"the last of it"
        assert agent.asked[0].body == b"goodbye"
        await until(lambda: rig.figure("requests_at_printers") == 0)


@on_a_loop
async def test_a_caller_may_end_its_direction_before_the_printer_agrees_to_a_websocket() -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer, *HANDSHAKE) + b"goodbye")
        caller.half_close()
        asked = await agent.next()
        await settle()
        asked.answer(101, fin=False)

        assert (await caller.answer()).status == 101
        await until(lambda: asked.is_complete)
        assert asked.body == b"goodbye"


@on_a_loop
async def test_a_websocket_whose_caller_is_gone_for_good_ends_at_the_printer() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        agent = await rig.agent(script=lambda asked: asked.answer(101, fin=False))
        caller.send(request(access.host, access.bearer, *HANDSHAKE))
        await caller.answer()
        caller.half_close()
        asked = await agent.next()

        await until(lambda: asked.is_complete)
        await until(lambda: asked.reset is Reason.CANCELLED)


@on_a_loop
async def test_the_services_own_host_answers_such_callers_too() -> None:
    async with relay(timeouts=PATIENT) as rig, calling(rig.port) as caller:
        caller.send(request(OWN, target=b"/page"))
        caller.half_close()

        assert (await caller.answer()).body == b'{"web": "GET /page"}'
        assert await caller.is_closed()
