"""The inbox of events from relays: those of many agents go into one unit of work."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from printreach.contract.events import PrintEvent
from printreach.ports import Clock, StoreUnavailable
from printreach.store.prints.events import Arrival
from printreach.store.store import Records, Store

AT_ONCE: Final = 1000
"""Events in one unit, so that other writers get their turn."""


_Putting: TypeAlias = tuple[list[Arrival], asyncio.Future[None]]
"""The events of one call, and the future that it awaits."""


class SqlEventInbox:
    """ports.EventInbox. Calls that come while a unit is written go into the next one."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._waiting: list[_Putting] = []
        self._writing: asyncio.Task[None] | None = None

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        arrivals = [Arrival(printer_id=printer_id, event=event) for event in events]
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((arrivals, stored))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await stored

    async def _write(self) -> None:
        while self._waiting:
            await self._write_together(self._next_group())

    async def _write_together(self, group: list[_Putting]) -> None:
        """Write all at once; if that fails for a fault in one of them, each alone."""
        arrivals = [one for own, _ in group for one in own]
        failure: Exception | None = StoreUnavailable("The service stops.")
        try:
            await self._store.write(_appending(arrivals, self._clock.now()), may_overlap=True)
            failure = None
        except StoreUnavailable as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - those who wait get it, and may try again
            failure = error
            if len(group) > 1:
                for one in group:
                    await self._write_together([one])
        finally:
            for _, stored in group:
                _answer(stored, failure)

    def _next_group(self) -> list[_Putting]:
        count, group = 0, []
        while self._waiting and count < AT_ONCE:
            own, stored = self._waiting.pop(0)
            if not stored.done():  # its agent may have disconnected
                group.append((own, stored))
                count += len(own)
        return group


def _appending(arrivals: list[Arrival], at: datetime) -> Callable[[Records], Awaitable[None]]:
    return lambda records: records.events.append_all(arrivals, at)


def _answer(stored: asyncio.Future[None], failure: Exception | None) -> None:
    if stored.done():
        return
    if failure is None:
        stored.set_result(None)
    else:
        stored.set_exception(failure)
