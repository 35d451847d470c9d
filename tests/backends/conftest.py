"""A database file for each test, copied from one that was migrated once."""

import shutil
from pathlib import Path

import pytest

from printreach.backends import printer_http, smtp, webhook_http
from printreach.backends.sql.engine import prepare_file
from printreach.backends.sql.migrate import migrate

DEADLINES = [
    *((webhook_http, name) for name in ("TIMEOUT_S", "LOOKUP_TIMEOUT_S", "BODY_TIMEOUT_S")),
    (webhook_http, "CONNECT_TIMEOUT_S"),
    *((printer_http, name) for name in ("ASK_TIMEOUT_S", "ORDER_TIMEOUT_S")),
    (smtp, "TIMEOUT_S"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No deadline passes because the machine stood still. A test of one sets its own."""
    for module, name in DEADLINES:
        monkeypatch.setattr(module, name, 60.0)


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
