"""Claims the prints that are due for a look, each with a lease, and looks at them concurrently.

Any number of workers may do this. Prints whose last look was slow or failed are claimed apart and a
few at a time, so they never take the slots of the others. Accounts take turns, so none takes the
slots of another.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import ClassVar, Final

from printreach.hub.leased_queue import LeasedQueue
from printreach.hub.watch import WatchParts
from printreach.hub.watch.look import LookAtPrint
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.rules.prints.snapshots import KEPT_FOR
from printreach.rules.turns import TurnRule
from printreach.rules.watch.memory import WatchedPrint
from printreach.store.leases import Claim
from printreach.store.store import Records

log = logging.getLogger(__name__)

DEGRADED: Final = True
LOOKS_AT_ONCE: Final = {not DEGRADED: 40, DEGRADED: 8}
"""Looks under way in one process, by whether the last look was slow or failed; each may hold 8 MB.
"""
LOOK_TURNS: Final = {not DEGRADED: TurnRule(of_account=30), DEGRADED: TurnRule(of_account=6)}
"""One account may take three quarters of the slots; the rest is left for others."""
SCORED_AT_ONCE: Final = 16
"""Half of the images that may wait for the threads of this process. Beyond that, all prints are
looked at less often, and a farm of one account must not cause that."""
LOOK_WITHIN_S: Final = 65.0
"""More than the sum of all timeouts of a look and of a pause."""
PRUNED_AT_ONCE: Final = 1000
"""Rows deleted in one unit of work, so that other writers get their turn."""
JUDGED_FOR: Final = timedelta(days=180)
"""An owner's answer halves in weight every two weeks, so an older one has no effect."""


@dataclass(kw_only=True)
class WatchRounds(LeasedQueue[WatchedPrint]):
    """The queue of prints under watch. lease: if a look takes longer, its worker has died."""

    item_name: ClassVar[str] = "printer"
    lease: ClassVar[timedelta] = timedelta(seconds=70)
    at_once: ClassVar[int] = sum(LOOKS_AT_ONCE.values())
    batch: ClassVar[int] = at_once
    stop_within_s: ClassVar[float] = 5.0

    parts: WatchParts
    _scoring_slots: FairSemaphore = field(
        init=False, default_factory=lambda: FairSemaphore(SCORED_AT_ONCE)
    )

    def key(self, item: WatchedPrint) -> str:
        return item.printer_id

    async def has_due(self, records: Records, at: datetime) -> bool:
        for degraded in self._free_slots():
            if await records.watches.has_due(at, degraded=degraded):
                return True
        return False

    async def claim(self, records: Records, claim: Claim) -> Sequence[WatchedPrint]:
        claimed: list[WatchedPrint] = []
        for degraded, free in self._free_slots().items():
            of_kind = replace(claim, at_most=free)
            claimed += await records.watches.claim(of_kind, LOOK_TURNS[degraded], degraded=degraded)
        return claimed

    async def handle(self, item: WatchedPrint) -> None:
        """Look once at the print."""
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):
                await LookAtPrint(self.parts, item, self._scoring_slots, self._share_of).run()
        except TimeoutError:
            log.warning("a look at printer %s took too long", item.printer_id)

    async def tidy(self) -> None:
        """Delete what is too old. Raises StoreUnavailable."""
        at = self.core.clock.now()
        while await self.core.store.write(
            lambda records: records.watches.forget(at - KEPT_FOR, at - JUDGED_FOR, PRUNED_AT_ONCE)
        ):
            pass

    def _free_slots(self) -> Mapping[bool, int]:
        """Return the free slots by degraded, where there are enough: a claim costs the same for one
        print as for several."""
        looks = Counter(watched.degraded for watched in self._running.values())
        free = {degraded: slots - looks[degraded] for degraded, slots in LOOKS_AT_ONCE.items()}
        return {kind: slots for kind, slots in free.items() if slots >= LOOKS_AT_ONCE[kind] // 8}

    def _share_of(self, account_id: str) -> float:
        """Return the part of its own slots that an account uses, 0 to 1."""
        looks = [watched for watched in self._running.values() if watched.account_id == account_id]
        return sum(not watched.degraded for watched in looks) / LOOK_TURNS[not DEGRADED].of_account
