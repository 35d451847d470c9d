"""The administration of an installation, in this process."""

from pathlib import Path

import pytest

from printreach.run import admin_world
from tests.fakes.passwords import PlainPasswords
from tests.rigs.databases import copy_database, migrated
from tests.run.admin import Admin

__all__ = ["migrated"]


@pytest.fixture
def new_admin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Admin:
    """Of a service that never ran: it has no data directory yet."""
    monkeypatch.setattr(admin_world, "Argon2Passwords", PlainPasswords)
    return Admin(tmp_path, monkeypatch, capsys)


@pytest.fixture
def admin(new_admin: Admin, migrated: Path) -> Admin:
    """Of a service that ran before."""
    copy_database(migrated, new_admin.database)
    return new_admin
