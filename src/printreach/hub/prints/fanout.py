"""The fan-out of events: each event is handed once to every consumer.

The consumers write in the unit of work that marks the event, so a crash leaves the event unmarked
and nothing written. A picture is taken before, while events of other printers go on: by one worker
alone, which has leased the events of that printer, and which the others leave alone until then.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol

from printreach.hub.core import Core
from printreach.ports import Notice, StoreUnavailable, Topic
from printreach.rules.connections.credentials import new_record_id
from printreach.store.leases import Claim, LeaseKind
from printreach.store.prints.events import DamagedEvent, PendingEvents, StoredEvent
from printreach.store.store import Records

log = logging.getLogger(__name__)

AT_ONCE: Final = 200
"""Events in one unit of work, so that other writers get their turn."""
PICTURE_WITHIN_S: Final = 5.0
PICTURES_AT_ONCE: Final = 200
"""Printers whose picture is being taken; beyond that, events go without one."""
LEASED_FOR: Final = timedelta(seconds=15)
"""Longer than a picture takes and what follows from its events is written. When a worker has died,
others hand out its events after this time, with new pictures."""
PICTURE_FRESH_FOR: Final = timedelta(minutes=1)
"""An older event gets no picture, since it would not show what happened."""
WAIT_AFTER_FAULT_S: Final = 60.0
"""After a consumer failed at an event, the events of its printer wait this long."""
WAIT_FOR_STORE_S: Final = 5.0
"""After the store took no change, events whose picture was taken wait this long: so printers are
asked for no more pictures than that, and the events go out before the lease ends."""
KEPT_FOR: Final = timedelta(days=7)
"""How far back a stream can be resumed."""
PRUNED_AT_ONCE: Final = 1000

TakePicture = Callable[[StoredEvent], Awaitable[str | None]]
"""Takes a picture of the printer and stores it; returns its id, or None. An exception counts as
None.

It is called for the newest of a printer's waiting events, and all of them get the picture.
"""


class Consumer(Protocol):
    """Writes down what follows from an event: a delivery, a notification, a line of history."""

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        """Write down what follows from the event, and await nothing but the records.

        Called once for each event. If it raises, the event stays unmarked and comes again.
        """
        ...


class Fanout:
    """One pass at a time: `fan_out_due`.

    picture: None where no pictures are taken. is_alone: there is no other worker, so nothing has to
    be leased.
    """

    def __init__(
        self,
        core: Core,
        consumers: Sequence[Consumer],
        picture: TakePicture | None = None,
        *,
        is_alone: bool = False,
        picture_within_s: float = PICTURE_WITHIN_S,
        wait_after_fault_s: float = WAIT_AFTER_FAULT_S,
        wait_for_store_s: float = WAIT_FOR_STORE_S,
    ) -> None:
        self._core = core
        self._consumers = tuple(consumers)
        self._picture = picture
        self._picture_within_s = picture_within_s
        self._wait_after_fault_s = wait_after_fault_s
        self._wait_for_store_s = wait_for_store_s
        self._is_alone = is_alone
        self._token = new_record_id(core.token_bytes)
        self._taking: dict[str, asyncio.Task[None]] = {}  # by printer, whose events stay in order
        self._claiming: asyncio.Task[PendingEvents] | None = None  # the last claim
        self._ready: deque[list[StoredEvent]] = deque()  # with their picture, each of one printer
        self._handing_out = asyncio.Lock()
        self._waiting: dict[str, float] = {}  # by printer: until when it waits, in the loop's time
        self._has_begun = False
        self._on_freed: Callable[[], None] = lambda: None

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Have this called when pictures of a printer were taken: more of its events may wait."""
        self._on_freed = callback

    async def fan_out_due(self) -> int:
        """Hand out the waiting events; return how many, except those whose picture is being taken.

        Raises StoreUnavailable.
        """
        count = 0
        await self._begin_anew()
        while (awaiting := await self._due()).events or awaiting.damaged:
            due, plain = awaiting.events, list[StoredEvent]()
            pictured: dict[str, list[StoredEvent]] = {}
            if awaiting.damaged:
                await self._put_aside(awaiting.damaged)
            for printer_id, events in _by_printer(due).items():
                if self._wants_picture(events[-1], len(self._taking) + len(pictured)):
                    pictured[printer_id] = events
                else:
                    plain += events
            if plain:
                async with self._handing_out:
                    await self._hand_out(plain)
            if pictured:
                await self._begin_pictures(pictured)
            count += len(due)
        return count

    async def settled(self) -> None:
        """Wait until no picture is being taken."""
        while self._taking:
            await asyncio.gather(*self._taking.values(), return_exceptions=True)

    async def close(self) -> None:
        """Cancel what is under way; another worker, or the next start, hands it out."""
        for task in list(self._taking.values()):
            task.cancel()
        await self.settled()
        if self._claiming is None:
            return
        # The pass that made the last claim may have been cancelled, and the claim is stored still.
        await asyncio.gather(self._claiming, return_exceptions=True)
        try:
            await self._core.store.write(
                lambda records: records.leases.release(LeaseKind.EVENTS, self._token)
            )
        except StoreUnavailable as error:
            log.warning("events that are leased wait until their leases end: %s", error)

    async def prune(self) -> None:
        """Delete events too old to be resumed from, and old leases. Raises StoreUnavailable."""
        before = self._core.clock.now() - KEPT_FOR
        await self._core.store.write(lambda records: records.leases.forget(before))
        while await self._core.store.write(
            lambda records: records.events.prune(before, PRUNED_AT_ONCE)
        ):
            pass

    # --- helpers ----------------------------------------------------------------------------------

    async def _begin_anew(self) -> None:
        """Take up again what an earlier process could not read; this one may be able to."""
        if not self._has_begun:
            await self._core.store.write(lambda records: records.events.take_up_again())
            self._has_begun = True

    async def _due(self) -> PendingEvents:
        now = asyncio.get_running_loop().time()
        self._waiting = {one: until for one, until in self._waiting.items() if until > now}
        busy, claim = [*self._taking, *self._waiting], self._claim()
        return await self._core.store.read(
            lambda records: records.events.awaiting_fan_out(
                AT_ONCE, except_printers=busy, claim=claim
            )
        )

    def _claim(self) -> Claim | None:
        if self._is_alone:
            return None
        at = self._core.clock.now()
        return Claim(token=self._token, at=at, until=at + LEASED_FOR, at_most=PICTURES_AT_ONCE)

    async def _put_aside(self, damaged: Sequence[DamagedEvent]) -> None:
        """Set damaged events aside and log each once; they are kept, and no consumer gets them."""
        seqs = [event.seq for event in damaged]
        put = await self._core.store.write(lambda records: records.events.set_aside(seqs))
        for event in damaged:
            if event.seq in put:
                log.error(
                    "event %s of printer %s can't be read (%s): it is set aside and not delivered",
                    event.event_id,
                    event.printer_id,
                    event.why,
                )

    def _wants_picture(self, newest: StoredEvent, taking: int) -> bool:
        """taking: how many printers' pictures are taken already."""
        if self._picture is None or taking >= PICTURES_AT_ONCE:
            return False
        age_s = self._core.clock.now().timestamp() - newest.event.event_time_sec
        return age_s <= PICTURE_FRESH_FOR.total_seconds()

    async def _begin_pictures(self, events: Mapping[str, list[StoredEvent]]) -> None:
        """Take a picture of each of these printers, except those that another worker has leased."""
        claim = self._claim()
        if claim is not None:
            self._claiming = asyncio.create_task(
                self._core.store.write(
                    lambda records: _claim_events(records, events, claim), may_overlap=True
                )
            )
            events = _by_printer((await asyncio.shield(self._claiming)).events)
        for printer_id, of_printer in events.items():
            self._begin(printer_id, of_printer)

    def _begin(self, printer_id: str, events: list[StoredEvent]) -> None:
        task = asyncio.create_task(self._with_picture(events))
        self._taking[printer_id] = task
        task.add_done_callback(lambda _: self._free(printer_id))

    def _free(self, printer_id: str) -> None:
        del self._taking[printer_id]
        self._on_freed()

    async def _with_picture(self, events: list[StoredEvent]) -> None:
        """Take one picture for all of these events of a printer, which happened at one moment."""
        snapshot_id = await self._take_picture(events[-1])
        self._ready.append([replace(stored, snapshot_id=snapshot_id) for stored in events])
        async with self._handing_out:
            # Whoever came before may have handed them out with its own.
            if together := self._next_ready():
                await self._hand_out_or_wait(together)

    def _next_ready(self) -> list[StoredEvent]:
        """Take what waits to be handed out, of all printers.

        Together, since units of work side by side would conflict: each takes the next positions.
        """
        together: list[StoredEvent] = []
        while self._ready and len(together) < AT_ONCE:
            together += self._ready.popleft()
        return together

    async def _hand_out_or_wait(self, events: Sequence[StoredEvent]) -> None:
        try:
            await self._hand_out(events)
        except StoreUnavailable as error:
            log.warning(
                "%d events could not be delivered yet and are retried: %s", len(events), error
            )
            for stored in events:
                self._wait_with(stored.printer_id, self._wait_for_store_s)

    async def _take_picture(self, stored: StoredEvent) -> str | None:
        assert self._picture is not None
        try:
            async with asyncio.timeout(self._picture_within_s):
                return await self._picture(stored)
        except TimeoutError:
            return None
        except Exception:
            log.exception("no picture for an event of printer %s", stored.printer_id)
            return None

    async def _hand_out(self, events: Sequence[StoredEvent]) -> None:
        """Hand out all at once; if a consumer fails, each alone, so that one harms no other."""
        try:
            await self._core.store.write(lambda records: self._owe(records, events))
        except StoreUnavailable:
            raise
        except Exception:
            if len(events) > 1:
                for stored in events:
                    # later events of the printer wait too, so that the order is kept
                    if stored.printer_id not in self._waiting:
                        await self._hand_out([stored])
                return
            [stored] = events
            log.exception("event %s can't be delivered", stored.event.event_id)
            self._wait_with(stored.printer_id, self._wait_after_fault_s)

    async def _owe(self, records: Records, events: Sequence[StoredEvent]) -> None:
        marked = await records.events.mark_fanned_out(
            {stored.seq: stored.snapshot_id for stored in events}, self._claim()
        )
        leased = self._taking.keys() & {stored.printer_id for stored in events}
        if leased and not self._is_alone:
            await records.leases.release(LeaseKind.EVENTS, self._token, leased)
        handed_out = [stored for stored in events if stored.seq in marked]
        for stored in handed_out:
            for consumer in self._consumers:
                await consumer.consume(records, stored)
        now = self._core.clock.now()
        for account_id in {stored.account_id for stored in handed_out}:
            await records.notify(Notice(Topic.EVENT, account_id), now)

    def _wait_with(self, printer_id: str, wait_s: float) -> None:
        self._waiting[printer_id] = asyncio.get_running_loop().time() + wait_s


async def _claim_events(
    records: Records, printer_ids: Collection[str], claim: Claim
) -> PendingEvents:
    """Lease the events of these printers; return those that wait by now."""
    leased = await records.leases.claim(LeaseKind.EVENTS, printer_ids, claim)
    # Since they were read, another worker may have handed them out.
    found = await records.events.awaiting_fan_out(AT_ONCE, of_printers=leased)
    without = leased - {stored.printer_id for stored in found.events}
    if without:
        await records.leases.release(LeaseKind.EVENTS, claim.token, without)
    return found


def _by_printer(events: Sequence[StoredEvent]) -> dict[str, list[StoredEvent]]:
    found: dict[str, list[StoredEvent]] = {}
    for stored in events:
        found.setdefault(stored.printer_id, []).append(stored)
    return found
