"""The database on a PostgreSQL server: connections, what its errors mean, and the start.

Its driver is an extra: only who uses one loads this.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.util import greenlet_spawn

from printreach.store.location import PostgresqlLocation
from printreach.store.migrate import HEAD, revision_of, run_migrations
from printreach.store.postgresql.dialect import DRIVER, STATEMENT_TIMEOUT_S
from printreach.store.sealing import DataDirSealer, seal_anew

OF_CALLERS: Final = 8
OF_SERVICE: Final = 4
"""Readers, as store/readers.py shares them."""
OF_WRITERS: Final = 8
"""Units of work at once. PostgreSQL writes those that commit together to the disk at once."""
_RECYCLE_S: Final = 1800
"""So that connections move to a new server after a switch-over, and its memory is freed."""

_CONFLICTS: Final = frozenset({"40001", "40P01"})
"""Serialization failures and deadlocks. Source: PostgreSQL's manual, appendix A, as all below."""
_BROKEN_REFERENCES: Final = frozenset({"23503", "23505"})
"""A row that was there, or not there yet, when the unit of work looked."""
_UNAVAILABLE: Final = ("08", "25006", "53", "57")
"""Connection lost, read-only, resources used up, shutting down."""

_LOCK: Final = 0x7072696E74
"""Any number that nobody else takes. The lock ends with the transaction."""


def pool_of_connections(location: PostgresqlLocation) -> Engine:
    """Return an engine whose connections are opened when they are first needed."""
    return _engine(
        location,
        timeout=STATEMENT_TIMEOUT_S,
        pool_size=OF_CALLERS + OF_SERVICE + OF_WRITERS,
        max_overflow=0,
        pool_timeout=STATEMENT_TIMEOUT_S,
        pool_recycle=_RECYCLE_S,
        pool_use_lifo=True,
    )


def engine_at_start(location: PostgresqlLocation) -> Engine:
    """Return an engine that keeps no connection, for what may take long."""
    return _engine(location, timeout=None, poolclass=NullPool)


def is_conflict(error: BaseException) -> bool:
    """Return whether the unit of work may be run again, since another one changed what it read."""
    return _sqlstate(error) in _CONFLICTS


def may_be_conflict(error: BaseException) -> bool:
    """Return whether it may be one; otherwise the unit itself is wrong, and is again."""
    return _sqlstate(error) in _BROKEN_REFERENCES


def is_unavailable(error: BaseException) -> bool:
    """Return whether the server can't be had, so that nothing is wrong with the unit of work."""
    if isinstance(error, OSError):  # of the connection; timeouts are among them
        return True
    if not isinstance(error, DBAPIError):
        return isinstance(error, SQLAlchemyError)  # of the pool, which has no connection
    state = _sqlstate(error)
    return error.connection_invalidated or state is None or state.startswith(_UNAVAILABLE)


def _engine(location: PostgresqlLocation, *, timeout: float | None, **options: object) -> Engine:
    make: Callable[..., Engine] = create_engine
    return make(
        f"postgresql+{DRIVER}://",
        connect_args={"dsn": location.url, "timeout": timeout},
        hide_parameters=True,
        **options,
    )


def _sqlstate(error: BaseException) -> str | None:
    return getattr(getattr(error, "orig", None), "sqlstate", None)


def prepare_database(location: PostgresqlLocation, sealer: DataDirSealer) -> None:
    """Create the tables or migrate them, and seal anew what an older key sealed.

    Blocks; several nodes may start at once. Raises DatabaseTooNew, and SQLAlchemyError or OSError
    if the database cannot be used.
    """
    location.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    asyncio.run(_prepare(location, sealer))


async def _prepare(location: PostgresqlLocation, sealer: DataDirSealer) -> None:
    engine = engine_at_start(location)

    def prepare() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            _migrate(connection, location)
            seal_anew(connection, sealer)

    try:
        await greenlet_spawn(prepare)
    finally:
        await greenlet_spawn(engine.dispose)


def _migrate(connection: Connection, location: PostgresqlLocation) -> None:
    if revision_of(connection) != HEAD:
        run_migrations(connection, location)
