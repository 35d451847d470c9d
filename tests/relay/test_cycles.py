"""Requests and agents leave no reference cycles, which would stay until a garbage collection."""

import asyncio
import gc
import weakref

import pytest

from printreach.relay.agent_connection import AgentConnection
from printreach.relay.exchange import PrinterExchange
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.waiting import until


@pytest.mark.slow
@on_a_loop
async def test_an_answered_request_is_gone_before_anybody_looks_for_cycles() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access = rig.connect()
        await rig.agent(script=lambda asked: asked.answer_with_length(b"here"))
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                caller.send(request(access.host, access.bearer))
                await caller.answer()
            await until(lambda: not exchanges_in_memory())
        finally:
            gc.enable()


def exchanges_in_memory() -> list[PrinterExchange]:
    return [one for one in gc.get_objects() if isinstance(one, PrinterExchange)]


@pytest.mark.slow
@on_a_loop
async def test_an_agent_that_left_is_gone_before_anybody_looks_for_cycles() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        gc.collect()  # what tests before this one have left
        (connection,) = [one for one in gc.get_objects() if isinstance(one, AgentConnection)]
        left = weakref.ref(connection)
        ended = connection.task
        del connection
        gc.collect()
        gc.disable()
        try:
            agent.leave()
            await asyncio.wait([ended])
            del ended
            await until(lambda: left() is None)
        finally:
            gc.enable()
