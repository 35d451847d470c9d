"""SQLAlchemy's engine and connection for coroutines.

SQLAlchemy has such ones in `sqlalchemy.ext.asyncio`, which imports its ORM too: 7 MB that nothing
here uses. Each call runs in a greenlet, which the driver leaves while it waits for its thread.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, TypeVarTuple, overload

from sqlalchemy import Connection, CursorResult, Engine, Executable, ScalarResult
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlalchemy.util import greenlet_spawn

T = TypeVar("T")
Columns = TypeVarTuple("Columns")

Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""The values of a statement's parameters; a sequence runs the statement for each of its items."""


class AsyncConnection:
    """A connection of AsyncEngine. sync_connection: the one that its calls are made on."""

    def __init__(self, sync_connection: Connection) -> None:
        self.sync_connection = sync_connection

    @overload
    async def execute(
        self, statement: TypedReturnsRows[*Columns], parameters: Parameters = None
    ) -> CursorResult[*Columns]: ...
    @overload
    async def execute(
        self, statement: Executable, parameters: Parameters = None
    ) -> CursorResult[*tuple[Any, ...]]: ...
    async def execute(
        self, statement: Executable, parameters: Parameters = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run the statement; its result is read to the end."""
        return await greenlet_spawn(self.sync_connection.execute, statement, parameters)

    @overload
    async def scalar(self, statement: TypedReturnsRows[T]) -> T | None: ...
    @overload
    async def scalar(self, statement: Executable) -> Any: ...
    async def scalar(self, statement: Executable) -> Any:
        """Return the first column of the first row; None if there is no row."""
        return (await self.execute(statement)).scalar()

    @overload
    async def scalars(self, statement: TypedReturnsRows[T]) -> ScalarResult[T]: ...
    @overload
    async def scalars(self, statement: Executable) -> ScalarResult[Any]: ...
    async def scalars(self, statement: Executable) -> ScalarResult[Any]:
        """Return the first column of every row."""
        return (await self.execute(statement)).scalars()

    async def rollback(self) -> None:
        await greenlet_spawn(self.sync_connection.rollback)

    async def close(self) -> None:
        """Give the connection back; a transaction that is open is rolled back."""
        await greenlet_spawn(self.sync_connection.close)


class AsyncEngine:
    """A pool of connections. sync_engine: with a driver for coroutines."""

    def __init__(self, sync_engine: Engine) -> None:
        self.sync_engine = sync_engine

    async def connect(self) -> AsyncConnection:
        """Return a connection, which the caller closes."""
        return AsyncConnection(await greenlet_spawn(self.sync_engine.connect))

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction, which is committed at the end of the block or rolled back if it
        raises.
        """
        connection = await self.connect()
        try:
            transaction = await greenlet_spawn(connection.sync_connection.begin)
            try:
                yield connection
            except BaseException:
                await greenlet_spawn(transaction.__exit__, *sys.exc_info())
                raise
            await greenlet_spawn(transaction.__exit__, None, None, None)
        finally:
            await _finish(connection.close())

    async def dispose(self) -> None:
        """Close all connections that are not in use."""
        await greenlet_spawn(self.sync_engine.dispose)


async def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Await it to its end, also if the caller is cancelled meanwhile.

    Otherwise it would go on in the background, and return a connection to a closed pool.
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
