"""Runs units of work side by side, as if one had followed the other.

A unit is a serializable transaction: PostgreSQL ends one of two that would have come out otherwise
one after the other, and that one is run again. So a unit that reads, decides and writes needs no
locks, as in SQLite, where there is one writer.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from printreach.ports import StoreUnavailable
from printreach.store.async_engine import AsyncConnection, AsyncEngine
from printreach.store.engine import reason_of
from printreach.store.postgresql import OF_WRITERS, is_conflict, is_unavailable, may_be_conflict

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]

MAX_TRIES: Final = 25
"""Of one unit. Those after the first run one at a time in this process."""
MAX_DOUBTFUL_TRIES: Final = 3
"""Of a unit that may be wrong by itself, or whose server may be down."""
_PAUSE_S: Final = 0.002
"""Times the number of tries: others commit meanwhile."""


class _ConnectionLost(SQLAlchemyError):
    """The connection was lost before the commit, so nothing is stored."""


class PostgresqlWriter:
    """Owns the units of work of this process."""

    def __init__(self, engine: Engine) -> None:
        self._isolated = AsyncEngine(engine.execution_options(isolation_level="SERIALIZABLE"))
        self._overlapping = AsyncEngine(engine.execution_options(isolation_level="READ COMMITTED"))
        self._slots = asyncio.Semaphore(OF_WRITERS)
        self._again = asyncio.Lock()
        self._running: set[asyncio.Task[Any]] = set()
        self._is_open = False

    def start(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        """Finish what was begun."""
        self._is_open = False
        while self._running:
            await asyncio.wait(self._running)

    async def write(self, work: Work[T], *, may_overlap: bool = False) -> T:
        """Run the work and return its result once it is stored, also if it was cancelled since."""
        if not self._is_open:
            raise StoreUnavailable("The store is closed.")
        engine = self._overlapping if may_overlap else self._isolated
        # A caller that gives up leaves no transaction half done.
        task = asyncio.create_task(self._run(engine, work))
        self._running.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # who waited for it may have given up

    async def _run(self, engine: AsyncEngine, work: Work[T]) -> T:
        try:
            async with self._slots:
                try:
                    return await _run_once(engine, work)
                except SQLAlchemyError as error:
                    if not _may_run_again(error, 1):
                        raise
            async with self._again:
                return await self._run_again(engine, work)
        except (SQLAlchemyError, OSError) as error:
            if not (is_unavailable(error) or is_conflict(error)):
                raise
            reason = reason_of(error)
            raise StoreUnavailable(f"The database did not take a change: {reason}.") from error

    async def _run_again(self, engine: AsyncEngine, work: Work[T]) -> T:
        tries = 1
        while True:
            await asyncio.sleep(tries * _PAUSE_S)
            tries += 1
            try:
                async with self._slots:
                    return await _run_once(engine, work)
            except SQLAlchemyError as error:
                if not _may_run_again(error, tries):
                    raise


async def _run_once(engine: AsyncEngine, work: Work[T]) -> T:
    async with engine.begin() as connection:
        try:
            return await work(connection)
        except DBAPIError as error:
            if error.connection_invalidated:
                raise _ConnectionLost(reason_of(error)) from error
            raise


def _may_run_again(error: SQLAlchemyError, tries: int) -> bool:
    if isinstance(error, _ConnectionLost) or may_be_conflict(error):
        return tries < MAX_DOUBTFUL_TRIES
    return is_conflict(error) and tries < MAX_TRIES
