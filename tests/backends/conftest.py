"""A database file for each test, copied from one that was migrated once."""

import shutil
from pathlib import Path

import pytest

from printreach.backends.sql.engine import prepare_file
from printreach.backends.sql.migrate import migrate


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "data" / "database.sqlite3"
    migrate(path)
    return path


@pytest.fixture
def database(migrated: Path, tmp_path: Path) -> Path:
    path = tmp_path / "data" / "database.sqlite3"
    prepare_file(path)
    shutil.copyfile(migrated, path)
    return path
