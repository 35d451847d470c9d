"""The one task of a process that writes: one transaction for all waiting units of work.

A commit waits for the disk. While one does, others queue up, and the next commit carries them all:
measured, ten thousand rows a second instead of one thousand. Callers are answered after it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from printreach.ports import StoreUnavailable
from printreach.store.async_engine import AsyncConnection, AsyncEngine
from printreach.store.engine import is_in_transaction, reason_of, savepoint

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]

GROUP_SIZE: Final = 128
"""Units of work in one commit; more would keep other processes waiting for milliseconds."""
QUEUE_SIZE: Final = 1024
"""Units that wait. Beyond that callers wait for a place; none is refused."""


@dataclass(eq=False, slots=True)
class _Unit:
    """One caller's work. Its result is withheld until the commit."""

    work: Work[Any]  # the queue holds units of any result; `write` restores the type
    answer: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = field(default=None)

    async def run(self, connection: AsyncConnection) -> None:
        """Run it in a savepoint, so that its failure does not undo the work of others."""
        try:
            with savepoint(connection):
                await self._do(connection)
        except Exception as error:
            self.error = self.error or error
            # On a full disk and the like SQLite rolls everything back by itself, including earlier
            # work of this transaction, and would then commit statement by statement.
            if not is_in_transaction(connection):
                # Not the savepoint's error, since it is gone by then.
                raise self.error from error

    async def run_alone(self, connection: AsyncConnection) -> None:
        """Run it in a transaction of its own, which is undone with it: a savepoint costs
        hand-overs."""
        try:
            await self._do(connection)
        except Exception:
            if not is_in_transaction(connection):
                raise
            await connection.rollback()

    async def _do(self, connection: AsyncConnection) -> None:
        try:
            self.result = await self.work(connection)
        except Exception as error:
            self.error = error
            raise

    def deliver(self, failure: Exception | None) -> None:
        """Answer the caller. failure: why the whole group failed, if it did."""
        if self.answer.done():  # the caller was cancelled and waits no more
            return
        error = failure or self.error
        if error is None:
            self.answer.set_result(self.result)
        else:
            self.answer.set_exception(error)


class Writer:
    """Owns the writing connection of this process. Start it, write, close it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._queue: asyncio.Queue[_Unit | None] = asyncio.Queue(QUEUE_SIZE)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="store-writer")

    async def close(self) -> None:
        """Finish what is queued, then close the connection."""
        task, self._task = self._task, None
        if task is not None:
            await self._queue.put(None)
            await task
        await self._engine.dispose()

    async def write(self, work: Work[T], *, may_overlap: bool = False) -> T:  # noqa: ARG002
        """Run the work and return its result once it is on the disk.

        may_overlap: of no effect, since one unit follows the other.
        """
        if self._task is None or self._task.done():
            raise StoreUnavailable("The store is closed.")
        unit = _Unit(work, asyncio.get_running_loop().create_future())
        await self._queue.put(unit)
        result: T = await unit.answer
        return result

    async def _run(self) -> None:
        open_for_more = True
        try:
            while open_for_more:
                group, open_for_more = await self._next_group()
                await self._commit(group)
        finally:
            self._refuse_latecomers()

    async def _next_group(self) -> tuple[list[_Unit], bool]:
        """Return all units that wait now, at least one; and whether more may follow."""
        group: list[_Unit] = []
        unit = await self._queue.get()
        while unit is not None:
            if not unit.answer.done():
                group.append(unit)
            if len(group) >= GROUP_SIZE or self._queue.empty():
                return group, True
            unit = self._queue.get_nowait()
        return group, False

    async def _commit(self, group: list[_Unit]) -> None:
        if not group:
            return
        failure: Exception | None = StoreUnavailable("The store is being closed.")
        try:
            async with self._engine.begin() as connection:
                if len(group) == 1:
                    await group[0].run_alone(connection)
                else:
                    for unit in group:
                        await unit.run(connection)
            failure = None
        except Exception as error:  # noqa: BLE001 - those who wait get it, and may try again
            failure = StoreUnavailable(f"The database did not take a change: {reason_of(error)}.")
            failure.__cause__ = error
        finally:
            for unit in group:
                unit.deliver(failure)

    def _refuse_latecomers(self) -> None:
        while not self._queue.empty():
            unit = self._queue.get_nowait()
            if unit is not None:
                unit.deliver(StoreUnavailable("The store is closed."))
