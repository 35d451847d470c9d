"""Connections to the database file, each set up the same way."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.engine.interfaces import CompiledCacheType, DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import LRUCache

from printreach.store.async_engine import AsyncConnection, AsyncEngine
from printreach.store.batching import DRIVER, BatchingConnection, batching_connection_of

OF_CALLERS: Final = 5
"""Connections for reading, each a thread. SQLite reads memory for the most part, so more threads
would only wait for each other."""
OF_SERVICE: Final = 3
"""For relays, workers and the bus, which holds one all the time."""
BUSY_TIMEOUT_S: Final = 15
"""The longest wait for another process's write lock. A unit of work takes milliseconds."""
_COMPILED: Final[CompiledCacheType] = LRUCache(500)
"""The statements that a process has compiled, for whichever engine runs them next."""

_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}",
    # NORMAL would lose acknowledged writes in a power failure.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)


def prepare_file(path: Path) -> None:
    """Create the data directory and an empty database that only this user can read.

    SQLite gives its journal files the mode of the database. An existing database is not opened:
    closing any descriptor of a file drops the locks of all connections that this process has to it,
    and then another process that closes the database deletes the write-ahead log under them.
    Source: https://www.sqlite.org/howtocorrupt.html, 2.2.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass


def url_of(path: Path, driver: str) -> URL:
    """Return SQLAlchemy's URL of the database in that file."""
    return URL.create(f"sqlite+{driver}", database=str(path))


def set_up(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    """Prepare a new connection; transactions are begun by us, not by the driver."""
    # By itself the driver begins late, after the first read, and so loses updates.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def begin_immediate(connection: Connection) -> None:
    """Take the write lock at once, so that nothing read later can be outdated."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def savepoint(connection: AsyncConnection) -> AbstractContextManager[None]:
    """Run the block in a savepoint, which is rolled back if it raises.

    Like `connection.begin_nested`, without its hand-overs, and its statements that are compiled
    each time.
    """
    return _turns(connection).savepoint()


def is_in_transaction(connection: AsyncConnection) -> bool:
    """Return whether one is open: on a full disk and the like SQLite rolls back by itself."""
    return _turns(connection).is_in_transaction


def _turns(connection: AsyncConnection) -> BatchingConnection:
    return batching_connection_of(connection.sync_connection)


def writing_engine(path: Path) -> AsyncEngine:
    """Return an engine of one connection; each of its transactions begins with the write lock."""
    engine = create_engine(
        url_of(path, DRIVER),
        pool_size=1,
        max_overflow=0,
        execution_options={"compiled_cache": _COMPILED},
        hide_parameters=True,
    )
    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", lambda connection: batching_connection_of(connection).begin())
    return AsyncEngine(engine)


def reading_engine(path: Path) -> AsyncEngine:
    """Return an engine of read-only connections, which hold no snapshot between statements."""
    engine = create_engine(
        url_of(path, DRIVER),
        pool_size=OF_CALLERS + OF_SERVICE,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_S,
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,  # there is nothing to roll back, and it costs a hand-over
        execution_options={"compiled_cache": _COMPILED},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up_reader)
    return AsyncEngine(engine)


def _set_up_reader(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    set_up(connection, record)
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


class DatabaseInUse(Exception):
    """A service or somebody else has the database open; the message is a sentence."""


@contextmanager
def unused(path: Path) -> Iterator[None]:
    """Keep everybody from opening a database file. Raises DatabaseInUse if anybody has it open."""
    if not path.exists():
        yield
        return
    with closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as held:
        try:
            # Fails while anybody else has it open, also without a transaction.
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if is_busy(error):
                raise DatabaseInUse(f"{path} is in use; stop the service first.") from error
            raise
        except sqlite3.DatabaseError:
            pass  # nobody can use a damaged one
        yield


def is_busy(error: BaseException) -> bool:
    """Return whether another process held the write lock for all that time."""
    origin = getattr(error, "orig", error)
    if not isinstance(origin, sqlite3.OperationalError):
        return False
    return origin.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def reason_of(error: BaseException) -> str:
    """Return the database's own message, without the statement and its values."""
    reason = getattr(error, "orig", None) or getattr(error, "strerror", None) or error
    return str(reason)
