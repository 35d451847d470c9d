"""A database for each test, copied from one that was migrated once."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from printreach.store.engine import prepare_file
from printreach.store.migrate import migrate
from tests.rigs.postgresql import PostgresqlServer


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A server for all tests of this process; each makes databases of its own."""
    with PostgresqlServer() as server:
        yield server


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
