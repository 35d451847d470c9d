"""A queue in the store whose items are claimed with leases, each handled by a task of its own.

Any number of workers may serve it. An item stays in the store until its handler has settled it, so
none is lost in a crash: the lease runs out, and the item is claimed again. While it is leased no
other worker gets it, and the same worker does not, even if the clock jumps past the lease. What one
worker of several does for all has no items, and is leased by its name.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Generic, TypeVar

from printreach.hub.core import Core
from printreach.ports import Unavailable
from printreach.rules.connections.credentials import new_record_id
from printreach.store.leases import Claim, LeaseKind
from printreach.store.store import Records

log = logging.getLogger(__name__)

Item = TypeVar("Item")


@dataclass(kw_only=True)
class LeasedQueue(ABC, Generic[Item]):
    """One pass at a time: `begin_due`.

    item_name: how the log calls an item. lease: longer than a handler goes without renewing it.
    at_once: items under way. batch: items in one claim. stop_within_s: what ends by then after
    close() is not handled twice. claims_may_overlap: a claim passes over what another one is
    claiming, so they needn't be kept apart: may_overlap of Store.write.
    """

    item_name: ClassVar[str]
    lease: ClassVar[timedelta]
    at_once: ClassVar[int]
    batch: ClassVar[int]
    stop_within_s: ClassVar[float]
    claims_may_overlap: ClassVar[bool] = False

    core: Core
    stopping: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _running: dict[asyncio.Task[None], Item] = field(init=False, default_factory=dict)
    _on_freed: Callable[[], None] = field(init=False, default_factory=lambda: _do_nothing)

    @abstractmethod
    def key(self, item: Item) -> str:
        """Return what identifies the item; one with the same key is not claimed meanwhile."""

    @abstractmethod
    async def has_due(self, records: Records, at: datetime) -> bool:
        """Return whether there may be something to claim."""

    @abstractmethod
    async def claim(self, records: Records, claim: Claim) -> Sequence[Item]:
        """Claim items that are due, at most so many."""

    @abstractmethod
    async def handle(self, item: Item) -> None:
        """Handle the item, then settle or release it. If it raises, the lease runs out."""

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Have this called when an item has been handled: more may be due."""
        self._on_freed = callback

    async def begin_due(self) -> int:
        """Begin the items that are due, as far as there are slots; return how many.

        Raises StoreUnavailable.
        """
        begun = 0
        while (at_most := min(self.batch, self.at_once - len(self._running))) > 0:
            items = await self._claim(at_most)
            for item in items:
                self._begin(item)
            begun += len(items)
            if len(items) < at_most:
                break
        return begun

    async def settled(self) -> None:
        """Wait until no item is under way."""
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        """Begin nothing more; wait for what is under way, and cancel what remains after a while."""
        self.stopping.set()
        if self._running:
            await asyncio.wait(self._running, timeout=self.stop_within_s)
        for task in list(self._running):
            task.cancel()
        await self.settled()

    # --- helpers ----------------------------------------------------------------------------------

    async def _claim(self, at_most: int) -> Sequence[Item]:
        at = self.core.clock.now()
        # A read does not wait for the writer, and most passes find nothing.
        if self.stopping.is_set() or not await self.core.store.read(
            lambda records: self.has_due(records, at)
        ):
            return []
        claim = Claim(
            token=new_record_id(self.core.token_bytes),
            at=at,
            until=at + self.lease,
            at_most=at_most,
            exclude=[self.key(item) for item in self._running.values()],
        )

        async def claim_due(records: Records) -> Sequence[Item]:
            # It may have waited for other writers.
            return [] if self.stopping.is_set() else await self.claim(records, claim)

        items = await self.core.store.write(claim_due, may_overlap=self.claims_may_overlap)
        # What was claimed while the queue closed is left to its lease: nothing of it was begun.
        return [] if self.stopping.is_set() else items

    def _begin(self, item: Item) -> None:
        task = asyncio.create_task(self._handle(item))
        self._running[task] = item
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._on_freed()

    async def _handle(self, item: Item) -> None:
        try:
            await self.handle(item)
        except Unavailable as error:
            log.warning("%s %s is handled later: %s", self.item_name, self.key(item), error)
        except Exception:
            log.exception("%s %s could not be handled", self.item_name, self.key(item))


def _do_nothing() -> None:
    pass


@dataclass(kw_only=True, slots=True)
class TaskLease:
    """A worker's own view of it.

    name: of the work. lasts: how long after a claim. until: when this worker's last claim ends.
    is_alone: there is no other worker, so nothing is claimed.
    """

    core: Core
    name: str
    lasts: timedelta
    is_alone: bool = False
    until: datetime | None = field(init=False, default=None)
    _token: str = field(init=False)

    def __post_init__(self) -> None:
        self._token = new_record_id(self.core.token_bytes)

    async def claim(self) -> bool:
        """Claim the work, or renew the claim; False while another worker has it.

        Raises StoreUnavailable.
        """
        if self.is_alone:
            return True
        at, store = self.core.clock.now(), self.core.store
        claim = Claim(token=self._token, at=at, until=at + self.lasts, at_most=1)
        # A read does not wait for the writer, and most workers find it claimed.
        if await store.read(
            lambda records: records.leases.is_held_by_other(LeaseKind.TASK, self.name, claim)
        ):
            self.until = None
            return False
        claimed = await store.write(
            lambda records: records.leases.claim(LeaseKind.TASK, [self.name], claim),
            may_overlap=True,
        )
        self.until = claim.until if self.name in claimed else None
        return self.name in claimed

    async def release(self) -> None:
        """Leave the work to another worker at once. Raises StoreUnavailable."""
        self.until = None
        if not self.is_alone:
            await self.core.store.write(
                lambda records: records.leases.release(LeaseKind.TASK, self._token, [self.name]),
                may_overlap=True,
            )
