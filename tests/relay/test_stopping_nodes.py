"""A node that stops while others run: its requests are finished, and new ones wait."""

import asyncio

import pytest

from printreach.relay import presence
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import ignore
from tests.relay.test_other_nodes import KEY, ask
from tests.relay.waiting import settle, until


@on_a_loop
async def test_a_request_under_way_at_a_node_that_stops_is_finished_there() -> None:
    async with relay(node_id="b", node_key=KEY) as there:
        access = there.connect()
        async with relay(node_id="a", node_key=KEY, beside=there) as here:
            agent = await here.agent(script=ignore)
            async with calling(here.port) as caller:
                caller.send(request(access.host, access.bearer))
                asked = await agent.next()
                here.begin_stop(grace_s=10.0)
                await until(lambda: agent.is_asked_to_move)
                await there.agent()  # the same agent, which moves
                await settle()
                asked.answer_with_length(b"finished")

                assert (await caller.answer()).body == b"finished"
        assert (await ask(there, access)).status == 200


@on_a_loop
async def test_a_request_of_another_node_is_finished_by_a_node_that_stops() -> None:
    async with relay(node_id="b", node_key=KEY) as there:
        access = there.connect()
        async with relay(node_id="a", node_key=KEY, beside=there) as here:
            agent = await here.agent(script=ignore)
            asking = asyncio.create_task(ask(there, access))
            asked = await agent.next()
            stopping = here.begin_stop(grace_s=10.0)
            await until(lambda: agent.is_asked_to_move)
            await there.agent()
            done, _ = await asyncio.wait([stopping], timeout=0.2)
            assert not done
            asked.answer_with_length(b"finished")

            assert (await asking).body == b"finished"


@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize("bus_is_away", [True, False])
@on_a_loop
async def test_a_request_waits_for_an_agent_that_leaves_a_node_that_stops(
    monkeypatch: pytest.MonkeyPatch, *, is_linked: bool, bus_is_away: bool
) -> None:
    if bus_is_away and not is_linked:
        return  # nothing tells the two of each other
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 0.05)
    async with relay(node_id="b", node_key=KEY) as there:
        access = there.connect()
        async with relay(node_id="a", node_key=KEY, beside=there) as here:
            agent = await here.agent()
            if is_linked:
                assert (await ask(there, access)).status == 200
            there.bus.is_away = bus_is_away
            here.begin_stop(grace_s=10.0)
            await until(lambda: agent.is_asked_to_move)
            asking = asyncio.create_task(ask(there, access))
            done, _ = await asyncio.wait([asking], timeout=0.2)
            assert not done
            moved = await there.agent()

            assert (await asking).status == 200
            assert len(moved.asked) == 1
        there.bus.is_away = False


@on_a_loop
async def test_requests_on_their_way_to_a_node_that_stops_find_their_printer_there() -> None:
    async with relay(node_id="b", node_key=KEY) as there:
        access = there.connect()
        async with relay(node_id="a", node_key=KEY, beside=there) as here:
            agent = await here.agent()
            assert (await ask(there, access)).status == 200
            asking = [asyncio.create_task(ask(there, access)) for _ in range(20)]
            while not agent.is_asked_to_move:
                if here.stopping is None:
                    here.begin_stop(grace_s=10.0)
                asking.append(asyncio.create_task(ask(there, access)))
                await settle()
            await there.agent()

            assert {answer.status for answer in await asyncio.gather(*asking)} == {200}
