"""The database is migrated at each start, and never damaged by an older program."""

import asyncio
import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from printreach.rules.accounts import email_key
from printreach.rules.watch.choices import WatchSettings
from printreach.store import migrate as migrations
from printreach.store.engine import url_of
from printreach.store.migrate import HEAD, DatabaseTooNew, migrate
from printreach.store.store import Records, open_store
from printreach.store.tables import metadata
from tests.store.records import store_all
from tests.store.watch.watch_records import begin, claim, look

pytestmark = pytest.mark.sqlite

MIGRATIONS = Path(migrations.__file__).with_name("migrations")


def tables_of(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found}


def contents_of(path: Path) -> list[str]:
    """Every table, index and row, as statements in an order that says nothing."""
    with sqlite3.connect(path) as connection:
        return sorted(connection.iterdump())


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


@pytest.mark.slow
def test_a_new_database_is_what_all_migrations_make_of_an_empty_file(tmp_path: Path) -> None:
    new, migrated = tmp_path / "new.sqlite3", tmp_path / "migrated.sqlite3"
    migrate(new)
    migrate_to("head", migrated)

    assert contents_of(new) == contents_of(migrated)


def test_the_newest_revision_is_known_without_alembic() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))

    assert scripts.get_current_head() == HEAD


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


# --- what a migration makes of what is there ------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "camera"), [(b'{"camera":2}', 2), (b"{}", None), (b"damaged", None)]
)
def test_looks_from_before_they_knew_their_camera_are_of_the_chosen_one(
    database: Path, tmp_path: Path, settings: bytes, camera: int | None
) -> None:
    asyncio.run(_look_once(database))
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE watch_settings SET content = ?", (settings,))
    old = tmp_path / "old.sqlite3"
    _copy_of_revision("0022", database, old)

    migrate(old)

    with sqlite3.connect(old) as connection:
        found = connection.execute("SELECT camera FROM watch_looks").fetchall()
    assert found == [(camera,)]


def test_connections_from_before_permissions_may_do_what_they_could(
    database: Path, tmp_path: Path
) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute(
            "INSERT INTO connections (connection_id, unique_id, kind, created_at)"
            " VALUES ('c1', 'app-one', 'app', '2026-05-01 12:00:00')"
        )
    old = tmp_path / "old.sqlite3"
    _copy_of_revision("0023", database, old)

    migrate(old)

    with sqlite3.connect(old) as connection:
        found = connection.execute("SELECT permissions FROM connections").fetchall()
    assert found == [("control,files,camera,interface",)]


@pytest.mark.parametrize(
    ("email", "old_key", "key"),
    [
        ("Ada@Stra\u00dfe.example", "ada@strasse.example", "ada@stra\u00dfe.example"),
        ("ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example", "ada@b\u00fccher.example"),
        ("ada@x.example,bob@y.example",) * 3,
    ],
)
def test_accounts_are_found_by_every_spelling_of_their_address_after_a_migration(
    database: Path, tmp_path: Path, email: str, old_key: str, key: str
) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute(
            "INSERT INTO accounts (account_id, email, email_key, password_hash, is_admin,"
            " supporter_granted, created_at, wrong_link_tries)"
            " VALUES ('a1', ?, ?, '', 0, 0, '2026-05-01 12:00:00', 0)",
            (email, old_key),
        )
    old = tmp_path / "old.sqlite3"
    _copy_of_revision("0024", database, old)

    migrate(old)

    with sqlite3.connect(old) as connection:
        found = connection.execute("SELECT email, email_key FROM accounts").fetchall()
    assert found == [(email, key)]
    assert email_key(email) == key


def _copy_of_revision(revision: str, path: Path, old: Path) -> None:
    """What that revision had room for, in a database of that revision."""
    migrate_to(revision, old)
    with sqlite3.connect(old) as connection:
        connection.execute("ATTACH ? AS whole", (str(path),))
        for table in tables_of(old) - {"alembic_version", "sqlite_sequence"}:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            names = ", ".join(f'"{column}"' for column in columns)
            copy = f"INSERT INTO {table} ({names}) SELECT {names} FROM whole.{table}"
            connection.execute(copy)


def migrate_to(revision: str, path: Path) -> None:
    engine = create_engine(url_of(path, "pysqlite"))
    with engine.begin() as migrating:
        config = Config(attributes={"connection": migrating})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, revision)
    engine.dispose()


async def _look_once(database: Path) -> None:
    async def look_once(records: Records) -> None:
        await begin(records)
        await records.watch_settings.put("p1", "ada", WatchSettings())
        [watched] = await claim(records)
        await records.watches.add_look(watched, look())

    async with open_store(database) as store:
        await store_all(store)
        await store.write(look_once)
