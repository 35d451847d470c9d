"""The service asks an agent for a key of the printer's own software."""

import asyncio

import pytest

from printreach.contract import signin
from printreach.relay import host_keys
from tests.relay.loop import on_a_loop
from tests.relay.rig import Rig, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import PATIENCE_S, settle, until


async def newcomer(rig: Rig, *capabilities: str, name: str = "one") -> ScriptedAgent:
    """An agent of a linked printer that names these capabilities."""
    agent = ScriptedAgent(name, capabilities=capabilities)
    rig.agents.link(agent.printer_id)
    await agent.sign_in(rig.port)
    rig.running.append(agent)
    await until(lambda: agent.printer_id in rig.agents.presence)
    return agent


def ask(rig: Rig, agent: ScriptedAgent) -> asyncio.Task[str | None]:
    return asyncio.create_task(rig.node.make_host_key(agent.printer_id, "My app"))


async def asked(agent: ScriptedAgent) -> signin.MakeHostApiKey:
    await until(lambda: any(isinstance(word, signin.MakeHostApiKey) for word in agent.heard))
    return next(word for word in agent.heard if isinstance(word, signin.MakeHostApiKey))


@on_a_loop
async def test_an_agent_makes_a_key() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.HOST_API_KEYS)
        key = ask(rig, agent)
        request = await asked(agent)
        agent.say(signin.HostApiKey(request_id=request.request_id, api_key="key"))

        assert request.app_name == "My app"
        assert await key == "key"


@on_a_loop
async def test_an_agent_that_cannot_says_so() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.HOST_API_KEYS)
        key = ask(rig, agent)
        request = await asked(agent)
        agent.say(signin.HostApiKey(request_id=request.request_id, error="No."))

        assert await key is None


def test_an_agent_writes_no_lines_of_its_own_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    @on_a_loop
    async def body() -> None:
        requests = host_keys.HostKeyRequests(bytes, answer_within_s=PATIENCE_S)
        heard: list[signin.FromService] = []
        requests.add_agent("p", heard.append)
        key = asyncio.create_task(requests.make("p", "My app"))
        await settle(2)
        [word] = heard
        assert isinstance(word, signin.MakeHostApiKey)
        error = "No.\n2026-01-01 ERROR the store is gone"
        requests.on_answer("p", signin.HostApiKey(request_id=word.request_id, error=error))

        assert await key is None

    body()

    [record] = caplog.records
    assert record.getMessage().splitlines() == [record.getMessage()]


@on_a_loop
async def test_an_agent_that_does_not_support_the_message_is_not_asked() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, "zstd")

        assert await ask(rig, agent) is None
        await settle()
        assert not any(isinstance(word, signin.MakeHostApiKey) for word in agent.heard)


@on_a_loop
async def test_a_printer_that_is_not_here_makes_none() -> None:
    async with relay() as rig:
        assert await rig.node.make_host_key("nowhere", "My app") is None


@on_a_loop
async def test_an_agent_that_left_makes_none() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.HOST_API_KEYS)
        agent.leave()
        await until(lambda: agent.printer_id not in rig.agents.presence)

        assert await ask(rig, agent) is None


@on_a_loop
async def test_silence_ends() -> None:
    requests = host_keys.HostKeyRequests(bytes, answer_within_s=0.01)
    requests.add_agent("p", lambda _: None)

    assert await requests.make("p", "My app") is None


@on_a_loop
async def test_an_agent_cannot_answer_for_another_printer() -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.HOST_API_KEYS)
        eve = await newcomer(rig, signin.HOST_API_KEYS, name="two")
        key = ask(rig, agent)
        request = await asked(agent)
        eve.say(signin.HostApiKey(request_id=request.request_id, api_key="evil"))
        await settle()
        agent.say(signin.HostApiKey(request_id=request.request_id, api_key="key"))

        assert await key == "key"


@pytest.mark.parametrize("request_id", ["", "never-asked"])
@on_a_loop
async def test_an_unrequested_answer_is_dropped(request_id: str) -> None:
    async with relay() as rig:
        agent = await newcomer(rig, signin.HOST_API_KEYS)
        agent.say(signin.HostApiKey(request_id=request_id, api_key="key"))
        await settle()

        assert agent.closed is None


@on_a_loop
async def test_a_newer_tunnel_of_the_same_printer_is_the_one_that_is_asked() -> None:
    requests = host_keys.HostKeyRequests(bytes, answer_within_s=PATIENCE_S)
    older: list[signin.FromService] = []
    newer: list[signin.FromService] = []
    requests.add_agent("p", older.append)
    requests.add_agent("p", newer.append)
    requests.remove_agent("p", older.append)
    key = asyncio.create_task(requests.make("p", "My app"))
    await settle(2)
    [word] = newer
    assert isinstance(word, signin.MakeHostApiKey)
    requests.on_answer("p", signin.HostApiKey(request_id=word.request_id, api_key="key"))

    assert (await key, older) == ("key", [])
