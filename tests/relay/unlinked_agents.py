"""Agents during sign-in."""

from printreach.contract import signin
from printreach.wire.errors import CloseCode
from tests.relay.rig import Rig
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import until


async def dialled(rig: Rig, name: str = "one") -> ScriptedAgent:
    agent = ScriptedAgent(name)
    await agent.dial(rig.port)
    rig.running.append(agent)
    return agent


async def unlinked(rig: Rig, name: str = "one") -> ScriptedAgent:
    """An agent that was offered its code."""
    agent = await dialled(rig, name)
    await agent.prove()
    await agent.hear(signin.LinkOffer)
    return agent


async def refused(agent: ScriptedAgent) -> str:
    """Return the sentence with which the service closed the tunnel."""
    await until(lambda: agent.closed)
    assert agent.closed is not None
    assert agent.closed[0] == CloseCode.NOT_WELCOME
    return agent.closed[1]


async def challenged(rig: Rig, agent: ScriptedAgent) -> signin.Challenge:
    agent.say(agent.hello())
    return await agent.hear(signin.Challenge)
