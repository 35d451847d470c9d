"""A backup is a whole installation in one file, and what is restored is what was backed up."""

import gzip
import io
import sqlite3
import tarfile
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from printreach.ports import StoreUnavailable
from printreach.store import backups
from printreach.store.backups import (
    Backup,
    MadeBackup,
    RestoredBackup,
    copy_sqlite,
    restore,
    revision_of,
)
from printreach.store.backups.archive import BackupFailed, Description
from printreach.store.migrate import HEAD, DatabaseTooNew
from printreach.store.store import open_store
from tests.fakes.clock import NOON
from tests.fakes.hasty_loop import on_a_hasty_loop
from tests.store.records import ADA
from tests.store.test_migrate import migrate_to

pytestmark = pytest.mark.sqlite

KEYS = {"service.key": b"s" * 32, "sealing.keys": b"k\n", "agent/agent.key": b"a" * 32}
PICTURE = "snapshots/ab/cdef.jpg"


@pytest.fixture
def data_dir(database: Path) -> Path:
    """What a service keeps: its database with an account, keys, an agent's folder and a picture."""
    folder = database.parent
    for name, content in {**KEYS, PICTURE: b"JPEG"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    add_account(database)
    return folder


def add_account(database: Path) -> None:
    @on_a_hasty_loop
    async def add() -> None:
        async with open_store(database) as store:
            await store.write(lambda records: records.accounts.add(ADA))

    add()


def accounts_in(database: Path) -> list[str]:
    connection = sqlite3.connect(database)
    found = [email for (email,) in connection.execute("SELECT email FROM accounts")]
    connection.close()
    return found


def backup_of(data_dir: Path, *, has_pictures: bool = False) -> Backup:
    return Backup(
        data_dir=data_dir,
        database="database.sqlite3",
        copy_database=partial(copy_sqlite, data_dir / "database.sqlite3"),
        version="1.2.3",
        has_pictures=has_pictures,
    )


@pytest.fixture
def made(data_dir: Path, tmp_path: Path) -> MadeBackup:
    return backup_of(data_dir).make(tmp_path / "made.tar.gz", NOON)


def restore_to(folder: Path, source: Path, *, replaces: bool = False) -> RestoredBackup:
    return restore(source, folder / "database.sqlite3", NOON, replaces=replaces)


def files_in(folder: Path) -> dict[str, bytes]:
    """All files but the database."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("database.sqlite3")
    }


def refusal_of(folder: Path, source: Path, *, replaces: bool = False) -> str:
    """The sentence of a restore that fails; it leaves the folder as it was."""
    before = files_in(folder) if folder.exists() else {}
    with pytest.raises(BackupFailed) as refused:
        restore_to(folder, source, replaces=replaces)
    assert files_in(folder) == before
    return str(refused.value)


def with_members(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def members_of(path: Path) -> dict[str, bytes]:
    with tarfile.open(path, "r:gz") as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]


def test_a_restored_backup_is_the_installation(made: MadeBackup, tmp_path: Path) -> None:
    restored = restore_to(tmp_path / "new", made.path)

    assert accounts_in(tmp_path / "new" / "database.sqlite3") == [ADA.email]
    assert files_in(tmp_path / "new") == KEYS
    assert restored.description == Description(made_at=NOON, version="1.2.3", revision=HEAD)
    assert restored.aside is None


def test_all_of_it_is_for_its_owner_alone(made: MadeBackup, tmp_path: Path) -> None:
    restore_to(tmp_path / "new", made.path)

    paths = [made.path, tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in paths} == {0}


def test_a_backup_is_made_while_the_database_is_in_use(data_dir: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(data_dir / "database.sqlite3", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM accounts")
    backup_of(data_dir).make(tmp_path / "made.tar.gz", NOON)
    connection.rollback()
    connection.close()
    restore_to(tmp_path / "new", tmp_path / "made.tar.gz")

    assert accounts_in(tmp_path / "new" / "database.sqlite3") == [ADA.email]


def test_nothing_that_was_deleted_is_in_a_backup(data_dir: Path, tmp_path: Path) -> None:
    with sqlite3.connect(data_dir / "database.sqlite3") as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM accounts")
    connection.close()
    backup_of(data_dir).make(tmp_path / "made.tar.gz", NOON)

    database = members_of(tmp_path / "made.tar.gz")["data/database.sqlite3"]
    assert ADA.email.encode() not in database


def test_pictures_are_in_a_backup_on_demand(data_dir: Path, tmp_path: Path) -> None:
    backup_of(data_dir, has_pictures=True).make(tmp_path / "made.tar.gz", NOON)
    restore_to(tmp_path / "new", tmp_path / "made.tar.gz")

    assert files_in(tmp_path / "new") == {**KEYS, PICTURE: b"JPEG"}


def test_a_folder_of_backups_keeps_the_newest(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "notes.txt").touch()
    made = [
        backup_of(data_dir).make(folder, NOON + timedelta(days=number), keep=2)
        for number in range(3)
    ]

    assert made[2].dropped == [made[0].path]
    assert sorted(folder.iterdir()) == [folder / "notes.txt", made[1].path, made[2].path]


def test_the_backup_just_made_stays_among_those_of_a_clock_ahead(
    data_dir: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    ahead = folder / "printreach-2099-01-01T000000Z.tar.gz"
    ahead.touch()
    made = backup_of(data_dir).make(folder, NOON, keep=1)

    assert made.dropped == [ahead]
    assert list(folder.iterdir()) == [made.path]


def test_a_name_that_is_too_long_is_told_in_a_sentence(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="File name too long"):
        backup_of(data_dir).make(tmp_path / ("x" * 300), NOON)


def test_a_file_that_is_there_is_not_overwritten(made: MadeBackup, data_dir: Path) -> None:
    before = made.path.read_bytes()

    with pytest.raises(BackupFailed, match="already"):
        backup_of(data_dir).make(made.path, NOON)
    assert made.path.read_bytes() == before


def test_a_backup_is_not_made_in_the_data_directory(data_dir: Path) -> None:
    with pytest.raises(BackupFailed, match="in the data directory"):
        backup_of(data_dir).make(data_dir / "made.tar.gz", NOON)


def test_a_backup_that_fails_leaves_no_file(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (data_dir / "database.sqlite3").write_bytes(b"no database" * 100)

    with pytest.raises(BackupFailed, match="not a database"):
        backup_of(data_dir).make(folder, NOON)
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_in_a_sentence(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="No such file or directory"):
        backup_of(data_dir).make(tmp_path / "nowhere" / "made.tar.gz", NOON)


def test_data_that_is_there_is_replaced_on_demand_alone(
    made: MadeBackup, data_dir: Path, tmp_path: Path
) -> None:
    assert "isn't empty" in refusal_of(data_dir, made.path)

    (data_dir / "service.key").write_bytes(b"another")
    restored = restore_to(data_dir, made.path, replaces=True)

    assert restored.aside is not None
    assert (data_dir / "service.key").read_bytes() == KEYS["service.key"]
    assert (restored.aside / "service.key").read_bytes() == b"another"
    assert accounts_in(restored.aside / "database.sqlite3") == [ADA.email]
    assert (data_dir / PICTURE).read_bytes() == b"JPEG"  # the backup has none to replace it


def test_nothing_is_restored_while_a_service_runs(
    made: MadeBackup, data_dir: Path, tmp_path: Path
) -> None:
    @on_a_hasty_loop
    async def attempt() -> None:
        async with open_store(data_dir / "database.sqlite3") as store:
            assert await store.read(lambda records: records.accounts.get("nobody")) is None
            assert "is in use; stop the service first" in refusal_of(
                data_dir, made.path, replaces=True
            )

    attempt()


def test_a_damaged_database_is_replaced(made: MadeBackup, data_dir: Path) -> None:
    (data_dir / "database.sqlite3").write_bytes(b"no database" * 100)
    restore_to(data_dir, made.path, replaces=True)

    assert accounts_in(data_dir / "database.sqlite3") == [ADA.email]


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_backup_that_was_cut_off_is_refused(
    made: MadeBackup, tmp_path: Path, part: float
) -> None:
    content = made.path.read_bytes()
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(content[: int(len(content) * part)])

    assert "damaged" in refusal_of(tmp_path / "new", cut)


def test_a_backup_without_its_end_is_refused(made: MadeBackup, tmp_path: Path) -> None:
    members = members_of(made.path)
    del members["SHA256SUMS"]

    said = refusal_of(tmp_path / "new", with_members(tmp_path / "changed.tar.gz", members))
    assert "its end is missing" in said


@pytest.mark.parametrize("change", [{"data/service.key": b"x" * 32}, {"data/more.key": b"x"}])
def test_a_backup_that_was_changed_is_refused(
    made: MadeBackup, tmp_path: Path, change: dict[str, bytes]
) -> None:
    members = members_of(made.path)
    end = members.pop("SHA256SUMS")
    changed = with_members(tmp_path / "changed.tar.gz", {**members, **change, "SHA256SUMS": end})

    assert f"{next(iter(change))} isn't what was backed up" in refusal_of(tmp_path / "new", changed)


@pytest.mark.parametrize("name", ["/etc/x", "data/../../x", "data/../x", "other/x", "data"])
def test_a_file_outside_of_the_data_directory_is_refused(
    made: MadeBackup, tmp_path: Path, name: str
) -> None:
    members = {"backup.json": members_of(made.path)["backup.json"], name: b"x"}

    said = refusal_of(tmp_path / "new", with_members(tmp_path / "changed.tar.gz", members))
    assert "is no backup of Printreach" in said or "can't be restored" in said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("content", [b"text", gzip.compress(b"text", mtime=0), b""])
def test_what_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)

    assert "no backup of Printreach" in refusal_of(tmp_path / "new", tmp_path / "other")


@pytest.mark.parametrize("headers", [{"GNU.sparse.map": "a,b"}, {"GNU.sparse.major": "1"}])
def test_an_archive_with_broken_headers_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    member = tarfile.TarInfo("backup.json")
    member.pax_headers = headers
    with tarfile.open(tmp_path / "other", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO())

    assert "no backup of Printreach" in refusal_of(tmp_path / "new", tmp_path / "other")


def rewritten(path: Path, changes: dict[str, bytes]) -> Path:
    """A backup with other members, whose digests fit."""
    members = {**members_of(path), **changes}
    del members["SHA256SUMS"]
    lines = (f"{sha256(content).hexdigest()}  {name}\n" for name, content in members.items())
    members["SHA256SUMS"] = "".join(lines).encode()
    return with_members(path.with_name("rewritten.tar.gz"), members)


def test_a_backup_without_a_service_in_its_database_is_refused(
    made: MadeBackup, tmp_path: Path
) -> None:
    empty = rewritten(made.path, {"data/database.sqlite3": b""})

    assert "is not one of a service" in refusal_of(tmp_path / "new", empty)


@pytest.mark.parametrize(
    ("revision", "version", "reason"),
    [("0019", "1", "not the one that it was made of"), (HEAD, "\x1b[31m\n", "is no backup")],
)
def test_a_description_that_fits_no_backup_is_refused(
    made: MadeBackup, tmp_path: Path, revision: str, version: str, reason: str
) -> None:
    told = Description(made_at=NOON, version=version, revision=revision)
    changed = rewritten(made.path, {"backup.json": msgspec.json.encode(told)})

    assert reason in refusal_of(tmp_path / "new", changed)


def test_a_service_refuses_to_start_after_a_restore_that_was_cut_off(
    made: MadeBackup, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(_staging: Path, _database: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(backups, "_move_into_place", cut)
        with pytest.raises(KeyboardInterrupt):
            restore_to(data_dir, made.path, replaces=True)
    with pytest.raises(StoreUnavailable, match="Restore the backup again, with --replace"):
        add_account(data_dir / "database.sqlite3")
    restore(made.path, data_dir / "database.sqlite3", NOON + timedelta(hours=1), replaces=True)

    assert accounts_in(data_dir / "database.sqlite3") == [ADA.email]
    assert not list(data_dir.glob("restoring-*"))


def test_a_backup_of_a_later_format_is_refused(tmp_path: Path) -> None:
    told = msgspec.json.encode(
        Description(made_at=NOON, version="9", revision="1", format="printreach-backup 2")
    )
    later = with_members(tmp_path / "later.tar.gz", {"backup.json": told})

    assert "of another version: 'printreach-backup 2'" in refusal_of(tmp_path / "new", later)


def test_an_older_backup_is_migrated(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    migrate_to("0019", old / "database.sqlite3")
    made = backup_of(old).make(tmp_path / "made.tar.gz", NOON)

    assert made.revision == "0019"
    restore_to(tmp_path / "new", made.path)
    assert revision_of(tmp_path / "new" / "database.sqlite3") == HEAD


def test_a_backup_of_a_newer_schema_is_refused(data_dir: Path, tmp_path: Path) -> None:
    with sqlite3.connect(data_dir / "database.sqlite3") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    made = backup_of(data_dir).make(tmp_path / "made.tar.gz", NOON)

    with pytest.raises(DatabaseTooNew):
        restore_to(tmp_path / "new", made.path)
    assert list((tmp_path / "new").iterdir()) == []
