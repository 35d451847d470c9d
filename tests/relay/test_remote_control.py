"""The service tells agents at once that remote control is locked, and that it is unlocked."""

import pytest

from printreach.contract import signin
from printreach.ports import Notice, Topic
from printreach.relay import printer_subscriptions
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import settle, until


def told_to(agent: ScriptedAgent) -> list[bool]:
    return [word.is_locked for word in agent.heard if isinstance(word, signin.RemoteControl)]


async def lock(rig: Rig, agent: ScriptedAgent, *, is_locked: bool = True) -> None:
    rig.agents.lock(agent.printer_id, is_locked=is_locked)
    await rig.bus.publish(Notice(Topic.ACCOUNT, "ada"))


async def newcomer(rig: Rig, *capabilities: str, is_locked: bool = False) -> ScriptedAgent:
    agent = ScriptedAgent("one", capabilities=capabilities)
    rig.agents.link(agent.printer_id)
    rig.agents.lock(agent.printer_id, is_locked=is_locked)
    await agent.sign_in(rig.port)
    rig.running.append(agent)
    await until(lambda: agent.printer_id in rig.agents.presence)
    return agent


@on_a_loop
async def test_an_agent_hears_at_once_of_a_lock_and_of_its_end() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.REMOTE_CONTROL)
        await lock(rig, agent)
        await until(lambda: told_to(agent) == [False, True])
        await lock(rig, agent, is_locked=False)
        await until(lambda: told_to(agent) == [False, True, False])


@on_a_loop
async def test_an_agent_hears_of_a_lock_before_it_is_welcome() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.REMOTE_CONTROL, is_locked=True)

        assert [type(word) for word in agent.heard] == [
            signin.Challenge,
            signin.RemoteControl,
            signin.Welcome,
        ]
        assert told_to(agent) == [True]


@on_a_loop
async def test_an_agent_whose_printer_is_linked_to_a_locked_account_hears_of_it() -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one", capabilities=(signin.REMOTE_CONTROL,))
        await agent.dial(rig.port)
        await agent.prove()
        rig.running.append(agent)
        await agent.hear(signin.LinkOffer)
        rig.agents.link(agent.printer_id)
        rig.agents.lock(agent.printer_id)
        await rig.bus.publish(Notice(Topic.PRINTER, agent.printer_id))
        await agent.hear(signin.Linked)

        assert told_to(agent) == [True]


@on_a_loop
async def test_an_agent_hears_nothing_new_of_other_changes_of_its_account() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.REMOTE_CONTROL)
        for _ in range(3):
            await rig.bus.publish(Notice(Topic.ACCOUNT, "ada"))
            await settle()

        assert told_to(agent) == [False]


@on_a_loop
async def test_an_agent_that_does_not_know_the_message_never_gets_it() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.DETECTOR_NEWS)
        await lock(rig, agent)
        await settle()

        assert told_to(agent) == []
        assert agent.closed is None


def test_an_agent_hears_of_a_lock_whose_notice_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.05)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await newcomer(rig, signin.REMOTE_CONTROL)
            rig.agents.lock(agent.printer_id)
            await until(lambda: told_to(agent) == [False, True])

    body()


@on_a_loop
async def test_a_lock_that_comes_while_the_agent_signs_in_is_told() -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one", capabilities=(signin.REMOTE_CONTROL,))
        rig.agents.link(agent.printer_id)
        # The answer is from before the lock, and comes after its notice.
        rig.agents.before_next_answer = lambda: lock(rig, agent)
        await agent.sign_in(rig.port)
        rig.running.append(agent)
        await until(lambda: told_to(agent) == [False, True])
