"""Linking an agent's printer to an account."""

from dataclasses import replace
from datetime import timedelta

import pytest

from printreach.contract import signin
from printreach.ports import Topic
from printreach.relay import printer_subscriptions, unsigned_agents
from printreach.rules.printers import LINK_CODE_LIFETIME
from printreach.wire.errors import CloseCode
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.unlinked_agents import dialled, unlinked
from tests.relay.waiting import settle, until


@on_a_loop
async def test_an_unlinked_agent_is_offered_a_code_and_a_link_that_carries_it() -> None:
    async with relay() as rig:
        agent = await unlinked(rig)

        assert await agent.hear(signin.LinkOffer) == signin.LinkOffer(
            link_code="CODE0001",
            link_url="http://relay.example/link?code=CODE0001",
            expires_in_sec=int(LINK_CODE_LIFETIME.total_seconds()),
        )
        assert rig.figure("printers_online") == 0


@on_a_loop
async def test_an_agent_is_linked_by_a_notice_and_serves_from_then_on() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await unlinked(rig)
        rig.agents.link(agent.printer_id, "Attic")
        await rig.notify(Topic.PRINTER, agent.printer_id)

        assert (await agent.hear(signin.Linked)).printer_name == "Attic"
        await until(lambda: rig.figure("printers_online") == 1)
        caller.send(request(access.host, access.bearer))
        assert (await caller.answer()).status == 200


def test_an_agent_is_linked_although_the_notice_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printer_subscriptions.RECHECK_S == 30.0
    monkeypatch.setattr(printer_subscriptions, "RECHECK_S", 0.01)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await unlinked(rig)
            rig.agents.link(agent.printer_id)

            assert (await agent.hear(signin.Linked)).printer_name == "Workshop"

    body()


@on_a_loop
async def test_the_notice_of_another_printer_links_no_agent() -> None:
    async with relay() as rig:
        agent = await unlinked(rig)
        rig.agents.link(agent.printer_id)
        await rig.notify(Topic.PRINTER, "another")
        await settle()

        assert not any(isinstance(word, signin.Linked) for word in agent.heard)


def test_a_code_that_expires_is_followed_by_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    short = timedelta(seconds=0.05)
    monkeypatch.setattr("tests.fakes.agents.LINK_CODE_LIFETIME", short)

    @on_a_loop
    async def body() -> None:
        async with relay() as rig:
            agent = await unlinked(rig)
            await until(lambda: len(offers_to(agent)) >= 3)

            assert [offer.link_code for offer in offers_to(agent)][:2] == ["CODE0001", "CODE0002"]

    body()


def offers_to(agent: ScriptedAgent) -> list[signin.LinkOffer]:
    return [word for word in agent.heard if isinstance(word, signin.LinkOffer)]


@on_a_loop
async def test_no_request_reaches_an_agent_that_is_not_linked() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await unlinked(rig)
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 601
        assert agent.asked == []


@on_a_loop
async def test_agents_that_are_not_linked_get_a_limited_number_of_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = replace(unsigned_agents.LINK_CODES_BY_NETWORK, at_once=5)
    monkeypatch.setattr(unsigned_agents, "LINK_CODES_BY_NETWORK", limit)
    async with relay() as rig:
        for number in range(5):
            await unlinked(rig, f"new-{number}")
        sixth = await dialled(rig, "new-6")
        await sixth.prove()
        await until(lambda: sixth.closed)

        assert sixth.closed is not None
        assert sixth.closed[0] == CloseCode.OVERLOADED
        assert "try again in a minute" in sixth.closed[1]
        assert rig.agents.offers == 5


@on_a_loop
async def test_coming_back_with_the_same_key_buys_no_codes_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = replace(unsigned_agents.LINK_CODES_BY_NETWORK, at_once=5)
    monkeypatch.setattr(unsigned_agents, "LINK_CODES_BY_NETWORK", limit)
    async with relay() as rig:
        for _ in range(10):
            agent = await dialled(rig)
            await agent.prove()
            await answered(agent)
            agent.leave()

        assert rig.agents.offers == 5


async def answered(agent: ScriptedAgent) -> None:
    """Wait for a code, or for the end."""
    await until(lambda: agent.closed or offers_to(agent))


@on_a_loop
async def test_where_many_wait_to_be_linked_linked_ones_still_connect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = replace(unsigned_agents.LINK_CODES_BY_NETWORK, at_once=1)
    monkeypatch.setattr(unsigned_agents, "LINK_CODES_BY_NETWORK", limit)
    async with relay() as rig:
        await unlinked(rig, "new")

        assert (await rig.agent("one")).closed is None
