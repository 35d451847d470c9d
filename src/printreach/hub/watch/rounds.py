"""Claims the prints that are due for a look, each with a lease, and looks at them concurrently.

Any number of workers may do this. Prints whose last look was slow or failed are claimed apart and a
few at a time, so they never take the slots of the others. Accounts take turns, so none takes the
slots of another.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from printreach.hub.watch.fair_semaphore import FairSemaphore
from printreach.hub.watch.look import LookAtPrint
from printreach.hub.watch.parts import WatchParts
from printreach.ports import StoreUnavailable
from printreach.rules.credentials import TokenBytes, new_record_id
from printreach.rules.snapshots import KEPT_FOR
from printreach.rules.watch_memory import WatchedPrint
from printreach.rules.watch_turns import min_free_slots, slots_of, slots_per_account_of

log = logging.getLogger(__name__)

LOOK_WITHIN_S: Final = 65.0
"""More than the sum of all timeouts of a look and of a pause."""
LEASE: Final = timedelta(seconds=70)
"""If a look takes longer, its worker has died."""
STOP_WITHIN_S: Final = 5.0
PRUNED_AT_ONCE: Final = 1000
"""Rows deleted in one unit of work, so that other writers get their turn."""
JUDGED_FOR: Final = timedelta(days=180)
"""An owner's answer halves in weight every two weeks, so an older one has no effect."""


class WatchRounds:
    """One pass at a time: `look_due`."""

    def __init__(self, parts: WatchParts, token_bytes: TokenBytes) -> None:
        self._parts = parts
        self._token_bytes = token_bytes
        self._scoring = FairSemaphore()
        # The looks under way and their prints, by whether the print is degraded.
        self._running: dict[bool, dict[asyncio.Task[None], WatchedPrint]] = {False: {}, True: {}}
        self._on_freed: Callable[[], None] = lambda: None
        self._is_stopping = False

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Have this called when a look has ended: more may be due."""
        self._on_freed = callback

    async def look_due(self) -> int:
        """Begin a look at each print that is due; return how many. Raises StoreUnavailable."""
        count = 0
        for degraded in self._running:
            for watched in await self._claim(degraded=degraded):
                self._begin(watched, degraded=degraded)
                count += 1
        return count

    async def settled(self) -> None:
        """Wait until no look is under way."""
        while tasks := [task for looks in self._running.values() for task in looks]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Begin no more looks; wait for those under way, and cancel what remains after a while."""
        self._is_stopping = True
        tasks = [task for looks in self._running.values() for task in looks]
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_WITHIN_S)
        for task in tasks:
            task.cancel()
        await self.settled()

    async def tidy(self) -> None:
        """Delete what is too old. Raises StoreUnavailable."""
        at = self._parts.clock.now()
        while await self._parts.store.write(
            lambda records: records.watches.forget(at - KEPT_FOR, at - JUDGED_FOR, PRUNED_AT_ONCE)
        ):
            pass

    async def _claim(self, *, degraded: bool) -> list[WatchedPrint]:
        at = self._parts.clock.now()
        free = slots_of(degraded=degraded) - len(self._running[degraded])
        if free < min_free_slots(degraded=degraded) or self._is_stopping:
            return []
        has_due = await self._parts.store.read(
            lambda records: records.watches.has_due(at, degraded=degraded)
        )
        if not has_due:
            return []  # a read does not wait for the writer
        token = new_record_id(self._token_bytes)
        # After a clock jump, claims may have lapsed whose looks still run here, and a look may be
        # about to pause its print: these printers are not claimed again.
        busy = [one.printer_id for looks in self._running.values() for one in looks.values()]
        return await self._parts.store.write(
            lambda records: records.watches.claim(
                *(token, at, at + LEASE, free),
                degraded=degraded,
                of_account=slots_per_account_of(degraded=degraded),
                exclude=busy,
            )
        )

    def _begin(self, watched: WatchedPrint, *, degraded: bool) -> None:
        looks = self._running[degraded]
        task = asyncio.create_task(self._look(watched))
        looks[task] = watched
        task.add_done_callback(lambda done: self._ended(looks, done))

    def _share_of(self, account_id: str) -> float:
        """Return the part of its own slots that an account uses, 0 to 1."""
        looks = sum(one.account_id == account_id for one in self._running[False].values())
        return looks / slots_per_account_of(degraded=False)

    async def _look(self, watched: WatchedPrint) -> None:
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):
                await LookAtPrint(self._parts, watched, self._scoring, self._share_of).run()
        except StoreUnavailable as error:
            log.warning("printer %s is looked at later: %s", watched.printer_id, error)
        except TimeoutError:
            log.warning("a look at printer %s took too long", watched.printer_id)
        except Exception:
            log.exception("a look at printer %s failed", watched.printer_id)

    def _ended(
        self, looks: dict[asyncio.Task[None], WatchedPrint], task: asyncio.Task[None]
    ) -> None:
        looks.pop(task, None)
        self._on_freed()
