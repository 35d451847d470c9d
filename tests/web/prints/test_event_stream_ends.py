"""Streams of events: where they begin, and how they end after a failure or by a slow reader."""

import asyncio
from functools import partial
from typing import cast

import pytest

from printreach.contract.events import MAX_TEXT, EventType, PrintEvent
from printreach.hub.prints.event_stream import PAGE, EventStreams, StreamedEvent
from printreach.hub.prints.fanout import Fanout
from printreach.ports import StoreUnavailable
from printreach.relay.asgi import Application
from printreach.store.store import Records
from printreach.web import disconnects
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.relay.caller import calling, request
from tests.relay.rig import OWN, relay
from tests.relay.waiting import until
from tests.web.prints.test_event_stream import Hall, hall
from tests.web.world import WebWorld


@on_a_loop
async def test_a_reader_without_an_event_goes_on_from_where_the_stream_began(
    world: WebWorld,
) -> None:
    async with hall(world) as here:
        await here.happen("event-001")
        quiet = here.ask()
        await quiet.begun()
        assert "id: event-001\r\n" in quiet.text
        assert quiet.event_ids == []
        await here.happen("event-002")
        bearer = f"Bearer {here.token.secret}"
        again = here.ask(headers={"authorization": bearer, "last-event-id": "event-001"})

        await again.heard("event-002")


@on_a_loop
async def test_of_an_account_without_events_it_begins_with_the_oldest(world: WebWorld) -> None:
    async with hall(world) as here:
        quiet = here.ask()
        await quiet.begun()
        assert "id: oldest\r\n" in quiet.text
        await here.happen("event-001")
        bearer = f"Bearer {here.token.secret}"
        again = here.ask(headers={"authorization": bearer, "last-event-id": "oldest"})

        await again.heard("event-001")


@on_a_loop
async def test_where_it_begins_is_said_once(world: WebWorld) -> None:
    async with hall(world) as here:
        await here.happen("event-001", "event-002")
        reader = here.ask("after=event-001")
        await reader.heard("event-002")

        assert reader.text.count("id: ") == 2
        assert reader.text.index("id: event-001") < reader.text.index("id: event-002")


@on_a_loop
async def test_a_socket_says_it_in_its_first_message(world: WebWorld) -> None:
    async with hall(world) as here:
        await here.happen("event-001")
        quiet = here.ask(kind="websocket")
        await quiet.begun()
        assert quiet.text == 'data: {"After":"event-001"}\r\n\r\n'
        await here.happen("event-002")
        again = here.ask("after=event-001", kind="websocket")

        await again.heard("event-002")


@on_a_loop
async def test_a_socket_says_that_the_service_failed_and_the_log_says_why(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object) -> list[StreamedEvent]:
        raise StoreUnavailable("The disk is full.")

    async with hall(world) as here:
        await here.happen("event-001")
        reader = here.ask("after=oldest", kind="websocket")
        await reader.heard("event-001")
        monkeypatch.setattr(EventStreams, "_page", fails)
        await here.happen("event-002")
        await reader.over()

    assert reader.status == 4500
    assert "disk" not in reader.text
    assert "The disk is full." in caplog.text


PAGES = 60
"""Some 27 MB; the kernel's buffers of both ends take a sixth of that."""
TIMEOUT_S = 90.0


async def much_happens(here: Hall) -> None:
    """As large as an agent may make it."""
    text = "\N{SNOWMAN}" * MAX_TEXT

    def event(number: int) -> PrintEvent:
        return PrintEvent(
            event_id=f"event-{number:05d}",
            event_type=EventType.ERROR,
            event_time_sec=0,
            file_name=text,
            error=text,
        )

    for first in range(0, PAGES * PAGE, 1000):
        some = [event(number) for number in range(first, first + 1000)]
        await here.world.store.write(partial(_append, some))
    await Fanout(here.world.core, []).fan_out_due()


async def _append(events: list[PrintEvent], records: Records) -> None:
    await records.events.append("p1", events, NOON)


@pytest.mark.slow
@on_a_loop
async def test_a_reader_that_never_reads_costs_little_and_is_disconnected(
    world: WebWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disconnects, "SENT_WITHIN_S", 0.5)
    pages: list[int] = []
    look_up = EventStreams._page

    async def counted(
        self: EventStreams, account_id: str, cursor: str | None
    ) -> list[StreamedEvent]:
        pages.append(1)
        return await look_up(self, account_id, cursor)

    monkeypatch.setattr(EventStreams, "_page", counted)
    app = cast("Application", world.app)
    async with hall(world) as here, relay(web_app=app) as rig:
        await much_happens(here)
        streams = world.services.event_streams
        token = b"Authorization: Bearer " + here.token.secret.encode()
        async with calling(rig.port, receive_buffer=4096) as stuck:
            stuck.send(request(OWN, token, target=b"/api/events?after=oldest"))
            await until(lambda: pages, TIMEOUT_S)
            await until(lambda: not streams._slots, TIMEOUT_S)
            asked = len(pages)
            sent = await asyncio.wait_for(stuck.rest(), TIMEOUT_S)

        assert sent.startswith(b"HTTP/1.1 200")
        assert not sent.endswith(b"0\r\n\r\n"), "it was cut, not brought to an end"
        assert asked <= PAGES // 2, "what waits for it is what the kernel takes, and one page"
