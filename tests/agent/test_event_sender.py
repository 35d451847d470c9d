"""Events leave for the service a message at a time, and are forgotten when they are stored."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import cast

from printreach.agent.commands.api import CommandApi
from printreach.agent.commands.replay import ServiceClock
from printreach.agent.host_api_keys import HostApiKeys
from printreach.agent.outbox import EventSender, Outbox
from printreach.agent.printer import CommandedPrinter, LatestDetectorStatus
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract import signin
from printreach.contract.events import MAX_EVENTS_AT_ONCE, MAX_TEXT, EventType, PrintEvent
from printreach.rules.prints import TrackedPrint
from printreach.wire.frames import CHUNK_BYTES
from tests.agent.contexts import Agent, ServiceKey
from tests.agent.snapshots import HandClock
from tests.agent.talks import OFFER, Talk
from tests.fakes.events import an_event, some_events
from tests.fakes.printer import ScriptedPrinter


class Line:
    """A sender, and the batches that it has sent."""

    def __init__(self, folder: Path) -> None:
        self.outbox = Outbox(folder, HandClock())
        self.messages: list[bytes] = []
        self.sender = EventSender(self.outbox, self.messages.append)

    def put(self, *events: PrintEvent) -> None:
        self.outbox.put(TrackedPrint(), events)
        asyncio.run(self.outbox.save())

    @property
    def sent(self) -> list[list[PrintEvent]]:
        words = [signin.decode_from_agent(message) for message in self.messages]
        return [word.events for word in words if isinstance(word, signin.Events)]

    def stored(self, *events: PrintEvent) -> None:
        self.sender.stored([event.event_id for event in events])


def test_nothing_is_sent_before_the_printer_is_linked(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.put(an_event())

    assert line.sent == []


def test_waiting_events_are_sent_at_the_beginning_and_later_ones_at_once(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.put(an_event(1))
    line.sender.begin()
    line.stored(an_event(1))
    line.put(an_event(2))

    assert line.sent == [[an_event(1)], [an_event(2)]]


def test_one_message_is_under_way_at_a_time(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.sender.begin()
    line.put(an_event(1))
    line.put(an_event(2))
    line.put(an_event(3))
    assert line.sent == [[an_event(1)]]

    line.stored(an_event(1))

    assert line.sent == [[an_event(1)], [an_event(2), an_event(3)]]
    assert len(line.outbox) == 2


def test_a_long_queue_goes_in_messages_that_fit(tmp_path: Path) -> None:
    line = Line(tmp_path)
    long = [
        PrintEvent(
            event_id=f"long-{number:04}",
            event_type=EventType.ERROR,
            event_time_sec=1,
            file_name="\u0001" * MAX_TEXT,
            error="\u0001" * MAX_TEXT,
        )
        for number in range(20)
    ]
    line.put(*long, *some_events(120))
    line.sender.begin()
    while len(line.outbox):
        line.stored(*line.sent[-1])

    assert [event for sent in line.sent for event in sent] == [*long, *some_events(120)]
    assert all(len(message) <= CHUNK_BYTES for message in line.messages)
    assert all(len(sent) <= MAX_EVENTS_AT_ONCE for sent in line.sent)


def test_the_next_tunnel_says_again_what_was_not_stored(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.put(an_event())
    line.sender.begin()
    line.sender.end()
    messages: list[bytes] = []
    EventSender(line.outbox, messages.append).begin()

    assert messages == line.messages


def test_a_tunnel_that_has_ended_says_nothing_more(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.sender.begin()
    line.sender.end()
    line.put(an_event())

    assert line.sent == []


def commanded(agent: Agent) -> CommandedPrinter:
    """Give the agent a printer with events to tell."""
    printer = CommandedPrinter(
        api=cast("CommandApi", None),
        clock=ServiceClock(agent.clock),
        detector=LatestDetectorStatus(agent.clock),
        host_api_keys=HostApiKeys(ScriptedPrinter()),
        outbox=Outbox(agent.data_dir, agent.clock),
        temperatures=TemperatureRecorder(ScriptedPrinter(), agent.clock),
    )
    agent.context = replace(agent.context, commanded=printer)
    return printer


class LinkedAgent:
    """An agent with something to tell, in conversation with a service."""

    def __init__(self, folder: Path, *, stores_events: bool = True) -> None:
        self.agent = Agent(folder)
        self.outbox = commanded(self.agent).outbox
        self.talk = Talk(self.agent, stores_events=stores_events)
        self.outbox.put(TrackedPrint(), [an_event()])
        asyncio.run(self.outbox.save())

    @property
    def sent(self) -> list[signin.Events]:
        return [word for word in self.talk.messages if isinstance(word, signin.Events)]


def test_a_service_that_stores_events_gets_them_once_the_printer_is_known(tmp_path: Path) -> None:
    agent = LinkedAgent(tmp_path)
    agent.talk.says(agent.talk.challenge(ServiceKey()))
    assert agent.sent == []
    agent.talk.says(agent.talk.welcome())
    assert agent.sent == [signin.Events(events=[an_event()])]

    agent.talk.says(signin.EventsStored(event_ids=["event-0001"]))

    assert len(agent.outbox) == 0


def test_a_service_of_before_gets_none_and_they_are_kept(tmp_path: Path) -> None:
    agent = LinkedAgent(tmp_path, stores_events=False)
    agent.talk.says(agent.talk.challenge(ServiceKey()), agent.talk.welcome())

    assert agent.sent == []
    assert len(agent.outbox) == 1


def test_the_next_owner_does_not_hear_what_happened_before(tmp_path: Path) -> None:
    agent = LinkedAgent(tmp_path)
    agent.talk.says(agent.talk.challenge(ServiceKey()), OFFER)
    agent.outbox.put(TrackedPrint(), [an_event(2)])
    agent.talk.says(agent.talk.linked())
    asyncio.run(agent.outbox.save())

    assert agent.sent == []
    assert len(agent.outbox) == 0
