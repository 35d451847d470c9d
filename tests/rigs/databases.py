"""A database for each test, copied from one that was migrated once."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from printreach.store.engine import prepare_file
from printreach.store.location import DatabaseLocation, PostgresqlLocation
from printreach.store.migrate import migrate
from printreach.store.sealing import DataDirSealer
from printreach.store.store import prepare_database
from tests.rigs.postgresql import PostgresqlServer

_KIND: Final = "PRINTREACH_TEST_DATABASE"


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A server for all tests of this process; each makes databases of its own."""
    with PostgresqlServer() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_postgresql(
    postgresql: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The name of a database of that server with all tables, to copy."""
    name = postgresql.make_database()
    data_dir = tmp_path_factory.mktemp("migrated-postgresql")
    location = PostgresqlLocation(postgresql.url(name), data_dir)
    prepare_database(location, DataDirSealer(data_dir))
    return name


NewDatabase: TypeAlias = Callable[[Path], DatabaseLocation]
"""Makes a database whose data directory is that folder."""


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """Of the kind that PRINTREACH_TEST_DATABASE names: SQLite, unless it is `postgresql`."""
    with ExitStack() as ends:

        def in_file(data_dir: Path) -> Path:
            path = data_dir / "database.sqlite3"
            copy_database(request.getfixturevalue("migrated"), path)
            return path

        def on_server(data_dir: Path) -> PostgresqlLocation:
            server: PostgresqlServer = request.getfixturevalue("postgresql")
            data_dir.mkdir(mode=0o700)
            template = request.getfixturevalue("migrated_postgresql")
            return PostgresqlLocation(ends.enter_context(server.database(template)), data_dir)

        yield on_server if os.environ.get(_KIND) == "postgresql" else in_file


@pytest.fixture
def postgresql_location(
    postgresql: PostgresqlServer, migrated_postgresql: str, tmp_path: Path
) -> Iterator[PostgresqlLocation]:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    with postgresql.database(migrated_postgresql) as url:
        yield PostgresqlLocation(url, data_dir)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "data" / "database.sqlite3"
    migrate(path)
    return path


@pytest.fixture
def database(migrated: Path, tmp_path: Path) -> Path:
    path = tmp_path / "data" / "database.sqlite3"
    copy_database(migrated, path)
    return path


def copy_database(migrated: Path, path: Path) -> None:
    """Copy it to a folder that only its owner reads, as the service makes it."""
    prepare_file(path)
    shutil.copyfile(migrated, path)
