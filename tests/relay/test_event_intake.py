"""Events of agents are stored before they are acknowledged."""

import asyncio
from functools import partial

import pytest

from printreach.agent.outbox import MAX_EVENTS
from printreach.contract import signin
from printreach.relay.event_intake import (
    BURST,
    MANY,
    REFILL_INTERVAL_S,
    WARN_INTERVAL_S,
    EventIntake,
    EventLimiter,
)
from printreach.wire.errors import CloseCode
from printreach.wire.frames import MAX_PAYLOAD_BYTES, Kind
from tests.fakes.events import MemoryEventInbox, an_event, some_events
from tests.relay.caller import calling, request
from tests.relay.loop import on_a_loop
from tests.relay.rig import relay
from tests.relay.scripted_agent import ScriptedAgent
from tests.relay.waiting import settle, until


def stored_at(agent: ScriptedAgent) -> list[str]:
    """Return the ids that were acknowledged to the agent."""
    heard = [word for word in agent.heard if isinstance(word, signin.EventsStored)]
    return [event_id for word in heard for event_id in word.event_ids]


def has_all(agent: ScriptedAgent, count: int) -> bool:
    return len(stored_at(agent)) == count


@on_a_loop
async def test_the_service_says_that_it_stores_events() -> None:
    async with relay() as rig:
        agent = await rig.agent()

        assert signin.EVENTS in agent.understood


@on_a_loop
async def test_events_are_stored_and_then_acknowledged() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        rig.events.gate.clear()
        agent.say(signin.Events(events=some_events(2)))
        await settle()
        assert stored_at(agent) == []

        rig.events.gate.set()
        await until(lambda: stored_at(agent))

        assert stored_at(agent) == ["event-0001", "event-0002"]
        assert rig.events.stored == {agent.printer_id: some_events(2)}


@on_a_loop
async def test_while_the_store_is_away_nothing_is_acknowledged_and_it_is_tried_again() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        rig.events.is_broken = True
        agent.say(signin.Events(events=[an_event()]))
        await until(lambda: rig.events.tries)
        await settle()
        assert stored_at(agent) == []

        rig.events.is_broken = False
        await until(lambda: stored_at(agent))

        assert rig.events.stored[agent.printer_id] == [an_event()]


@on_a_loop
async def test_a_type_that_only_a_newer_version_knows_is_kept() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        agent.say(signin.Events(events=[an_event(kind=77)]))
        await until(lambda: stored_at(agent))

        assert rig.events.stored[agent.printer_id][0].event_type == 77


@pytest.mark.parametrize("kind", [7, 8, 13, 16])
@on_a_loop
async def test_an_agent_does_not_speak_for_the_service(kind: int) -> None:
    async with relay() as rig:
        agent = await rig.agent()
        agent.say(signin.Events(events=[an_event(kind=kind)]))
        await until(lambda: agent.closed)

        sentence = f"events of type {kind} are the service's own"
        assert agent.closed == (CloseCode.NOT_WELCOME, sentence)
        assert rig.events.stored == {}


@on_a_loop
async def test_an_agent_that_does_not_wait_is_sent_away_and_no_other() -> None:
    async with relay() as rig, calling(rig.port) as caller:
        access, other = rig.connect(), await rig.agent("one")
        hostile = await rig.agent("two")
        rig.events.gate.clear()
        for number in range(100):
            if not hostile.closed:
                hostile.say(signin.Events(events=[an_event(number)]))
        await until(lambda: hostile.closed)
        rig.events.gate.set()
        other.say(signin.Events(events=[an_event()]))
        await until(lambda: stored_at(other))
        caller.send(request(access.host, access.bearer))

        assert hostile.closed is not None
        assert "not stored yet" in hostile.closed[1]
        assert (await caller.answer()).status == 200


@on_a_loop
async def test_a_giant_message_ends_the_tunnel() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        giant = signin.encode(signin.Events(events=[an_event()]))
        agent.send_frame(Kind.MESSAGE, 0, giant + b" " * MAX_PAYLOAD_BYTES)
        await until(lambda: agent.closed)

        assert rig.events.stored == {}


@pytest.mark.parametrize(
    "event",
    [
        b'{"EventId":"event-0001","EventType":1}',
        b'{"EventId":"short","EventType":1,"EventTimeSec":1}',
        b'{"EventId":"event-0001\\n","EventType":1,"EventTimeSec":1}',
        b'{"EventId":"event-0001","EventType":-1,"EventTimeSec":1}',
        b'{"EventId":"event-0001","EventType":1,"EventTimeSec":1,"Progress":101}',
        b'{"EventId":"event-0001","EventType":1,"EventTimeSec":1,"FileName":null}',
        b'{"EventId":"event-0001","EventType":1,"EventTimeSec":1,"Error":"%b"}' % (b"x" * 501),
        b'{"EventId":"event-0001","EventType":1,"EventTimeSec":1,"ZOffsetMM":1e300}',
    ],
)
@on_a_loop
async def test_an_event_that_is_none_ends_the_tunnel_with_a_sentence(event: bytes) -> None:
    async with relay() as rig:
        agent = await rig.agent()
        agent.tunnel.message(b'{"Type":"Events","Events":[%b]}' % event)
        await until(lambda: agent.closed)

        assert agent.closed is not None
        assert agent.closed[0] == CloseCode.NOT_WELCOME
        assert "can't be read" in agent.closed[1]
        assert rig.events.stored == {}


@on_a_loop
async def test_more_than_fifty_at_once_are_refused() -> None:
    async with relay() as rig:
        agent = await rig.agent()
        agent.say(signin.Events(events=some_events(51)))
        await until(lambda: agent.closed)

        assert rig.events.stored == {}


@on_a_loop
async def test_a_printer_without_owner_has_nobody_to_tell() -> None:
    async with relay() as rig:
        agent = ScriptedAgent("nobody's")
        await agent.dial(rig.port)
        await agent.prove()
        await agent.hear(signin.LinkOffer)
        agent.say(signin.Events(events=[an_event()]))
        await until(lambda: agent.closed)

        assert agent.closed is not None
        assert "belongs to no account" in agent.closed[1]
        assert rig.events.stored == {}


@on_a_loop
async def test_a_printer_that_floods_waits_and_another_does_not() -> None:
    async with relay() as rig:
        flooding, other = await rig.agent("one"), await rig.agent("two")
        for first in range(1, BURST + 1, 50):
            flooding.say(signin.Events(events=some_events(50, first)))
            await until(partial(has_all, flooding, first + 49))
        flooding.say(signin.Events(events=some_events(50, 9001)))
        other.say(signin.Events(events=[an_event()]))
        await until(lambda: stored_at(other))
        await settle()

        assert "event-9050" not in stored_at(flooding)
        assert flooding.closed is None


def test_a_budget_is_the_printers_and_comes_back_with_time() -> None:
    limiter = EventLimiter()

    assert limiter.wait_s("one", BURST, 0.0) == 0.0
    assert limiter.wait_s("one", 2, 0.0) == 2 * REFILL_INTERVAL_S
    assert limiter.wait_s("two", 1, 0.0) == 0.0
    assert limiter.wait_s("one", 1, 1000.0) == 0.0


def test_all_that_an_agent_keeps_is_stored_at_once() -> None:
    assert EventLimiter().wait_s("one", MAX_EVENTS, 0.0) == 0.0


def test_events_that_an_agent_invents_in_a_week_are_few_rows() -> None:
    limiter, week_s = EventLimiter(), 7 * 24 * 3600.0
    stored, now = 0, 0.0
    while now < week_s:
        now += limiter.wait_s("one", 50, now) or 1.0
        stored += 50

    assert stored < 32_000


@on_a_loop
async def test_the_log_names_a_printer_that_floods_once_an_hour(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limiter, inbox, now = EventLimiter(), MemoryEventInbox(), asyncio.get_running_loop().time()
    limiter.wait_s("one", BURST, now)
    for _ in range(3):
        intake = EventIntake(inbox, limiter, "one", lambda _: None)
        intake.receive([an_event()])
        await settle()
        intake.close()
        await settle()

    assert caplog.text.count("printer one sends more events") == 1
    assert limiter.should_warn("one", now + WARN_INTERVAL_S + 60)


def test_printers_that_send_little_are_forgotten() -> None:
    limiter = EventLimiter()
    for number in range(10 * MANY):
        limiter.wait_s(f"printer {number}", 1, number * 10.0)

    assert len(limiter) <= 2 * MANY


@on_a_loop
async def test_events_not_stored_when_the_tunnel_ended_are_not_counted_against_the_printer() -> (
    None
):
    limiter, inbox, now = EventLimiter(), MemoryEventInbox(), asyncio.get_running_loop().time()
    limiter.wait_s("one", BURST, now)
    for _ in range(10):
        intake = EventIntake(inbox, limiter, "one", lambda _: None)
        intake.receive(some_events(50))
        await settle()
        intake.close()
        await settle()

    assert limiter.wait_s("one", 1, now) < 2 * REFILL_INTERVAL_S
