"""The time for which an agent counts as connected, and its node."""

import asyncio
from typing import Any

import pytest

from printreach.contract import signin
from printreach.contract.unset import UNSET, UnsetType
from printreach.ports import StoreUnavailable, Topic
from printreach.relay import agent_connection, printer_subscriptions
from printreach.wire.errors import CloseCode
from tests.fakes.agents import MemoryAgents, Presence
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import NODE_ID, relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.unlinked_agents import dialled, unlinked
from tests.relay.waiting import PATIENCE_S, settle, until


@on_a_loop
async def test_a_connected_agent_is_known_with_what_it_said_of_itself() -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one")
        rig.agents.link(agent.printer_id)
        await agent.sign_in(rig.port, lan_ip="192.168.1.20")
        await until(lambda: agent.printer_id in rig.agents.presence)

        assert rig.agents.presence[agent.printer_id] == Presence(
            node_id=NODE_ID, lan_ip="192.168.1.20", agent_version="0.1.0", platform="moonraker"
        )
        agent.leave()


@pytest.mark.parametrize(("reported", "noted"), [(8766, 8766), (0, 0), (UNSET, None)])
@on_a_loop
async def test_the_port_of_an_agents_page_is_noted_as_the_agent_reports_it(
    reported: int | UnsetType, noted: int | None
) -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one")
        rig.agents.link(agent.printer_id)
        await agent.sign_in(rig.port, lan_ip="192.168.1.20", lan_port=reported)
        await until(lambda: agent.printer_id in rig.agents.presence)

        assert rig.agents.presence[agent.printer_id].lan_port == noted
        agent.leave()


@on_a_loop
async def test_an_agent_that_leaves_is_known_to_be_away_and_leaves_nothing_behind() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        agent.leave()

        await until(lambda: rig.agents.presence == {})
        await until(lambda: rig.figure("agents") == 0)
        assert rig.figure("printers_online") == 0


@on_a_loop
async def test_many_agents_that_come_and_go_leave_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_connection, "SIGN_IN_TIMEOUT_S", 2 * PATIENCE_S)
    async with relay() as rig:
        names = [f"agent-{number}" for number in range(30)]
        agents = [await rig.agent(name) for name in names]
        agents += [await unlinked(rig, f"new-{number}") for number in range(10)]
        agents += [await dialled(rig, f"mute-{number}") for number in range(10)]
        await until(lambda: rig.figure("agents") == 50)
        for agent in agents:
            agent.leave()

        await until(lambda: rig.figure("agents") == 0)
        await until(lambda: rig.agents.presence == {})


@on_a_loop
async def test_the_newest_of_two_agents_with_one_key_wins() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, older = rig.connect(), await rig.agent()
        newer = await rig.agent()
        await until(lambda: older.closed)
        await settle()
        caller.send(request(access.host, access.bearer))

        assert older.closed is not None
        assert older.closed[0] == CloseCode.REPLACED
        assert (await caller.answer()).status == 200
        assert len(newer.asked) == 1
        assert newer.printer_id in rig.agents.presence


@on_a_loop
async def test_a_removed_printer_is_sent_away_as_unlinked() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        rig.agents.remove(agent.printer_id)
        await rig.notify(Topic.PRINTER, agent.printer_id)
        await until(lambda: agent.closed)

        assert agent.closed is not None
        assert agent.closed[0] == CloseCode.UNLINKED
        assert rig.figure("printers_online") == 0


def test_a_removal_is_noticed_although_the_notice_was_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.01)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()
            rig.agents.remove(agent.printer_id)
            await until(lambda: agent.closed)

            assert agent.closed is not None
            assert agent.closed[0] == CloseCode.UNLINKED

    body()


def test_while_the_store_is_away_agents_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.01)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig, calling(rig.port) as caller:
            access, agent = rig.connect(), await rig.agent()
            rig.agents.is_broken = True
            await asyncio.sleep(0.05)
            caller.send(request(access.host, access.bearer))

            assert (await caller.answer()).status == 200
            assert agent.closed is None

    body()


def test_an_agent_that_came_while_nothing_could_be_noted_is_noted_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.01)
    noting = MemoryAgents.agent_connected
    failures = 3

    async def sometimes(agents: MemoryAgents, *args: Any, **kwargs: Any) -> None:
        nonlocal failures
        if failures > 0:
            failures -= 1
            raise StoreUnavailable("the store is away")
        await noting(agents, *args, **kwargs)

    monkeypatch.setattr(MemoryAgents, "agent_connected", sometimes)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()

            assert agent.closed is None
            assert failures == 0

    body()


def test_an_agents_new_address_on_the_lan_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.02)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await rig.agent()
            agent.say(signin.LanAddress(lan_ip="10.0.0.7"))
            agent.say(signin.LanAddress(lan_ip="10.0.0.8"))
            await until(lambda: rig.agents.presence[agent.printer_id].lan_ip == "10.0.0.8")

            agent.say(signin.LanAddress(lan_ip="10.0.0.8", lan_port=8766))
            await until(lambda: rig.agents.presence[agent.printer_id].lan_port == 8766)

    body()


def test_addresses_that_change_all_the_time_are_not_written_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.1)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            loop = asyncio.get_running_loop()
            began_at, agent = loop.time(), await rig.agent()
            for number in range(100):
                agent.say(signin.LanAddress(lan_ip=f"10.0.0.{number}"))
                await settle(1)
            await until(lambda: rig.agents.presence[agent.printer_id].lan_ip == "10.0.0.99")

            beats = (loop.time() - began_at) / printer_subscriptions.RECHECK_S
            assert rig.agents.connects <= 2 + beats

    body()


@pytest.mark.parametrize(
    "lan_ip",
    [
        *("", "x", "10.0.0", "<script>", "1.2.3.4:80", "x" * 100),
        *("fe80::1%eth0", "fe80::1%]@evil.example?", "fe80::1%\r\nX: y\x1b[31m"),
    ],
)
@on_a_loop
async def test_a_text_that_is_no_address_is_not_stored(lan_ip: str) -> None:
    async with relay() as rig:
        agent = ScriptedAgent("one")
        rig.agents.link(agent.printer_id)
        await agent.sign_in(rig.port, lan_ip=lan_ip)
        await until(lambda: agent.printer_id in rig.agents.presence)

        assert rig.agents.presence[agent.printer_id].lan_ip is None
        agent.leave()


@on_a_loop
async def test_a_node_says_that_it_lives() -> None:
    async with relay() as rig:
        await until(lambda: rig.agents.alive == {NODE_ID: rig.clock.now()})


@on_a_loop
async def test_a_service_that_stops_tells_its_agents_and_notes_that_they_are_away() -> None:
    async with relay() as rig:
        linked, new = await rig.agent("one"), await unlinked(rig, "two")
        await rig.begin_stop(grace_s=0.0)

        assert rig.agents.presence == {}
        for agent in (linked, new):
            await until(lambda: linked.closed and new.closed)
            assert agent.is_asked_to_move
            assert agent.closed is not None
            assert agent.closed[0] == CloseCode.RESTARTING
