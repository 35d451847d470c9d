"""The database gets its shape, whoever starts, and is never damaged by an older program."""

import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from printreach.backends.sql.engine import url_of
from printreach.backends.sql.migrate import DatabaseTooNew, migrate
from printreach.backends.sql.schema import metadata


def tables_of(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_migrated_database_has_the_tables_of_the_code(tmp_path: Path) -> None:
    path = tmp_path / "data" / "database.sqlite3"
    migrate(path)

    engine = create_engine(url_of(path, "pysqlite"))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, metadata)
    engine.dispose()

    assert differences == []


def test_migrating_again_changes_nothing(database: Path) -> None:
    before = database.read_bytes()

    migrate(database)

    assert database.read_bytes() == before


def test_a_migrated_database_writes_ahead(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_only_this_user_can_read_the_data(tmp_path: Path) -> None:
    path = tmp_path / "data" / "database.sqlite3"

    migrate(path)

    assert mode_of(path.parent) == 0o700
    assert {mode_of(file) for file in path.parent.iterdir()} == {0o600}


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(DatabaseTooNew, match=r"newer version of Printreach .*9999") as refused:
        migrate(database)

    assert str(database) in str(refused.value)


def test_a_database_of_a_newer_version_is_left_as_it_is(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("DROP TABLE nodes")

    with pytest.raises(DatabaseTooNew):
        migrate(database)

    assert "nodes" not in tables_of(database)


@pytest.mark.slow
def test_processes_that_start_at_once_all_find_a_migrated_database(tmp_path: Path) -> None:
    path = tmp_path / "data" / "database.sqlite3"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=migrate, args=(path,)) for _ in range(3)]

    for process in processes:
        process.start()
    for process in processes:
        process.join(100)

    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert tables_of(path) >= set(metadata.tables)
