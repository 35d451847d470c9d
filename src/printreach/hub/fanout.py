"""Events are handed out: each once, to everyone who owes something for it.

What is owed is written in the unit of work that marks the event, so a crash in between leaves the
event unmarked and nothing owed. A picture is taken before, while events of other printers go on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol

from printreach.ports import Clock, Notice, Records, Store, StoredEvent, StoreUnavailable, Topic

log = logging.getLogger(__name__)

AT_ONCE: Final = 200
"""Events in one unit of work; others want to write, too."""
PICTURE_WITHIN_S: Final = 5.0
PICTURES_AT_ONCE: Final = 16
SET_ASIDE_S: Final = 60.0
"""After a consumer failed at an event, its printer's events wait so long."""
KEPT_FOR: Final = timedelta(days=7)
"""So far back a stream can be resumed."""
PRUNED_AT_ONCE: Final = 1000

TakePicture = Callable[[StoredEvent], Awaitable[str | None]]
"""Takes a picture for an event and stores it; its id, or None. Whatever it raises is None, too."""


class Consumer(Protocol):
    """Somebody who owes something for an event: a delivery, a mail, a line of history."""

    async def owe(self, records: Records, stored: StoredEvent) -> None:
        """Write down what is owed. It must await nothing but the records.

        It is called once for each event. Where it raises, the event is not marked and comes again.
        """
        ...


class Fanout:
    """One pass at a time: `fan_out_due`. picture: None where no pictures are taken."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        consumers: Sequence[Consumer],
        picture: TakePicture | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._consumers = tuple(consumers)
        self._picture = picture
        self._pictures_at_once = asyncio.Semaphore(PICTURES_AT_ONCE)
        self._taking: dict[str, asyncio.Task[None]] = {}  # by printer: its order is kept
        self._set_aside: dict[str, float] = {}  # printer -> until when, in the loop's time
        self._on_freed: Callable[[], None] = lambda: None

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Call this when a printer's pictures are taken: more of its events may wait."""
        self._on_freed = callback

    async def fan_out_due(self) -> int:
        """Hand out what waits; how many were, those without a picture yet not counted.

        Raises StoreUnavailable.
        """
        count = 0
        while due := await self._due():
            if self._picture is None:
                await self._hand_out(due)
            else:
                for printer_id in dict.fromkeys(stored.printer_id for stored in due):
                    events = [stored for stored in due if stored.printer_id == printer_id]
                    self._begin(printer_id, events)
            count += len(due)
        return count

    async def settled(self) -> None:
        """Until no picture is being taken."""
        while self._taking:
            await asyncio.gather(*self._taking.values(), return_exceptions=True)

    async def close(self) -> None:
        """Leave what isn't finished to the next start."""
        for task in list(self._taking.values()):
            task.cancel()
        await self.settled()

    async def prune(self) -> None:
        """Forget what is too old to be resumed from. Raises StoreUnavailable."""
        before = self._clock.now() - KEPT_FOR
        while await self._store.write(lambda records: records.events.prune(before, PRUNED_AT_ONCE)):
            pass

    # --- helpers ----------------------------------------------------------------------------------

    async def _due(self) -> list[StoredEvent]:
        now = asyncio.get_running_loop().time()
        self._set_aside = {one: until for one, until in self._set_aside.items() if until > now}
        busy = [*self._taking, *self._set_aside]
        return await self._store.read(
            lambda records: records.events.awaiting_fan_out(AT_ONCE, except_printers=busy)
        )

    def _begin(self, printer_id: str, events: list[StoredEvent]) -> None:
        task = asyncio.create_task(self._with_pictures(printer_id, events))
        self._taking[printer_id] = task
        task.add_done_callback(lambda _: self._free(printer_id))

    def _free(self, printer_id: str) -> None:
        del self._taking[printer_id]
        self._on_freed()

    async def _with_pictures(self, printer_id: str, events: list[StoredEvent]) -> None:
        pictured = await asyncio.gather(*(self._with_picture(stored) for stored in events))
        try:
            await self._hand_out(pictured)
        except StoreUnavailable as error:
            log.warning("events of printer %s are handed out later: %s", printer_id, error)
            self._wait_with(printer_id)

    async def _with_picture(self, stored: StoredEvent) -> StoredEvent:
        assert self._picture is not None
        try:
            async with asyncio.timeout(PICTURE_WITHIN_S), self._pictures_at_once:
                return replace(stored, snapshot_id=await self._picture(stored))
        except TimeoutError:
            return stored
        except Exception:
            log.exception("no picture for an event of printer %s", stored.printer_id)
            return stored

    async def _hand_out(self, events: Sequence[StoredEvent]) -> None:
        """All at once; where a consumer fails, each alone, so that one harms no other."""
        try:
            await self._store.write(lambda records: self._owe(records, events))
        except StoreUnavailable:
            raise
        except Exception:
            if len(events) > 1:
                for stored in events:
                    if stored.printer_id not in self._set_aside:  # order is kept
                        await self._hand_out([stored])
                return
            [stored] = events
            log.exception("event %s can't be handed out", stored.event.event_id)
            self._wait_with(stored.printer_id)

    async def _owe(self, records: Records, events: Sequence[StoredEvent]) -> None:
        marked = await records.events.mark_fanned_out(
            {stored.seq: stored.snapshot_id for stored in events}
        )
        handed_out = [stored for stored in events if stored.seq in marked]
        for stored in handed_out:
            for consumer in self._consumers:
                await consumer.owe(records, stored)
        now = self._clock.now()
        for account_id in {stored.account_id for stored in handed_out}:
            await records.notify(Notice(Topic.EVENT, account_id), now)

    def _wait_with(self, printer_id: str) -> None:
        self._set_aside[printer_id] = asyncio.get_running_loop().time() + SET_ASIDE_S
