"""Each test of the store runs on both kinds of database, with a new one for itself."""

from pathlib import Path

import pytest

from printreach.store.location import DatabaseLocation, PostgresqlLocation
from tests.rigs.databases import (
    copy_database,
    migrated,
    migrated_postgresql,
    postgresql,
    postgresql_location,
)

__all__ = ["migrated", "migrated_postgresql", "postgresql", "postgresql_location"]


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.peer)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database" in metafunc.fixturenames:
        is_of_file = metafunc.definition.get_closest_marker("sqlite") is not None
        kinds = ["sqlite"] if is_of_file else ["sqlite", POSTGRESQL]
        metafunc.parametrize("database", kinds, indirect=True)


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> DatabaseLocation:
    if request.param == "postgresql":
        location: PostgresqlLocation = request.getfixturevalue("postgresql_location")
        return location
    path = tmp_path / "data" / "database.sqlite3"
    copy_database(request.getfixturevalue("migrated"), path)
    return path
