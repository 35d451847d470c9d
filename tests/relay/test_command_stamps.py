"""The expiry of commands if the service's clock is set while agents are connected."""

from datetime import timedelta

import pytest

from printreach.contract import signin
from printreach.rules.printers.commands import COMMAND_LIFETIME_S
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import ScriptedAgent

HOUR_S = 3600.0


async def expiry_of_a_command(rig: Rig, agent: ScriptedAgent) -> float:
    """In seconds since 1970, as the agent sees it."""
    access = rig.connect()
    async with calling(rig.port) as caller:
        raw = request(access.host, access.bearer, target=b"/service-command-api/pause")
        caller.send(raw)
        assert (await caller.answer()).status == 200
    [expires_ms] = agent.asked[-1].all(b"x-service-command-expires")
    return int(expires_ms) / 1000


def time_told_to(agent: ScriptedAgent) -> float:
    """By the service, when the agent signed in."""
    [challenge] = [said for said in agent.heard if isinstance(said, signin.Challenge)]
    return float(challenge.time_unix_sec)


@pytest.mark.parametrize("ahead_s", [-HOUR_S, -60.0, 0.0])
def test_a_command_is_good_for_its_time_though_the_services_clock_was_set_back(
    ahead_s: float,
) -> None:
    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()
            told_s = time_told_to(agent)
            rig.clock.advance(timedelta(seconds=ahead_s))

            assert await expiry_of_a_command(rig, agent) >= told_s + COMMAND_LIFETIME_S

    body()


@on_a_loop
async def test_a_clock_that_was_set_forward_is_believed() -> None:
    """An agent that connects again gets the new time; for others commands are valid longer."""
    async with relay() as rig:
        agent = await rig.agent()
        now = rig.clock.advance(timedelta(seconds=HOUR_S))

        expires_s = await expiry_of_a_command(rig, agent)
        assert expires_s == pytest.approx(now.timestamp() + COMMAND_LIFETIME_S, abs=0.01)


async def command_ids(
    rig: Rig, agent: ScriptedAgent, unique_id: str, *keys: bytes | None
) -> list[bytes]:
    """Give an order with each key by a connection. The ids that the agent sees."""
    access = rig.connect(unique_id)
    async with calling(rig.port) as caller:
        for key in keys:
            lines = [] if key is None else [b"Idempotency-Key: " + key]
            target = b"/service-command-api/pause"
            caller.send(request(access.host, access.bearer, *lines, target=target))
            assert (await caller.answer()).status == 200
    return [asked.all(b"x-service-command-id")[0] for asked in agent.asked[-len(keys) :]]


@on_a_loop
async def test_the_id_of_an_order_names_its_connection_and_repeats_with_its_key() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        first, again, unnamed, another = await command_ids(
            rig, agent, "app-one", b"k", b"k", None, None
        )
        [others] = await command_ids(rig, agent, "app-two", b"k")

    assert first == again
    assert len({first, unnamed, another, others}) == 4
    connections = [one.partition(b".")[0] for one in (first, unnamed, another, others)]
    assert connections[0] == connections[1] == connections[2] != connections[3]
