"""Prepares the database at a start: by the same migrations as SQLite's, one node at a time."""

import asyncio
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.util import greenlet_spawn

from printreach.store.location import PostgresqlLocation
from printreach.store.migrate import HEAD, revision_of, run_migrations
from printreach.store.postgresql.engine import engine_at_start
from printreach.store.resealing import seal_anew
from printreach.store.sealing import DataDirSealer

_LOCK: Final = 0x7072696E74
"""Any number that nobody else takes. The lock ends with the transaction."""


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
