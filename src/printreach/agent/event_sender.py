"""Sends events to the service over one tunnel, one message at a time."""

from collections.abc import Callable, Collection

from printreach.agent.outbox import Outbox
from printreach.contract import codec, signin
from printreach.contract.events import MAX_EVENTS_AT_ONCE, PrintEvent
from printreach.wire.frames import CHUNK_BYTES

MAX_BYTES = CHUNK_BYTES - 1024
"""The size of the events in one message, which is not fragmented."""


class EventSender:
    """Sends waiting events once it has begun, and the next when those are stored.

    send_message: sends a control message. Events under way when the tunnel ends are sent again over
    the next one; the service knows events by their ids.
    """

    def __init__(self, outbox: Outbox, send_message: Callable[[bytes], None]) -> None:
        self._outbox = outbox
        self._send_message = send_message
        self._under_way: frozenset[str] = frozenset()
        self._stop: Callable[[], None] | None = None

    def begin(self) -> None:
        """Start sending: the service stores events, and the printer belongs to an account."""
        if self._stop is None:
            self._stop = self._outbox.on_new(self._send)
            self._send()

    def stored(self, event_ids: Collection[str]) -> None:
        """Remove events that the service has stored, and send the next."""
        self._outbox.acknowledged(event_ids)
        self._under_way -= frozenset(event_ids)
        self._send()

    def end(self) -> None:
        """Stop sending: the tunnel has ended, or the agent moves to another one."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _send(self) -> None:
        if self._stop is None or self._under_way:
            return
        events = _cut(self._outbox.batch(MAX_EVENTS_AT_ONCE))
        if events:
            self._under_way = frozenset(event.event_id for event in events)
            self._send_message(signin.encode(signin.Events(events=events)))


def _cut(events: list[PrintEvent]) -> list[PrintEvent]:
    """Return as many events as fit into one message; always the first."""
    size = 0
    for count, event in enumerate(events):
        size += len(codec.encode(event)) + 1
        if size > MAX_BYTES and count:
            return events[:count]
    return events
