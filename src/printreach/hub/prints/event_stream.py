"""The events of an account as they happen, and those since a known one.

Each reader asks the store for what follows the last event that it was given, so nothing is lost
between reading and listening: a notice only says that it is worth asking. A slow reader is asked
for no more than it takes, and holds one page of events in memory.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from printreach.hub.core import Core
from printreach.limiters.slots import Slots
from printreach.ports import Bus, Notice, Topic
from printreach.rules.webhooks.messages import About, message_body
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

PAGE: Final = 100
LOOK_EVERY_S: Final = 5.0
"""How often the store is asked without a notice, since notices may be lost."""
STALE_AFTER: Final = timedelta(seconds=LOOK_EVERY_S)
"""A page that was not read by then is looked up again."""
MAX_STREAMS: Final = 20
"""Streams of an account at once, in one process."""
OLDEST: Final = "oldest"
"""Given instead of an id: from the first event that is kept."""
_NO_NAME: Final = "A printer"


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """An event as a reader gets it. body: JSON, the same as a webhook's."""

    event_id: str
    body: bytes


class EventGone(Exception):
    """The event to resume from is no longer kept, or never belonged to this account."""


class TooManyStreams(Exception):
    """The account has as many streams as it may have."""


@dataclass(kw_only=True, slots=True)
class EventStreams:
    """One for the process."""

    core: Core
    bus: Bus
    look_every_s: float = LOOK_EVERY_S
    _slots: Slots = field(init=False)

    def __post_init__(self) -> None:
        self._slots = Slots(name="event streams", counts=self.core.counts)

    async def open(
        self, account_id: str, after: str | None
    ) -> AsyncGenerator[StreamedEvent | None, None]:
        """Begin to read. Yields None every few seconds without an event.

        after: the id of the last event that the reader has; OLDEST; None for events from now on.
        Raises EventGone and TooManyStreams. The iterator has to be closed.
        """
        if not self._slots.are_free({account_id: MAX_STREAMS}):
            raise TooManyStreams
        cursor = await self._cursor(account_id, after)
        return self._follow(account_id, cursor)

    async def now(self, account_id: str) -> str:
        """Return the `after` for events from now on: the last event's id, or OLDEST."""
        latest = await self.core.store.read(lambda records: records.events.latest(account_id))
        return OLDEST if latest is None else latest.event.event_id

    async def _cursor(self, account_id: str, after: str | None) -> str | None:
        known = await self.now(account_id) if after is None else after
        if known == OLDEST:
            return None
        if not await self.core.store.read(lambda records: records.events.holds(account_id, known)):
            raise EventGone(known)
        return known

    async def _follow(
        self, account_id: str, cursor: str | None
    ) -> AsyncGenerator[StreamedEvent | None, None]:
        if not self._slots.take({account_id: MAX_STREAMS}):
            return  # many streams were opened at once; the caller learns why at its next try
        woken = asyncio.Event()

        wanted = (Notice(topic, account_id) for topic in (Topic.EVENT, Topic.ACCOUNT))
        unsubscribe = self.bus.subscribe(lambda _: woken.set(), *wanted)
        try:
            while await self.core.store.read(lambda records: _is_open(records, account_id)):
                woken.clear()
                page = await self._page(account_id, cursor)
                looked_at = self.core.clock.now()
                for told in page:
                    if abs(self.core.clock.now() - looked_at) >= STALE_AFTER:
                        # a reader that takes a page slowly may have lost its access meanwhile
                        break
                    cursor = told.event_id
                    yield told
                else:
                    if len(page) < PAGE:
                        await _wait(woken, self.look_every_s)
                        yield None
        finally:
            unsubscribe()
            self._slots.release([account_id])

    async def _page(self, account_id: str, cursor: str | None) -> list[StreamedEvent]:
        stored = await self.core.store.read(
            lambda records: records.events.after(account_id, cursor, PAGE)
        )
        if not stored:
            return []
        printers = await self.core.store.read(
            lambda records: records.printers.of_account(account_id)
        )
        names = {printer.printer_id: printer.name for printer in printers}
        return [self._told(event, names.get(event.printer_id, _NO_NAME)) for event in stored]

    def _told(self, stored: StoredEvent, name: str) -> StreamedEvent:
        picture = stored.snapshot_id
        about = About(
            printer_id=stored.printer_id,
            printer_name=name,
            page_url=self.core.addresses.of_printer_page(stored.printer_id),
            snapshot_url=self.core.addresses.of_snapshot(picture) if picture else None,
        )
        return StreamedEvent(stored.event.event_id, message_body(stored.event, about))


async def _is_open(records: Records, account_id: str) -> bool:
    account = await records.accounts.get(account_id)
    return account is not None and not account.is_blocked


async def _wait(woken: asyncio.Event, within_s: float) -> None:
    try:
        async with asyncio.timeout(within_s):
            await woken.wait()
    except TimeoutError:
        pass  # time to look again, and to show the reader that the stream is alive
