"""Events that tests send, and an inbox in memory."""

import asyncio
from collections.abc import Sequence

from printreach.contract.events import EventType, PrintEvent
from printreach.ports import StoreUnavailable


def an_event(number: int = 1, kind: int = EventType.STARTED, *, print_id: str = "p") -> PrintEvent:
    """Number 1 always has the same id."""
    return PrintEvent(
        event_id=f"event-{number:04}",
        event_type=kind,
        event_time_sec=1_800_000_000 + number,
        print_id=print_id,
    )


def some_events(count: int, first: int = 1) -> list[PrintEvent]:
    return [an_event(number) for number in range(first, first + count)]


class MemoryEventInbox:
    """ports.EventInbox.

    stored: what was put, by printer, repeats included. is_broken: the store is away. gate: while it
    is closed nobody gets an answer.
    """

    def __init__(self) -> None:
        self.stored: dict[str, list[PrintEvent]] = {}
        self.is_broken = False
        self.tries = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        self.tries += 1
        await self.gate.wait()
        if self.is_broken:
            raise StoreUnavailable("The store is away.")
        self.stored.setdefault(printer_id, []).extend(events)
