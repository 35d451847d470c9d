"""Migrates the database to the schema this code needs, also if several processes start at once.

Most starts have nothing to migrate, so Alembic is imported only where there is something: it would
take 11 MB for as long as the process runs.
"""

import time
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from printreach.store.engine import (
    BUSY_TIMEOUT_S,
    begin_immediate,
    is_busy,
    prepare_file,
    set_up,
    url_of,
)
from printreach.store.location import DatabaseLocation

HEAD: Final = "0040"
"""The newest revision in `migrations/`."""

_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_NEW_DATABASE: Final = Path(__file__).with_name("new_database.sql")
"""The output of `new_database`."""
_END_OF_STATEMENT: Final = ";\n"
_INSERT_HEAD: Final = f"INSERT INTO alembic_version VALUES ('{HEAD}')"  # noqa: S608 - our own
_RETRY_S: Final = 0.05


class DatabaseTooNew(Exception):
    """A newer version of the program has migrated the database; this one would damage it."""


def migrate(path: Path) -> None:
    """Create the database file or migrate it. Blocks.

    Each migration is applied as a whole or not at all, by one process at a time. Raises
    DatabaseTooNew, and OperationalError if the file cannot be used.
    """
    prepare_file(path)
    engine = create_engine(url_of(path, "pysqlite"))
    event.listen(engine, "connect", set_up)
    event.listen(engine, "connect", _leave_references_alone)
    try:
        _switch_to_write_ahead_log(engine)
        event.listen(engine, "begin", begin_immediate)
        with engine.begin() as connection:
            _upgrade(connection, path)
    finally:
        engine.dispose()


def _leave_references_alone(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # Altering a table means copying it and dropping the old one, which would delete rows that refer
    # to it. References are checked at the end instead.
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = OFF")
    cursor.close()


def _switch_to_write_ahead_log(engine: Engine) -> None:
    # SQLite does not wait for the lock here, as it does for everything else.
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    with engine.connect() as connection:
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                return
            except OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(_RETRY_S)


def new_database() -> str:
    """Return what all migrations make of an empty file, as SQL. `make docs` writes it."""
    engine = create_engine("sqlite://")
    event.listen(engine, "connect", _leave_references_alone)
    with engine.begin() as connection:
        run_migrations(connection, Path(":memory:"))
        statements = [*_definitions(connection), _INSERT_HEAD]
    engine.dispose()
    return _END_OF_STATEMENT.join(statements) + _END_OF_STATEMENT


def _upgrade(connection: Connection, path: Path) -> None:
    if not _definitions(connection):
        for statement in _NEW_DATABASE.read_text(encoding="utf-8").split(_END_OF_STATEMENT)[:-1]:
            connection.exec_driver_sql(statement)
    elif revision_of(connection) != HEAD:
        run_migrations(connection, path)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise RuntimeError(
                f"a migration of {path} left a row of {broken[0]} without its parent"
            )


def _definitions(connection: Connection) -> list[str]:
    """Return the statements that define all tables, then those for their indexes."""
    query = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    return list(connection.exec_driver_sql(f"{query} ORDER BY type != 'table', name").scalars())


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the database; None if it never had one."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version")
    revision: str | None = found.scalar()
    return revision


def run_migrations(connection: Connection, location: DatabaseLocation) -> None:
    """Migrate to the newest revision. Raises DatabaseTooNew."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    revision = revision_of(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseTooNew(
            f"The database {location} was changed by a newer version of Printreach "
            f"(its schema is {revision}); start that version, or restore a copy from before."
        )
    command.upgrade(config, "head")
