"""Prints that are due are looked at: claimed by a lease, each beside the others.

Any number of workers may do this. What is slow, or fails, is claimed apart and a few at a time, so
it never takes the room of the rest; and turns go by account, so no account takes that of others.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from printreach.hub.watch.look import LookAtPrint
from printreach.hub.watch.parts import WatchParts
from printreach.hub.watch.room import WatchRoom
from printreach.ports import StoreUnavailable
from printreach.ports.watching import WatchedPrint
from printreach.rules.credentials import TokenBytes, new_record_id
from printreach.rules.snapshots import KEPT_FOR
from printreach.rules.watch_turns import least_room, room_of, share_of

log = logging.getLogger(__name__)

LOOK_WITHIN_S: Final = 65.0
"""Longer than all time limits of a look and of a pause together."""
LEASE: Final = timedelta(seconds=70)
"""A look that took longer belonged to a worker that died."""
STOP_WITHIN_S: Final = 5.0
PRUNED_AT_ONCE: Final = 1000
"""Others want to write, too."""
JUDGED_FOR: Final = timedelta(days=180)
"""By then an answer says nothing any more: it counts half as much each two weeks."""


class WatchRounds:
    """One pass at a time: `look_due`."""

    def __init__(self, parts: WatchParts, token_bytes: TokenBytes) -> None:
        self._parts = parts
        self._token_bytes = token_bytes
        self._room = WatchRoom()
        # By whether they falter: the looks under way, and at what.
        self._running: dict[bool, dict[asyncio.Task[None], WatchedPrint]] = {False: {}, True: {}}
        self._on_freed: Callable[[], None] = lambda: None
        self._is_stopping = False

    def on_freed(self, callback: Callable[[], None]) -> None:
        """Call this when a look has ended: more may be due."""
        self._on_freed = callback

    async def look_due(self) -> int:
        """Begin to look at what is due; how many prints. Raises StoreUnavailable."""
        count = 0
        for falters in self._running:
            for watched in await self._claim(falters=falters):
                self._begin(watched, falters=falters)
                count += 1
        return count

    async def settled(self) -> None:
        """Until nothing is looked at."""
        while tasks := [task for lane in self._running.values() for task in lane]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Begin no more looks, and end those under way as they would."""
        self._is_stopping = True
        tasks = [task for lane in self._running.values() for task in lane]
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_WITHIN_S)
        for task in tasks:
            task.cancel()
        await self.settled()

    async def tidy(self) -> None:
        """Forget what is too old. Raises StoreUnavailable."""
        at = self._parts.clock.now()
        while await self._parts.store.write(
            lambda records: records.watches.forget(at - KEPT_FOR, at - JUDGED_FOR, PRUNED_AT_ONCE)
        ):
            pass

    async def _claim(self, *, falters: bool) -> list[WatchedPrint]:
        at = self._parts.clock.now()
        room = room_of(falters=falters) - len(self._running[falters])
        if room < least_room(falters=falters) or self._is_stopping:
            return []
        has_due = await self._parts.store.read(
            lambda records: records.watches.has_due(at, falters=falters)
        )
        if not has_due:
            return []  # looking costs nobody a turn at writing
        token = new_record_id(self._token_bytes)
        # A clock that was set has claims lapse whose looks go on here, and may have paused a print.
        busy = [one.printer_id for lane in self._running.values() for one in lane.values()]
        return await self._parts.store.write(
            lambda records: records.watches.claim(
                *(token, at, at + LEASE, room),
                falters=falters,
                of_account=share_of(falters=falters),
                but=busy,
            )
        )

    def _begin(self, watched: WatchedPrint, *, falters: bool) -> None:
        lane = self._running[falters]
        task = asyncio.create_task(self._look(watched))
        lane[task] = watched
        task.add_done_callback(lambda done: self._ended(lane, done))

    def _crowd(self, account_id: str) -> float:
        """How much of its own share an account takes up, 0 to 1."""
        looks = sum(one.account_id == account_id for one in self._running[False].values())
        return looks / share_of(falters=False)

    async def _look(self, watched: WatchedPrint) -> None:
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):
                await LookAtPrint(self._parts, watched, self._room, self._crowd).run()
        except StoreUnavailable as error:
            log.warning("printer %s is looked at later: %s", watched.printer_id, error)
        except TimeoutError:
            log.warning("a look at printer %s took too long", watched.printer_id)
        except Exception:
            log.exception("a look at printer %s failed", watched.printer_id)

    def _ended(
        self, lane: dict[asyncio.Task[None], WatchedPrint], task: asyncio.Task[None]
    ) -> None:
        lane.pop(task, None)
        self._on_freed()
