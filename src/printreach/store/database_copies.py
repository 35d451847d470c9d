"""Copies a database to another place: from a file to a PostgreSQL server, or back."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import NullPool
from sqlalchemy.util import greenlet_spawn

from printreach.store.copying import CopiedTable, copy_all
from printreach.store.engine import DatabaseInUse, begin_immediate, set_up, unused, url_of
from printreach.store.location import DatabaseLocation, data_dir_of
from printreach.store.migrate import revision_of
from printreach.store.sealing import DataDirSealer
from printreach.store.store import prepare_database

Report = Callable[[str], object]

_IN_USE = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND pid <> pg_backend_pid() AND application_name = 'printreach'"""
_NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"


async def copy_database(
    source: DatabaseLocation,
    target: DatabaseLocation,
    report: Report = str,
    *,
    source_name: str | None = None,
    may_be_used: bool = False,
) -> list[CopiedTable]:
    """Copy a database into an empty one, or go on with an unfinished copy; return its tables.

    source_name: by which an unfinished copy remembers its source. may_be_used: whether a service
    may run on the source meanwhile; the copy is of one moment all the same, if nothing interrupts
    it. report: is told each table's name.
    Raises CopyFailed, DatabaseInUse, and SQLAlchemyError or OSError if one can't be used.
    """
    for location in [target] if may_be_used else [source, target]:
        await greenlet_spawn(_refuse_use, location)
    if await revision_at(target) is None:
        sealer = DataDirSealer(data_dir_of(target))
        await asyncio.to_thread(prepare_database, target, sealer)

    def copy() -> list[CopiedTable]:
        with connection_to(source, reads=True) as reading, connection_to(target) as writing:
            return copy_all(reading, writing, source_name or str(source), report)

    return await greenlet_spawn(copy)


async def revision_at(location: DatabaseLocation) -> str | None:
    """Return the revision of a database's schema; None if there is none. Nothing is changed.

    Raises SQLAlchemyError or OSError if it can't be used.
    """
    if isinstance(location, Path) and not location.exists():
        return None

    def look() -> str | None:
        with connection_to(location) as connection, connection.begin():
            return revision_of(connection)

    return await greenlet_spawn(look)


def _refuse_use(location: DatabaseLocation) -> None:
    """Raise DatabaseInUse if a service runs on that database."""
    if isinstance(location, Path):
        with unused(location):
            return
    with connection_to(location) as connection, connection.begin():
        if connection.exec_driver_sql(_IN_USE).scalar():
            raise DatabaseInUse(f"{location} is in use; stop the service first.")


@contextmanager
def connection_to(location: DatabaseLocation, *, reads: bool = False) -> Iterator[Connection]:
    """Open a connection. reads: in one transaction, which sees the database at one moment.

    To a server, it is used within `greenlet_spawn`.
    """
    if isinstance(location, Path):
        engine = create_engine(url_of(location, "pysqlite"), poolclass=NullPool)
        event.listen(engine, "connect", set_up)
        event.listen(engine, "begin", _begin_reading if reads else begin_immediate)
    else:
        from printreach.store.postgresql.engine import engine_at_start

        engine = engine_at_start(location)
        if reads:
            engine = engine.execution_options(isolation_level="REPEATABLE READ")
    try:
        with engine.connect() as connection:
            if reads and not isinstance(location, Path):
                for limit in _NO_LIMITS.split("; "):
                    connection.exec_driver_sql(limit)
            yield connection
    finally:
        engine.dispose()


def _begin_reading(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
