"""No connection takes all streams of a tunnel, and some are left to the service itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from printreach.backends.printer_http import RelayPrinterHttp
from printreach.relay.route import CONNECTION_STREAMS, SHARED_STREAMS
from printreach.rules.printers import OwnedPrinter
from printreach.wire.errors import Reason
from tests.fakes.grants import INTERNAL_KEY
from tests.relay.caller import Answer, Caller, calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import TUNNEL_DOMAIN, Access, Rig, relay
from tests.relay.scripted_agent import Asked, ScriptedAgent, echo, ignore, printer_id
from tests.relay.waiting import until

pytestmark = pytest.mark.slow

DONE = b'{"Status":200,"Result":{}}'


@asynccontextmanager
async def holding(rig: Rig, agent: ScriptedAgent, access: Access) -> AsyncIterator[list[Caller]]:
    """Open as many requests as that connection may have."""
    callers = [await Caller.connect(rig.port) for _ in range(CONNECTION_STREAMS)]
    had = len(agent.asked)
    for number, caller in enumerate(callers, 1):
        caller.send(request(access.host, access.bearer))
        await agent.next(had + number)
    try:
        yield callers
    finally:
        for caller in callers:
            caller.leave()


async def answer_to(rig: Rig, access: Access) -> Answer:
    async with calling(rig.port) as caller:
        caller.send(request(access.host, access.bearer))
        return await caller.answer()


@on_a_loop
async def test_a_connection_that_has_its_share_is_refused_and_others_are_not() -> None:
    async with relay() as rig:
        greedy, other = rig.connect("greedy"), rig.connect("other")
        agent = await rig.agent(script=ignore)
        async with holding(rig, agent, greedy) as callers:
            refused = await answer_to(rig, greedy)
            assert refused.status == 612
            assert b"may have no more at once" in refused.body
            agent.script = echo
            assert (await answer_to(rig, other)).status == 200
            callers[0].leave()
            await until(lambda: agent.asked[0].reset is Reason.CANCELLED)

            assert (await answer_to(rig, greedy)).status == 200


@on_a_loop
async def test_the_service_itself_reaches_a_printer_whose_streams_are_all_taken() -> None:
    async with relay() as rig:
        agent = await rig.agent(script=ignore)
        first, last = rig.connect("greedy"), rig.connect("last")
        async with holding(rig, agent, first):
            taken = CONNECTION_STREAMS
            filling = [await Caller.connect(rig.port) for _ in range(SHARED_STREAMS - taken)]
            for number, caller in enumerate(filling, 1):
                caller.send(request(last.host, last.bearer))
                await agent.next(taken + number)
            refused = await answer_to(rig, last)
            assert refused.status == 612
            assert b"More requests wait" in refused.body
            agent.script = carry_out
            printers = RelayPrinterHttp(
                rig.node.connect_inside, TUNNEL_DOMAIN, INTERNAL_KEY, rig.clock
            )
            stopped = await printers.order(
                OwnedPrinter(printer_id("one"), "ada"), "/cancel", despite_lock=True
            )
            await printers.close()
            for caller in filling:
                caller.leave()

    assert stopped == DONE


def carry_out(asked: Asked) -> None:
    """Answer as an agent does whose printer has done what it was told."""
    asked.answer(200, [(b"Content-Length", b"%d" % len(DONE))], DONE)
