"""Notices as rows, each written with the change that it reports: what every such bus does alike."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import RowMapping, delete, func, select

from printreach.backends.subscribers import Subscribers
from printreach.ports import Clock, Notice, StoreUnavailable, Topic
from printreach.store.store import Records, Store
from printreach.store.tables import notices

MEMORY: Final = timedelta(minutes=1)
"""Longer than any process uses what it knows without asking again, which is 30 s."""
PRUNE_EVERY_S: Final = 30.0
RETRY_S: Final = 1.0

_log = logging.getLogger(__name__)


class RowsBus(ABC):
    """ports.Bus, but for how it learns of new rows. Opened by opened()."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._subscribers = Subscribers()
        self._woken = asyncio.Event()
        self._newest = 0
        store.on_notices(lambda _given: self._woken.set())

    @property
    def is_available(self) -> bool:
        return self._store.is_available

    async def publish(self, notice: Notice) -> None:
        at = self._clock.now()
        await self._store.write(lambda records: records.notify(notice, at))

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        return self._subscribers.add(callback, wanted)

    async def skip_old(self) -> None:
        """Skip notices that were published before this process listened."""
        self._newest = await self._store.read(_newest_id)

    @abstractmethod
    async def watch(self) -> None:
        """Deliver notices published in any process to subscribers, until cancelled."""

    def _tell(self, row: RowMapping) -> None:
        # A command of a newer version may publish a topic that this one does not know.
        if row["topic"] in list(Topic):
            self._subscribers.tell(Notice(Topic(row["topic"]), row["key"]))

    async def _pause(self, longest_s: float) -> None:
        """Wait that long, or until this process has published something."""
        try:
            async with asyncio.timeout(longest_s):
                await self._woken.wait()
        except TimeoutError:
            pass  # the next poll is due
        self._woken.clear()


B = TypeVar("B", bound=RowsBus)


@asynccontextmanager
async def opened(bus: B) -> AsyncIterator[B]:
    """Have it deliver every notice published from now on, in any process."""
    await bus.skip_old()
    watching = asyncio.create_task(bus.watch())
    try:
        yield bus
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


@asynccontextmanager
async def pruned(store: Store, clock: Clock) -> AsyncIterator[None]:
    """Delete old notices now and then, whichever bus delivers them."""
    pruning = asyncio.create_task(_prune(store, clock))
    try:
        yield
    finally:
        pruning.cancel()
        await asyncio.gather(pruning, return_exceptions=True)


async def prune_now(store: Store, at: datetime) -> None:
    # A read does not wait for the writer, and most times there is nothing.
    oldest = await store.read_for_service(_oldest_time)
    if oldest is None or oldest >= at - MEMORY:
        return

    async def remove(records: Records) -> None:
        await records.connection.execute(delete(notices).where(notices.c.at < at - MEMORY))

    await store.write(remove)


async def _prune(store: Store, clock: Clock) -> None:
    while True:
        try:
            await prune_now(store, clock.now())
        except StoreUnavailable as error:
            _log.warning("could not delete old notices yet: %s", error)
        await asyncio.sleep(PRUNE_EVERY_S)


async def rows_after(
    records: Records, notice_id: int, others: Collection[int] = ()
) -> list[RowMapping]:
    """Return the notices after that one, and these others, in their order."""
    is_wanted = notices.c.notice_id > notice_id
    if others:
        is_wanted |= notices.c.notice_id.in_(others)
    found = select(notices).where(is_wanted).order_by(notices.c.notice_id)
    return list((await records.connection.execute(found)).mappings())


async def _oldest_time(records: Records) -> datetime | None:
    at: datetime | None = await records.connection.scalar(select(func.min(notices.c.at)))
    return at


async def _newest_id(records: Records) -> int:
    return await records.connection.scalar(select(func.max(notices.c.notice_id))) or 0
