"""SQLite behind a thread, with one turn of that thread for each statement.

SQLAlchemy's own adapter of aiosqlite takes four: to make a cursor, to execute, to fetch, to close.
A turn costs more than most statements do, for two threads hand over to each other twice. What has
no answer, as BEGIN and savepoints have none, takes no turn at all: it goes along with what follows.
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
"""What a URL names this by: sqlite+turns."""

_BEGIN: Final = "BEGIN IMMEDIATE"
# One name for all: to SQLite it means the innermost, and a statement that is the same is kept.
_SAVE: Final = "SAVEPOINT unit"
_RELEASE: Final = "RELEASE unit"
_UNDO: Final = "ROLLBACK TO unit"


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a statement gave, as a cursor tells it."""

    description: Any
    rowcount: int
    lastrowid: int | None
    rows: Sequence[Any]
    arraysize: int = 1


class BatchingCursor(AsyncAdapt_aiosqlite_cursor):
    """One statement and its answer; nothing of it is left in the thread."""

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
        self._cursor = cast("Any", answer)  # it has what the properties look for
        self._rows = deque(answer.rows)


class BatchingConnection(AsyncAdapt_aiosqlite_connection):
    """Puts off what has no answer until the next turn."""

    __slots__ = ("_is_clean", "_put_off")
    _connection: Any

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self._put_off: list[str] = []
        self._is_clean = False  # nothing was done since the last commit

    @property
    def is_in_transaction(self) -> bool:
        """False also where SQLite has rolled all back by itself."""
        return _BEGIN in self._put_off or bool(self._connection.in_transaction)

    def cursor(self, server_side: bool = False) -> BatchingCursor:
        assert not server_side, "an answer comes whole"
        return BatchingCursor(self)

    def put_off(self, *statements: str) -> None:
        """Do it with the next turn, which then tells where it failed."""
        self._put_off += statements

    def turn(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do work in the thread. Raises what it raises, as the adapter tells it."""
        first, self._put_off, self._is_clean = self._put_off, [], False
        driver: aiosqlite.Connection = self._connection

        def run() -> T:
            raw = driver._conn
            for statement in first:
                raw.execute(statement)
            return work(raw)

        # Not public, and untyped; what is public takes a turn for each word of a statement.
        doing: Awaitable[T] = driver._execute(run)  # type: ignore[no-untyped-call]
        try:
            return await_(doing)
        except Exception as error:  # noqa: BLE001 - it is raised anew, in the adapter's words
            self._handle_exception(error)

    def begin(self) -> None:
        """Take the right to write before the first statement, so that nothing read is outdated."""
        self.put_off(_BEGIN)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What is done in it is undone where it raises."""
        self.put_off(_SAVE)
        try:
            yield
        except BaseException:
            self.put_off(_UNDO, _RELEASE)
            raise
        self.put_off(_RELEASE)

    def commit(self) -> None:
        if _BEGIN in self._put_off:  # nothing was asked since
            self._put_off.clear()
        else:
            self.turn(sqlite3.Connection.commit)
        self._is_clean = True

    def rollback(self) -> None:
        self._put_off.clear()
        if not self._is_clean and self._connection._connection:
            self.turn(sqlite3.Connection.rollback)

    def terminate(self) -> None:
        """Close it once the thread has done what it is at, and wait for nothing.

        The adapter's own starts a task that closes. Where it is cancelled it stops the thread too,
        and the task then waits, deaf to being cancelled, for a thread that is no more.
        """
        self._connection.stop()


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    """The driver as the dialect knows it, with our connections."""

    def connect(self, *arg: Any, **kw: Any) -> BatchingConnection:
        return BatchingConnection(self, super().connect(*arg, **kw).driver_connection)


class TurnDialect(SQLiteDialect_aiosqlite):
    """sqlite+aiosqlite, in fewer turns."""

    driver = DRIVER
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> AsyncAdapt_aiosqlite_dbapi:
        return _Driver(aiosqlite, sqlite3)


def batching_connection_of(connection: Connection) -> BatchingConnection:
    """What a connection of SQLAlchemy's is to its driver."""
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


registry.register(f"sqlite.{DRIVER}", __name__, TurnDialect.__name__)
