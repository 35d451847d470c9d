"""The operator's commands about backups."""

from pathlib import Path

import pytest

from tests.run.admin import ADA, Admin


def test_a_backup_is_restored_by_commands(
    admin: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.add_ada()
    file = tmp_path / "backup.tar.gz"
    made = admin.json("database", "backup", str(file))
    monkeypatch.setenv("PRINTREACH_DATA_DIR", str(tmp_path / "new"))
    restored = admin.json("database", "restore", str(file))

    assert made == {"File": str(file), "Bytes": file.stat().st_size, "Deleted": []}
    assert restored["Replaced"] is None
    assert [one["Email"] for one in admin.json("account", "list")["Accounts"]] == [ADA]


def test_backups_and_restores_are_in_the_audit_log(admin: Admin, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    admin.json("database", "backup", str(file))
    [made] = admin.json("acts")["Acts"]
    admin.json("database", "restore", str(file), "--replace")
    [restored] = admin.json("acts")["Acts"]

    assert (made["Act"], made["Subject"]) == ("backup-made", "backup.tar.gz")
    assert (restored["Act"], restored["Subject"]) == ("backup-restored", "backup.tar.gz")


def test_people_are_told_what_a_backup_holds_and_what_a_restore_brings_back(
    admin: Admin, tmp_path: Path
) -> None:
    file = tmp_path / "backup.tar.gz"
    _, made, _ = admin.run("database", "backup", str(file))
    _, restored, _ = admin.run("database", "restore", str(file), "--replace")

    assert "with all accounts, keys and secrets" in made
    assert "is valid again" in restored
    assert "What was there before is in" in restored


def test_older_backups_of_a_folder_are_deleted_on_demand(admin: Admin, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    old = folder / "printreach-2020-01-01T000000Z.tar.gz"
    old.touch()
    made = admin.json("database", "backup", str(folder), "--keep", "1")

    assert made["Deleted"] == [str(old)]
    assert [str(path) for path in folder.iterdir()] == [made["File"]]


def test_keeping_the_newest_needs_a_folder(admin: Admin, tmp_path: Path) -> None:
    said = admin.refusal("database", "backup", str(tmp_path / "one"), "--keep", "3")

    assert "--keep is for a folder of backups" in said


@pytest.mark.parametrize("number", ["0", "-1", "many", "10000", "1e3"])
def test_how_many_are_kept_is_a_number(admin: Admin, number: str) -> None:
    status, _, err = admin.run("database", "backup", "x", f"--keep={number}")

    assert status == 2
    assert "is not a number from 1 to 9999" in err


def test_a_service_that_never_ran_has_nothing_to_back_up(new_admin: Admin, tmp_path: Path) -> None:
    status, _, err = new_admin.run("database", "backup", str(tmp_path / "backup.tar.gz"))

    assert status == 1
    assert "unable to open database file" in err
    assert not new_admin.database.exists()


def test_what_is_restored_while_data_is_there_is_refused(admin: Admin, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    admin.json("database", "backup", str(file))

    assert "With --replace" in admin.refusal("database", "restore", str(file))
