"""An agent that is connected and sends nothing any more."""

import asyncio

import pytest

from printreach.wire.keepalive import BUSY_PING_S, PING_TIMEOUT_S
from tests.fakes.loop import on_a_loop
from tests.relay.caller import calling, request
from tests.relay.rig import relay
from tests.relay.scripted_agent import ignore

MOMENT_S = 0.1


@pytest.mark.provokes(602)
@on_a_loop
async def test_a_request_to_an_agent_that_answers_no_ping_is_602(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    real_time, skipped_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real_time() + skipped_s)
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent(script=ignore)
        caller.send(request(access.host, access.bearer))
        await agent.next()
        agent.link.stop_reading()
        for what in ("send", "close", "abort"):
            monkeypatch.setattr(agent.link, what, lambda *_said: None)
        for silence_s in (BUSY_PING_S, PING_TIMEOUT_S):
            skipped_s += silence_s + MOMENT_S
            await asyncio.sleep(MOMENT_S)

        assert (await caller.answer()).status == 602
