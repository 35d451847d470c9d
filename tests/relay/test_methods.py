"""Methods reach the printer as callers write them: `get` is another method than `GET`."""

import pytest

from printreach.contract.signin import LOWER_CASE_METHODS
from printreach.rules.connections import ConnectionKind
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import OWN, relay
from tests.relay.scripted_agent import ScriptedAgent

METHODS = [b"get", b"Purge", b"m-search", b"post"]


@pytest.mark.parametrize("method", METHODS)
@on_a_loop
async def test_a_method_with_small_letters_reaches_the_printer_as_it_is(method: bytes) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), ScriptedAgent("one", capabilities=(LOWER_CASE_METHODS,))
        rig.agents.link(agent.printer_id)
        await agent.sign_in(rig.port)
        rig.running.append(agent)
        caller.send(request(access.host, access.bearer, method=method))

        assert (await caller.answer()).body == method + b" /"


@pytest.mark.provokes(610)
@pytest.mark.parametrize("method", METHODS)
@on_a_loop
async def test_an_older_agent_is_not_asked_by_a_method_that_would_end_its_tunnel(
    method: bytes,
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect(), await rig.agent()
        caller.send(request(access.host, access.bearer, method=method))
        caller.send(request(access.host, access.bearer))

        assert (await caller.answer()).status == 610
        assert (await caller.answer()).status == 200
        assert [asked.head.method for asked in agent.asked] == [b"GET"]


@pytest.mark.parametrize("method", [b"get", b"Options", b"head"])
@on_a_loop
async def test_by_cookie_such_a_method_counts_as_one_that_changes_something(
    method: bytes,
) -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, agent = rig.connect("own-one", kind=ConnectionKind.OWN), await rig.agent()
        caller.send(request(access.host, b"Cookie: printreach_own=x", method=method))

        assert (await caller.answer()).status in (400, 606)
        assert agent.asked == []


@on_a_loop
async def test_the_services_own_host_passes_such_a_method_on() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        caller.send(request(OWN, method=b"get"))

        assert (await caller.answer()).body == b'{"web": "get /"}'
