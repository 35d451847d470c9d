"""A stream of events in which the service itself fails."""

import pytest

from printreach.hub.event_stream import EventStreams, StreamedEvent
from printreach.ports import StoreUnavailable
from tests.fakes.loop import on_a_loop
from tests.web.api.test_event_stream import hall
from tests.web.world import WebWorld


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
