"""An agent with a second tunnel at another node: which of the two gets what."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from printreach.contract import signin
from printreach.contract.events import PrintEvent
from printreach.contract.unset import UNSET, UnsetType
from printreach.ports import Topic
from printreach.relay import presence
from printreach.wire.errors import CloseCode
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import RUN, Access, Rig, relay
from tests.relay.scripted_agent import Script, ScriptedAgent, ignore
from tests.relay.test_other_nodes import KEY, ask
from tests.relay.waiting import settle, until


@dataclass(frozen=True)
class ThreeNodes:
    """Nodes of one service; the agent has its tunnels at the first two."""

    first: Rig
    second: Rig
    third: Rig
    access: Access
    primary: ScriptedAgent
    standby: ScriptedAgent

    async def bodies(self) -> list[bytes]:
        """What answers a request at each node."""
        nodes = (self.first, self.second, self.third)
        return [(await ask(node, self.access)).body for node in nodes]


def saying(name: bytes) -> Script:
    """Answer every request with the name of the tunnel."""
    return lambda asked: asked.answer_with_length(name)


def knows_of_a_lock(agent: ScriptedAgent) -> bool:
    said = [message for message in agent.heard if isinstance(message, signin.RemoteControl)]
    return said[-1:] == [signin.RemoteControl(is_locked=True)]


async def both_at(
    here: Rig, there: Rig, capabilities: tuple[str, ...] = ()
) -> tuple[ScriptedAgent, ScriptedAgent]:
    """A primary tunnel at the first node, and a standby at the second, which everybody knows."""
    primary = await here.agent(
        script=saying(b"primary"),
        agent_run=RUN,
        capabilities=capabilities,
    )
    standby = await there.standby(script=saying(b"standby"), capabilities=capabilities)
    await until(lambda: there.figure("standby_tunnels") == 1)
    await settle()
    return primary, standby


@asynccontextmanager
async def three_nodes() -> AsyncIterator[ThreeNodes]:
    async with (
        relay(node_id="a", node_key=KEY) as first,
        relay(node_id="b", node_key=KEY, beside=first) as second,
        relay(node_id="c", node_key=KEY, beside=first) as third,
    ):
        access = first.connect()
        primary, standby = await both_at(first, second)
        yield ThreeNodes(first, second, third, access, primary, standby)


@on_a_loop
async def test_each_node_uses_the_tunnel_that_it_has_and_others_the_primary() -> None:
    async with three_nodes() as at:
        assert await at.bodies() == [b"primary", b"standby", b"primary"]
        assert at.first.figure("requests_of_other_nodes_total") == 1
        assert at.second.figure("requests_of_other_nodes_total") == 0


@on_a_loop
async def test_a_printer_is_online_where_its_primary_tunnel_is() -> None:
    async with three_nodes() as at:
        assert at.first.agents.presence[at.primary.printer_id].node_id == "a"
        assert at.first.agents.connects == 1
        assert at.second.figure("printers_online") == 0
        at.standby.leave()
        await until(lambda: at.second.figure("agents") == 0)

        assert at.first.agents.presence[at.primary.printer_id].node_id == "a"
        assert await at.bodies() == [b"primary"] * 3


@on_a_loop
async def test_a_standby_at_the_node_of_the_primary_is_sent_to_another() -> None:
    async with relay(node_id="a", node_key=KEY) as here:
        access = here.connect()
        primary = await here.agent(agent_run=RUN)
        standby = ScriptedAgent("one", agent_run=RUN, is_standby=True)
        await standby.dial(here.port)
        await standby.prove()
        await until(lambda: standby.closed)

        assert standby.closed is not None
        assert standby.closed[0] == CloseCode.SAME_NODE
        assert primary.closed is None
        assert (await ask(here, access)).status == 200


@on_a_loop
async def test_a_standby_of_a_printer_that_nobody_owns_gets_no_link_code() -> None:
    async with relay(node_id="a", node_key=KEY) as here:
        standby = ScriptedAgent("nobodys", agent_run=RUN, is_standby=True)
        await standby.dial(here.port)
        await standby.prove()
        await until(lambda: standby.closed)

        assert standby.closed is not None
        assert standby.closed[0] == CloseCode.UNLINKED
        assert not any(isinstance(message, signin.LinkOffer) for message in standby.heard)


def test_without_its_primary_tunnel_an_agent_is_reached_by_the_standby_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 600.0)  # nobody has to ask

    @on_a_loop
    async def body() -> None:
        async with three_nodes() as at:
            at.primary.leave()
            await until(lambda: at.first.figure("agents") == 0)
            await settle()

            assert await at.bodies() == [b"standby"] * 3

    body()


@pytest.mark.parametrize("is_linked", [True, False])
def test_when_the_node_of_the_primary_dies_others_use_the_standby_at_once(
    monkeypatch: pytest.MonkeyPatch, *, is_linked: bool
) -> None:
    monkeypatch.setattr(presence, "ASK_TIMEOUT_S", 600.0)

    @on_a_loop
    async def body() -> None:
        async with (
            relay(node_id="c", node_key=KEY) as third,
            relay(node_id="b", node_key=KEY, beside=third) as second,
        ):
            access = third.connect()
            async with relay(node_id="a", node_key=KEY, beside=third) as first:
                await both_at(first, second)
                if is_linked:
                    assert (await ask(third, access)).body == b"primary"
                third.bus.is_away = True  # as after a death, nothing is said of it
                await first.begin_stop(grace_s=0.0)

                answers = [await ask(node, access) for node in (second, third)]
                third.bus.is_away = False
                assert [answer.body for answer in answers] == [b"standby"] * 2

    body()


@on_a_loop
async def test_a_node_that_heard_nothing_of_a_standby_asks_for_it() -> None:
    async with relay(node_id="a", node_key=KEY) as first:
        access = first.connect()
        async with relay(node_id="b", node_key=KEY, beside=first) as second:
            primary, _ = await both_at(first, second)
            primary.leave()
            await until(lambda: first.figure("agents") == 0)
            async with relay(node_id="c", node_key=KEY, beside=first) as third:
                assert (await ask(third, access)).body == b"standby"


@on_a_loop
async def test_the_standby_of_an_agent_becomes_its_primary_tunnel() -> None:
    async with three_nodes() as at:
        at.standby.say(signin.Primary())
        await until(lambda: at.primary.closed)
        printer_id = at.primary.printer_id
        await until(lambda: at.first.agents.presence[printer_id].node_id == "b")

        assert at.primary.closed is not None
        assert at.primary.closed[0] == CloseCode.REPLACED
        assert await at.bodies() == [b"standby"] * 3
        assert at.second.figure("printers_online") == 1
        next_standby = await at.first.standby(script=saying(b"next"))
        await until(lambda: at.first.figure("standby_tunnels") == 1)
        await settle()
        assert await at.bodies() == [b"next", b"standby", b"standby"]
        assert next_standby.closed is None
        assert at.standby.closed is None


@on_a_loop
async def test_events_come_by_the_primary_tunnel_alone() -> None:
    event = PrintEvent(event_id="event-one", event_type=1, event_time_sec=1_800_000_000)
    async with three_nodes() as at:
        at.standby.say(signin.Primary())
        at.standby.say(signin.Events(events=[event]))
        stored = await at.standby.hear(signin.EventsStored)
        assert stored.event_ids == ["event-one"]

        early = await at.first.standby()
        early.say(signin.Events(events=[event]))
        await until(lambda: early.closed)
        assert early.closed == (CloseCode.NOT_WELCOME, "a standby tunnel carries none")


@on_a_loop
async def test_a_primary_tunnel_says_only_once_that_it_is_one() -> None:
    async with three_nodes() as at:
        at.primary.say(signin.Primary())
        await until(lambda: at.primary.closed)

        assert at.primary.closed == (CloseCode.NOT_WELCOME, "sign-in is over")


@pytest.mark.parametrize("agent_run", ["another run", UNSET])
@on_a_loop
async def test_an_agent_that_was_started_anew_loses_the_tunnels_of_before(
    agent_run: str | UnsetType,
) -> None:
    """The second is an agent of the release before, which says nothing of its run."""
    async with three_nodes() as at:
        anew = await at.third.agent(
            script=saying(b"anew"),
            agent_run=agent_run,
        )
        await until(lambda: at.primary.closed and at.standby.closed)

        for older in (at.primary, at.standby):
            assert older.closed is not None
            assert older.closed[0] == CloseCode.REPLACED
        assert await at.bodies() == [b"anew"] * 3
        assert anew.closed is None


@on_a_loop
async def test_a_newer_standby_replaces_the_one_that_the_agent_has_left() -> None:
    async with three_nodes() as at:
        newer = await at.third.standby(script=saying(b"newer"))
        await until(lambda: at.standby.closed)

        assert at.standby.closed is not None
        assert at.standby.closed[0] == CloseCode.REPLACED
        assert await at.bodies() == [b"primary", b"primary", b"newer"]
        assert newer.closed is None


@on_a_loop
async def test_of_two_agents_with_one_key_the_newer_keeps_both_tunnels() -> None:
    async with three_nodes() as at:
        double = await at.third.agent(agent_run="double")
        await until(lambda: at.primary.closed and at.standby.closed)
        standby = await at.first.standby(agent_run="double")
        await until(lambda: at.first.figure("standby_tunnels") == 1)

        assert double.closed is None
        assert standby.closed is None
        # The older one comes back, as it does a minute later.
        await at.second.agent(agent_run=RUN)
        await until(lambda: double.closed and standby.closed)


@on_a_loop
async def test_a_printer_that_is_removed_loses_both_tunnels() -> None:
    async with three_nodes() as at:
        at.first.agents.remove(at.primary.printer_id)
        await at.first.notify(Topic.PRINTER, at.primary.printer_id)
        await until(lambda: at.primary.closed and at.standby.closed)

        for agent in (at.primary, at.standby):
            assert agent.closed is not None
            assert agent.closed[0] == CloseCode.UNLINKED


@on_a_loop
async def test_both_tunnels_are_told_of_a_lock_so_that_either_knows_it_at_once() -> None:
    async with (
        relay(node_id="a", node_key=KEY) as first,
        relay(node_id="b", node_key=KEY, beside=first) as second,
    ):
        primary, standby = await both_at(first, second, (signin.REMOTE_CONTROL,))
        first.agents.lock(primary.printer_id)
        await first.notify(Topic.PRINTER, primary.printer_id)

        await until(lambda: all(map(knows_of_a_lock, (primary, standby))))


@on_a_loop
async def test_a_revoked_connection_ends_on_both_tunnels() -> None:
    async with three_nodes() as at:
        for agent in (at.primary, at.standby):
            agent.script = lambda asked: asked.answer(body=b"first", fin=False)
        async with calling(at.first.port) as one, calling(at.second.port) as other:
            for caller in (one, other):
                caller.send(request(at.access.host, at.access.bearer))
                await caller.head()
            await at.first.revoke(at.access)

            agents = (at.primary, at.standby)
            await until(lambda: all(agent.asked[0].reset is not None for agent in agents))


@on_a_loop
async def test_no_request_waits_while_the_node_of_the_primary_stops() -> None:
    async with three_nodes() as at:
        assert (await ask(at.third, at.access)).body == b"primary"
        at.primary.script = ignore
        under_way = asyncio.create_task(ask(at.third, at.access))
        asked = await at.primary.next(2)
        at.first.begin_stop(grace_s=10.0)
        await until(lambda: at.primary.is_asked_to_move)

        assert (await ask(at.third, at.access)).body == b"standby"
        at.standby.say(signin.Primary())
        asked.answer_with_length(b"finished")
        assert (await under_way).body == b"finished"
        assert (await ask(at.third, at.access)).body == b"standby"


@on_a_loop
async def test_the_primary_takes_over_from_a_standby_whose_node_stops() -> None:
    async with three_nodes() as at:
        at.primary.leave()
        await until(lambda: at.first.figure("agents") == 0)
        assert (await ask(at.third, at.access)).body == b"standby"
        back = await at.first.agent(script=saying(b"back"), agent_run=RUN)
        at.second.begin_stop(grace_s=10.0)
        await until(lambda: at.standby.is_asked_to_move)

        assert (await ask(at.third, at.access)).body == b"back"
        assert back.closed is None


@on_a_loop
async def test_a_key_of_the_printers_own_software_is_made_over_the_standby_if_need_be() -> None:
    async with (
        relay(node_id="a", node_key=KEY) as first,
        relay(node_id="b", node_key=KEY, beside=first) as second,
        relay(node_id="c", node_key=KEY, beside=first) as third,
    ):
        first.connect()
        primary, standby = await both_at(first, second, (signin.HOST_API_KEYS,))
        primary.leave()
        await until(lambda: first.figure("agents") == 0)

        making = asyncio.create_task(third.node.make_host_key(primary.printer_id, "An app"))
        wanted = await standby.hear(signin.MakeHostApiKey)
        standby.say(signin.HostApiKey(request_id=wanted.request_id, api_key="key-1"))
        assert await making == "key-1"


@on_a_loop
async def test_a_node_alone_takes_a_standby_for_a_tunnel_like_another() -> None:
    """Nothing offers one there; an agent that dials one all the same loses nothing."""
    async with relay() as rig:
        access, primary = rig.connect(), await rig.agent(agent_run=RUN)
        primary.leave()
        await until(lambda: rig.agents.presence == {})
        await rig.standby()
        await until(lambda: rig.figure("standby_tunnels") == 1)

        assert (await ask(rig, access)).status == 200
        assert rig.agents.presence == {}


@on_a_loop
async def test_the_node_of_the_primary_is_the_one_that_hears_of_looks() -> None:
    async with three_nodes() as at:
        printer_id = at.primary.printer_id
        nodes = (at.first, at.second, at.third)
        assert [rig.node.holder_of(printer_id) for rig in nodes] == ["a", "a", "a"]

        at.primary.leave()
        await until(lambda: at.third.node.holder_of(printer_id) is None)
        at.standby.say(signin.Primary())
        await until(lambda: at.third.node.holder_of(printer_id) == "b")
        assert [rig.node.holder_of(printer_id) for rig in nodes] == ["b", "b", "b"]
