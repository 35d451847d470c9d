"""The inbox of events from relays: those of many agents go into one unit of work."""

from collections.abc import Sequence
from typing import Final

from printreach.contract.events import PrintEvent
from printreach.ports import Clock
from printreach.store.gathered import Gathered
from printreach.store.prints.events import Arrival
from printreach.store.store import Store

AT_ONCE: Final = 1000
"""Events in one unit, so that other writers get their turn."""


class SqlEventInbox:
    """ports.EventInbox."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._gathered = Gathered(self._append, at_once=AT_ONCE, size=len)

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        await self._gathered.do([Arrival(printer_id=printer_id, event=event) for event in events])

    async def _append(self, group: Sequence[Sequence[Arrival]]) -> Sequence[None]:
        arrivals, at = [one for own in group for one in own], self._clock.now()
        await self._store.write(
            lambda records: records.events.append_all(arrivals, at), may_overlap=True
        )
        return [None] * len(group)
