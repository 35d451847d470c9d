"""The operator's commands where the database is, or comes to be, on a PostgreSQL server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.databases import migrated_postgresql, postgresql
from tests.rigs.postgresql import PostgresqlServer
from tests.run.admin import ADA, PRINTER_ID, Admin

__all__ = ["migrated_postgresql", "postgresql"]

pytestmark = pytest.mark.slow


@pytest.fixture
def url(postgresql: PostgresqlServer, migrated_postgresql: str) -> Iterator[str]:
    """An empty database."""
    with postgresql.database(migrated_postgresql) as url:
        yield url


@pytest.fixture
def other_url(postgresql: PostgresqlServer, migrated_postgresql: str) -> Iterator[str]:
    with postgresql.database(migrated_postgresql) as url:
        yield url


@pytest.fixture
def moved(admin: Admin, url: str, monkeypatch: pytest.MonkeyPatch) -> Admin:
    """Of a service with Ada and her printer, which was moved to the server."""
    admin.set_up()
    copied = admin.json("database", "copy", f"sqlite:///{admin.database}", url)
    assert (copied["Tables"]["accounts"], copied["Tables"]["printers"]) == (1, 1)
    admin.database.unlink()
    monkeypatch.setenv("PRINTREACH_DATABASE_URL", url)
    return admin


def accounts_and_printers(admin: Admin) -> tuple[list[str], list[str]]:
    accounts = admin.json("account", "list")["Accounts"]
    printers = admin.json("printer", "list")["Printers"]
    return [one["Email"] for one in accounts], [one["PrinterId"] for one in printers]


def test_a_service_moves_to_a_server_and_back(
    moved: Admin, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = accounts_and_printers(moved)
    moved.json("database", "copy", url, f"sqlite:///{moved.database}")
    monkeypatch.delenv("PRINTREACH_DATABASE_URL")

    assert there == ([ADA], [PRINTER_ID])
    assert accounts_and_printers(moved) == there


def test_a_backup_of_a_server_is_restored_on_another_one(
    moved: Admin, other_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.tar.gz"
    moved.json("database", "backup", str(file))
    monkeypatch.setenv("PRINTREACH_DATABASE_URL", other_url)
    monkeypatch.setenv("PRINTREACH_DATA_DIR", str(tmp_path / "new"))
    moved.json("database", "restore", str(file))

    assert accounts_and_printers(moved) == ([ADA], [PRINTER_ID])
    assert not list((tmp_path / "new").glob("printreach.sqlite3*"))


def test_a_backup_of_a_server_is_restored_to_a_file(
    moved: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.tar.gz"
    moved.json("database", "backup", str(file))
    monkeypatch.delenv("PRINTREACH_DATABASE_URL")
    monkeypatch.setenv("PRINTREACH_DATA_DIR", str(tmp_path / "new"))
    moved.json("database", "restore", str(file))

    assert accounts_and_printers(moved) == ([ADA], [PRINTER_ID])


def test_a_server_with_data_is_not_restored_to(moved: Admin, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    moved.json("database", "backup", str(file))
    before = sorted(moved.database.parent.iterdir())

    assert "The target isn't empty" in moved.refusal("database", "restore", str(file), "--replace")
    assert sorted(moved.database.parent.iterdir()) == before
    assert accounts_and_printers(moved) == ([ADA], [PRINTER_ID])


def test_the_doctor_looks_at_the_server(
    moved: Admin, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> tuple[str, str]:
        _, out, _ = moved.run("doctor")
        [line] = [line for line in out.splitlines() if " database " in line]
        [printers] = [line for line in out.splitlines() if " printers " in line]
        return line, printers

    database, printers = found()
    assert database.startswith("ok ")
    assert "None of 1 linked printers" in printers

    monkeypatch.setenv("PRINTREACH_DATABASE_URL", "postgresql://somebody:secret@localhost:9/none")
    database, _ = found()
    assert database.startswith("FAILURE")
    assert "secret" not in database


@pytest.mark.parametrize(
    "words",
    [
        ("mysql://u:secret@host/db", "sqlite:///x"),
        ("sqlite:///x", "host:secret"),
        ("sqlite:///x", "sqlite:///x"),
    ],
)
def test_wrong_addresses_are_refused_without_their_passwords(
    admin: Admin, words: tuple[str, str]
) -> None:
    status, _, err = admin.run("database", "copy", *words)

    assert status == 2
    assert "secret" not in err


def test_people_see_how_far_a_copy_is(admin: Admin, url: str) -> None:
    admin.set_up()
    status, out, err = admin.run("database", "copy", f"sqlite:///{admin.database}", url)

    assert status == 0
    assert "Copying accounts\n" in err
    assert "and compared them" in out


def test_a_server_that_cannot_be_reached_is_a_sentence(admin: Admin) -> None:
    nowhere = "postgresql://somebody:secret@localhost:9/none"
    said = admin.refusal("database", "copy", f"sqlite:///{admin.database}", nowhere)

    assert "A database can't be used" in said
    assert "secret" not in said
