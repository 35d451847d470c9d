"""Everything that is stored can be moved from each kind of database to each other one."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection, delete, func, insert, select, text, update
from sqlalchemy.util import greenlet_spawn

from printreach.store import copying
from printreach.store.copying import CopyFailed, copy_database, revision_at
from printreach.store.engine import DatabaseInUse
from printreach.store.location import DatabaseLocation, PostgresqlLocation
from printreach.store.migrate import HEAD, DatabaseTooNew, migrate
from printreach.store.store import open_store
from printreach.store.tables import apps, metadata, notices
from tests.fakes.clock import NOON
from tests.rigs.filled_tables import fill_tables
from tests.rigs.postgresql import PostgresqlServer

pytestmark = pytest.mark.slow

T = TypeVar("T")
ROWS = 7


class Interrupted(Exception):
    """The copy ends in between, as by a loss of power."""


@pytest.fixture
def other_postgresql(
    postgresql: PostgresqlServer, migrated_postgresql: str, tmp_path: Path
) -> Iterator[PostgresqlLocation]:
    with postgresql.database(migrated_postgresql) as url:
        yield PostgresqlLocation(url, tmp_path / "target")


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> DatabaseLocation:
    """An empty database: a file that isn't there yet, or one of a server."""
    if request.param == "postgresql":
        location: PostgresqlLocation = request.getfixturevalue("other_postgresql")
        return location
    return tmp_path / "target" / "printreach.sqlite3"


@pytest.fixture
def other_kind(
    request: pytest.FixtureRequest, database: DatabaseLocation, tmp_path: Path
) -> DatabaseLocation:
    """An empty database of another kind than the source: each kind is on each side once."""
    if isinstance(database, Path):
        location: PostgresqlLocation = request.getfixturevalue("other_postgresql")
        return location
    return tmp_path / "target" / "printreach.sqlite3"


def at(location: DatabaseLocation, work: Callable[[Connection], T]) -> T:
    """Do something in a transaction."""

    def do() -> T:
        with copying.connection_to(location) as connection, connection.begin():
            return work(connection)

    return asyncio.run(greenlet_spawn(do))


def fill(location: DatabaseLocation) -> None:
    at(location, lambda connection: fill_tables(connection, ROWS))


def everything_in(location: DatabaseLocation) -> dict[str, set[str]]:
    def look(connection: Connection) -> dict[str, set[str]]:
        return {
            table.name: {repr(tuple(row)) for row in connection.execute(select(table))}
            for table in metadata.sorted_tables
        }

    return at(location, look)


def copy(source: DatabaseLocation, target: DatabaseLocation) -> dict[str, int]:
    copied = asyncio.run(copy_database(source, target, source_name="here"))
    return {table.name: table.rows for table in copied}


def test_every_row_of_every_table_is_copied(
    database: DatabaseLocation, target: DatabaseLocation
) -> None:
    fill(database)
    copied = copy(database, target)

    assert copied == {table.name: ROWS for table in metadata.sorted_tables}
    assert everything_in(target) == everything_in(database)
    assert asyncio.run(revision_at(target)) == HEAD


def test_a_service_runs_on_a_copy(database: DatabaseLocation, other_kind: DatabaseLocation) -> None:
    fill(database)
    copy(database, other_kind)

    async def count() -> int:
        async with open_store(other_kind) as store:
            return (await store.read(lambda records: records.operating.counts(NOON))).accounts

    assert asyncio.run(count()) == ROWS


def test_ids_that_were_deleted_do_not_come_again(
    database: DatabaseLocation, target: DatabaseLocation
) -> None:
    notice = {"topic": "t", "key": "k", "at": NOON}

    def give(connection: Connection) -> int:
        inserted = connection.execute(insert(notices).returning(notices.c.notice_id), notice)
        number: int = inserted.scalar_one()
        return number

    def give_three_and_delete(connection: Connection) -> int:
        last = [give(connection) for _ in range(3)][-1]
        connection.execute(delete(notices).where(notices.c.notice_id >= last - 1))
        return last

    last = at(database, give_three_and_delete)
    copy(database, target)

    assert at(target, give) > last


def test_an_interrupted_copy_goes_on_where_it_was(
    database: DatabaseLocation, target: DatabaseLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 3)
    fill(database)
    seen = list[str]()

    def interrupt(table: str) -> None:
        seen.append(table)
        if len(seen) == 20:
            raise Interrupted

    with pytest.raises(Interrupted):
        asyncio.run(copy_database(database, target, interrupt, source_name="here"))
    half_way = at(target, lambda there: there.execute(count_of_progress).scalar_one())
    copied = copy(database, target)

    assert half_way == 19 * ROWS
    assert copied == {table.name: ROWS for table in metadata.sorted_tables}
    assert everything_in(target) == everything_in(database)


count_of_progress = text("SELECT sum(rows) FROM copy_progress")


def test_a_copy_is_interrupted_within_a_table(
    database: DatabaseLocation,
    other_kind: DatabaseLocation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 3)
    fill(database)
    inserted = list[int]()
    whole = copying._insert

    def insert_twice(*given: object) -> None:
        if len(inserted) == 2:
            raise Interrupted
        inserted.append(1)
        whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "_insert", insert_twice)
    with pytest.raises(Interrupted):
        copy(database, other_kind)
    half_way = at(other_kind, lambda there: there.execute(count_of_progress).scalar_one())
    monkeypatch.setattr(copying, "_insert", whole)
    copy(database, other_kind)

    assert half_way == 6
    assert everything_in(other_kind) == everything_in(database)


def test_no_service_starts_on_an_unfinished_copy(
    database: DatabaseLocation, target: DatabaseLocation
) -> None:
    interrupt_at_once(database, target)

    async def start() -> None:
        async with open_store(target):
            pass

    with pytest.raises(DatabaseTooNew):
        asyncio.run(start())


def test_an_unfinished_copy_goes_on_from_its_own_source_alone(
    database: DatabaseLocation, target: DatabaseLocation
) -> None:
    interrupt_at_once(database, target)

    with pytest.raises(CopyFailed, match="is an unfinished copy of here"):
        asyncio.run(copy_database(database, target, source_name="elsewhere"))


def interrupt_at_once(source: DatabaseLocation, target: DatabaseLocation) -> None:
    def interrupt(_: str) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        asyncio.run(copy_database(source, target, interrupt, source_name="here"))


def test_a_target_with_rows_is_refused(
    database: DatabaseLocation, other_kind: DatabaseLocation
) -> None:
    fill(database)
    copy(database, other_kind)
    before = everything_in(other_kind)

    with pytest.raises(CopyFailed, match="The target isn't empty: there are rows in"):
        copy(database, other_kind)
    assert everything_in(other_kind) == before


def test_a_row_that_changes_meanwhile_is_found(
    database: DatabaseLocation, other_kind: DatabaseLocation
) -> None:
    """A row that was copied before an interruption, and is another one after it."""
    fill(database)
    seen = list[str]()

    def interrupt(table: str) -> None:
        seen.append(table)
        if len(seen) == len(metadata.sorted_tables):
            raise Interrupted

    with pytest.raises(Interrupted):
        asyncio.run(copy_database(database, other_kind, interrupt, source_name="here"))
    at(database, lambda there: there.execute(update(apps).values(name="Another")))

    with pytest.raises(CopyFailed, match="apps isn't the same on both sides"):
        copy(database, other_kind)


def test_another_schema_is_refused(database: DatabaseLocation, target: DatabaseLocation) -> None:
    at(database, lambda there: there.execute(text("UPDATE alembic_version SET version_num = '1'")))

    with pytest.raises(CopyFailed, match="The schema of here is 1"):
        copy(database, target)


def test_a_target_of_another_schema_is_refused(database: DatabaseLocation, tmp_path: Path) -> None:
    target = tmp_path / "target" / "printreach.sqlite3"
    migrate(target)
    at(target, lambda there: there.execute(text("UPDATE alembic_version SET version_num = '1'")))

    with pytest.raises(CopyFailed, match="The target's schema is 1"):
        copy(database, target)


def test_nothing_is_copied_while_a_service_runs(
    database: DatabaseLocation, target: DatabaseLocation
) -> None:
    async def attempt() -> None:
        async with open_store(database) as store:
            await store.read(lambda records: records.accounts.get("nobody"))
            with pytest.raises(DatabaseInUse, match="is in use; stop the service first"):
                await copy_database(database, target)

    asyncio.run(attempt())


def test_a_copy_of_one_moment_is_made_while_a_service_runs(
    database: DatabaseLocation, other_kind: DatabaseLocation
) -> None:
    """As for a backup. What is written meanwhile isn't in it."""
    fill(database)
    before = everything_in(database)

    def change(table: str) -> None:
        if table == "sessions":
            with copying.connection_to(database) as beside, beside.begin():
                beside.execute(delete(notices))

    asyncio.run(copy_database(database, other_kind, change, may_be_used=True))

    assert everything_in(other_kind) == before
    assert at(database, lambda there: there.execute(select(func.count()).select_from(notices))
              .scalar_one()) == 0  # fmt: skip
