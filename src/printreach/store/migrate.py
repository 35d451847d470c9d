"""Migrates the database to the schema this code needs, also if several processes start at once."""

import time
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
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

_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_RETRY_S: Final = 0.05


class DatabaseTooNew(Exception):
    """A newer version of the program has migrated the database; this one would damage it."""


def migrate(path: Path) -> None:
    """Create the database or migrate it. Blocks; call it before the event loop starts.

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


def _upgrade(connection: Connection, path: Path) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision == scripts.get_current_head():
        return
    known = {script.revision for script in scripts.walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseTooNew(
            f"The database {path} was changed by a newer version of Printreach "
            f"(its schema is {revision}); start that version, or restore a copy from before."
        )
    command.upgrade(config, "head")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise RuntimeError(f"a migration of {path} left a row of {broken[0]} without its parent")
