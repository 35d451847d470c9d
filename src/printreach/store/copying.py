"""Copies all that a database stores into another one, of whichever engine each is.

The target says that it is unfinished until all of it has been compared: no service starts on it
before. A copy that was interrupted continues after the last rows that it committed.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    create_engine,
    event,
    func,
    insert,
    literal,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.pool import NullPool
from sqlalchemy.util import greenlet_spawn

from printreach.store.engine import DatabaseInUse, begin_immediate, set_up, unused, url_of
from printreach.store.location import DatabaseLocation, data_dir_of
from printreach.store.migrate import HEAD, revision_of
from printreach.store.sealing import DataDirSealer
from printreach.store.store import prepare_database
from printreach.store.tables import metadata

Report = Callable[[str], object]

UNFINISHED: Final = "unfinished-copy"
"""In place of the schema's revision; every version takes it for that of a newer one."""
ROWS_AT_ONCE: Final = 500

_progress: Final = Table(
    "copy_progress",
    MetaData(),
    Column("table_name", String(64), primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("source", String(200), nullable=False),
)
"""How many rows of each table are in the target, in the order of their keys in the source."""
_revision: Final = Table("alembic_version", MetaData(), Column("version_num", String(32)))

_IN_USE = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND pid <> pg_backend_pid() AND application_name = 'printreach'"""
_NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"


class CopyFailed(Exception):
    """The copy failed; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table that is the same on both sides."""

    name: str
    rows: int


def copy_all(
    source: Connection, target: Connection, source_name: str, report: Report = str
) -> list[CopiedTable]:
    """Copy all tables, compare them, and return them. Blocks.

    source: in a transaction that sees the database as it was at one moment. target: in none, on an
    empty database with all tables, or on an unfinished copy. source_name: an unfinished copy
    continues only from the one that it began with. report: is told each table's name beforehand.
    Raises CopyFailed, and SQLAlchemyError if one of both can't be used.
    """
    revision = revision_of(source)
    if revision != HEAD:
        raise CopyFailed(
            f"The schema of {source_name} is {revision or 'none'}, and this version needs {HEAD}:"
            " start this version's service on it once."
        )
    _begin(target, source_name)
    for table in metadata.sorted_tables:
        report(table.name)
        _copy_rows(source, target, table)
        _copy_counter(source, target, table)
    copied = [_compared(source, target, table) for table in metadata.sorted_tables]
    with target.begin():
        _progress.drop(target)
        target.execute(update(_revision).values(version_num=HEAD))
    return copied


def _begin(target: Connection, source_name: str) -> None:
    """Mark the target as an unfinished copy, unless it is one. Raises CopyFailed."""
    with target.begin():
        revision = revision_of(target)
        if revision == UNFINISHED:
            begun_with = target.execute(select(_progress.c.source).limit(1)).scalar()
            if begun_with != source_name:
                raise CopyFailed(
                    f"The target is an unfinished copy of {begun_with}; name that one, or another"
                    " target."
                )
            return
        if revision != HEAD:
            raise CopyFailed(f"The target's schema is {revision}, and this version needs {HEAD}.")
        filled = [one.name for one in metadata.sorted_tables if _count(target, one)]
        if filled:
            raise CopyFailed(f"The target isn't empty: there are rows in {', '.join(filled)}.")
        _progress.create(target)
        rows = [
            {"table_name": one.name, "rows": 0, "source": source_name}
            for one in metadata.sorted_tables
        ]
        target.execute(insert(_progress), rows)
        target.execute(update(_revision).values(version_num=UNFINISHED))


def _copy_rows(source: Connection, target: Connection, table: Table) -> None:
    is_of_table = _progress.c.table_name == table.name
    with target.begin():
        copied = target.execute(select(_progress.c.rows).where(is_of_table)).scalar_one()
    for rows in _batches(source, table, copied):
        copied += len(rows)
        with target.begin():
            _insert(target, table, rows)
            target.execute(update(_progress).where(is_of_table).values(rows=copied))


def _insert(target: Connection, table: Table, rows: Sequence[Row[*tuple[Any, ...]]]) -> None:
    target.execute(insert(table), [row._asdict() for row in rows])


def _batches(
    connection: Connection, table: Table, skipped: int = 0
) -> Iterator[Sequence[Row[*tuple[Any, ...]]]]:
    """Yield the table's rows in the order of their keys, after that many."""
    key = list(table.primary_key.columns)
    in_order = select(table).order_by(*key).limit(ROWS_AT_ONCE)
    rows = connection.execute(in_order.offset(skipped)).all()
    while rows:
        yield rows
        if len(rows) < ROWS_AT_ONCE:
            return
        last = rows[-1]._mapping
        after = tuple_(*(literal(last[column.name], column.type) for column in key))
        rows = connection.execute(in_order.where(tuple_(*key) > after)).all()


def _compared(source: Connection, target: Connection, table: Table) -> CopiedTable:
    """Return the table if both sides have the same rows. Raises CopyFailed."""
    expected = _digest(source, table)
    with target.begin():
        found = _digest(target, table)
    if found != expected:
        raise CopyFailed(
            f"{table.name} isn't the same on both sides: {expected[0]} rows in the source, and"
            f" {found[0]} in the target. Stop every service that uses one of them, and begin again"
            " with an empty target."
        )
    return CopiedTable(table.name, expected[0])


def _digest(connection: Connection, table: Table) -> tuple[int, int]:
    """Return how many rows there are, and a digest of them in any order, since engines sort texts
    by different rules.
    """
    count = total = 0
    for rows in _batches(connection, table):
        for row in rows:
            encoded = repr([_comparable(value) for value in row]).encode()
            total += int.from_bytes(hashlib.sha256(encoded).digest())
        count += len(rows)
    return count, total % 2**256


def _comparable(value: object) -> object:
    match value:
        case str():
            return value.replace("\0", "\ufffd")  # PostgreSQL stores none
        case datetime():
            return value.astimezone(UTC).isoformat()
        case frozenset():
            return sorted(value)
        case dict() | list():
            return json.dumps(value, sort_keys=True)
        case _:
            return value


def _copy_counter(source: Connection, target: Connection, table: Table) -> None:
    """Let the target go on where the source would: an id that was deleted must not come again."""
    column = table.autoincrement_column
    if column is None or not isinstance(column.type, Integer):
        return
    largest = source.execute(select(func.max(column))).scalar() or 0
    counter = max(largest, _counter(source, table, column))
    if counter:
        with target.begin():
            _SET_COUNTER[target.dialect.name](target, table, column, counter)


def _counter(connection: Connection, table: Table, column: Column[Any]) -> int:
    if connection.dialect.name == "postgresql":
        sequence = _sequence(connection, table, column)
        if sequence is None:
            return 0
        query = f"SELECT last_value FROM {sequence} WHERE is_called"  # noqa: S608 - our own
        return connection.execute(text(query)).scalar() or 0
    query = "SELECT seq FROM sqlite_sequence WHERE name = :name"
    return connection.execute(text(query), {"name": table.name}).scalar() or 0


def _set_on_postgresql(
    connection: Connection, table: Table, column: Column[Any], counter: int
) -> None:
    sequence = _sequence(connection, table, column)
    if sequence is not None:
        connection.execute(select(func.setval(sequence, counter)))


def _set_on_sqlite(
    connection: Connection, table: Table, _column: Column[Any], counter: int
) -> None:
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return  # the largest id decides
    values = {"name": table.name, "counter": counter}
    connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
    query = "INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :counter)"
    connection.execute(text(query), values)


_SET_COUNTER: Final[Mapping[str, Callable[[Connection, Table, Column[Any], int], None]]] = {
    "postgresql": _set_on_postgresql,
    "sqlite": _set_on_sqlite,
}


def _sequence(connection: Connection, table: Table, column: Column[Any]) -> str | None:
    found: str | None = connection.execute(
        select(func.pg_get_serial_sequence(table.name, column.name))
    ).scalar()
    return found


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


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
        from printreach.store.postgresql import engine_at_start

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
