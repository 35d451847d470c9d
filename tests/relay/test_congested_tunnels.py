"""A congested tunnel: uploads wait for their turn, and none is refused for it."""

from contextlib import AsyncExitStack

import pytest

from tests.fakes.loop import on_a_loop
from tests.relay.caller import calling, request
from tests.relay.rig import relay
from tests.relay.scripted_agent import answer_with_size_of_body
from tests.relay.waiting import settle

UPLOADS = 200
BODY = b"u" * 40_000


@pytest.mark.usefixtures("patience_with_agents")
@on_a_loop
async def test_many_uploads_at_once_are_all_served_once_there_is_room() -> None:
    async with relay() as rig, AsyncExitStack() as leaving:
        agent = await rig.agent(script=answer_with_size_of_body)
        # One connection may have a part of the tunnel's streams only.
        accesses = [rig.connect("app-one"), rig.connect("app-two")]
        agent.link.stop_reading()
        callers = [await leaving.enter_async_context(calling(rig.port)) for _ in range(UPLOADS)]
        length = b"Content-Length: %d" % len(BODY)
        for number, caller in enumerate(callers):
            access = accesses[number % len(accesses)]
            caller.send(request(access.host, access.bearer, length, method=b"POST") + BODY)
            await settle(1)
        agent.link.go_on_reading()

        for caller in callers:
            answer = await caller.answer()
            assert (answer.status, answer.body) == (200, b"%d" % len(BODY))
