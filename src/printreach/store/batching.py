"""SQLite on a thread, with one hand-over to that thread for each statement.

SQLAlchemy's own adapter of aiosqlite takes four: to make a cursor, to execute, to fetch, to close.
A hand-over costs more than most statements do, since two threads wait for each other twice.
Statements without a result, such as BEGIN and savepoints, take none at all: they are sent with the
next statement.
"""

import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

import aiosqlite
from sqlalchemy import Connection
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
    AsyncAdapt_aiosqlite_dbapi,
    SQLiteDialect_aiosqlite,
)
from sqlalchemy.util import EMPTY_DICT, await_

T = TypeVar("T")

DRIVER: Final = "turns"
"""The driver's name in a URL: sqlite+turns."""

_BEGIN: Final = "BEGIN IMMEDIATE"
# One name for all: to SQLite it means the innermost, and an identical statement is kept prepared.
_SAVE: Final = "SAVEPOINT unit"
_RELEASE: Final = "RELEASE unit"
_UNDO: Final = "ROLLBACK TO unit"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The result of a statement, with the attributes of a cursor."""

    description: Any
    rowcount: int
    lastrowid: int | None
    rows: Sequence[Any]
    arraysize: int = 1


class BatchingCursor(AsyncAdapt_aiosqlite_cursor):
    """One statement and its result; nothing of it stays open in the thread."""

    __slots__ = ()
    _awaitable_cursor_close = False

    def __init__(self, adapt_connection: "BatchingConnection") -> None:
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection
        self._soft_closed_memoized = EMPTY_DICT
        self._keep(_Answer(None, -1, None, ()))

    def execute(self, operation: Any, parameters: Any = None) -> None:
        given = () if parameters is None else parameters
        self._ask(lambda raw: _executed(raw.execute, operation, given))

    def executemany(self, operation: Any, seq_of_parameters: Any) -> None:
        self._ask(lambda raw: _executed(raw.executemany, operation, seq_of_parameters))

    def close(self) -> None:
        self._rows.clear()

    def _ask(self, work: Callable[[sqlite3.Connection], _Answer]) -> None:
        self._keep(cast("BatchingConnection", self._adapt_connection).turn(work))

    def _keep(self, answer: _Answer) -> None:
        self._cursor = cast("Any", answer)  # it has the attributes that the properties read
        self._rows = deque(answer.rows)


class BatchingConnection(AsyncAdapt_aiosqlite_connection):
    """Holds statements without a result back until the next hand-over."""

    __slots__ = ("_is_clean", "_put_off")
    _connection: Any

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self._put_off: list[str] = []
        self._is_clean = False  # nothing was done since the last commit

    @property
    def is_in_transaction(self) -> bool:
        """Return False also if SQLite has rolled everything back by itself."""
        return _BEGIN in self._put_off or bool(self._connection.in_transaction)

    def cursor(self, server_side: bool = False) -> BatchingCursor:
        assert not server_side, "an answer comes whole"
        return BatchingCursor(self)

    def put_off(self, *statements: str) -> None:
        """Send these with the next hand-over, which then raises where they fail."""
        self._put_off += statements

    def turn(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work in the thread. Raises what it raises, translated by the adapter."""
        first, self._put_off, self._is_clean = self._put_off, [], False
        driver: aiosqlite.Connection = self._connection

        def run() -> T:
            raw = driver._conn
            for statement in first:
                raw.execute(statement)
            return work(raw)

        # Not public, and untyped; the public calls take a hand-over each.
        doing: Awaitable[T] = driver._execute(run)  # type: ignore[no-untyped-call]
        try:
            return await_(doing)
        except Exception as error:  # noqa: BLE001 - it is raised anew, in the adapter's words
            self._handle_exception(error)

    def begin(self) -> None:
        """Take the write lock before the first statement, so that nothing read is outdated."""
        self.put_off(_BEGIN)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Run the block in a savepoint, which is rolled back if it raises."""
        self.put_off(_SAVE)
        try:
            yield
        except BaseException:
            self.put_off(_UNDO, _RELEASE)
            raise
        self.put_off(_RELEASE)

    def commit(self) -> None:
        if _BEGIN in self._put_off:  # nothing was executed since
            self._put_off.clear()
        else:
            self.turn(sqlite3.Connection.commit)
        self._is_clean = True

    def rollback(self) -> None:
        self._put_off.clear()
        if not self._is_clean and self._connection._connection:
            self.turn(sqlite3.Connection.rollback)

    def terminate(self) -> None:
        """Have the thread close the connection after its present work, without waiting.

        The adapter's own starts a task that closes. If that is cancelled it stops the thread too,
        and the task then waits, deaf to being cancelled, for a thread that has ended.
        """
        self._connection.stop()


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    """The driver as the dialect knows it, with our connections."""

    def connect(self, *arg: Any, **kw: Any) -> BatchingConnection:
        return BatchingConnection(self, super().connect(*arg, **kw).driver_connection)


class BatchingDialect(SQLiteDialect_aiosqlite):
    """The dialect sqlite+aiosqlite, in fewer hand-overs."""

    driver = DRIVER
    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        """All compile a statement alike, and a cache of compiled statements asks for that."""
        return isinstance(other, BatchingDialect)

    def __hash__(self) -> int:
        return hash(BatchingDialect)

    @classmethod
    def import_dbapi(cls) -> AsyncAdapt_aiosqlite_dbapi:
        return _Driver(aiosqlite, sqlite3)


def batching_connection_of(connection: Connection) -> BatchingConnection:
    """Return the driver's connection of SQLAlchemy's connection."""
    return cast("BatchingConnection", connection.connection.dbapi_connection)


def _executed(
    run: Callable[[Any, Any], sqlite3.Cursor], operation: Any, parameters: Any
) -> _Answer:
    cursor = run(operation, parameters)
    try:
        rows = cursor.fetchall() if cursor.description else ()
        return _Answer(cursor.description, cursor.rowcount, cursor.lastrowid, rows)
    finally:
        cursor.close()


registry.register(f"sqlite.{DRIVER}", __name__, BatchingDialect.__name__)
