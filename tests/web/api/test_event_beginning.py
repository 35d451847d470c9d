"""Where a stream of events begins is said at once: who hears nothing goes on without a gap, too."""

from tests.fakes.loop import on_a_loop
from tests.web.api.test_event_stream import hall
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
