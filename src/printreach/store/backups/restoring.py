"""Restores a backup into a data directory that nothing uses."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from printreach.store.backups.archive import BackupFailed, Description, extract, in_a_sentence
from printreach.store.backups.making import ASIDE, STAGING, TIME_IN_NAMES
from printreach.store.key_files import flush_folder
from printreach.store.migrate import migrate

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to a database's name for the files that belong to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoredBackup:
    """A backup that was restored. aside: the folder with what was there before, if anything was."""

    description: Description
    aside: Path | None


def restore(source: Path, database: Path, at: datetime, *, replaces: bool) -> RestoredBackup:
    """Put a backup into the data directory of a database, once all of it has been checked.

    replaces: what is there is moved into a folder of the data directory. An older database is
    migrated. Raises BackupFailed, and DatabaseTooNew.
    """
    data_dir = database.parent
    with in_a_sentence(f"The backup {source} can't be restored"):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not replaces and any(data_dir.iterdir()):
            raise BackupFailed(
                f"{data_dir} isn't empty. With --replace, what is there is moved into a folder."
            )
        staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=data_dir))
        try:
            with _unused(database):
                description = extract(source, staging)
                _check(staging / database.name)
                migrate(staging / database.name)
            aside = _move_aside(database, staging, at)
            _move_into_place(staging, database)
        finally:
            shutil.rmtree(staging)
    return RestoredBackup(description=description, aside=aside)


@contextlib.contextmanager
def _unused(database: Path) -> Iterator[None]:
    """Keep services from starting on a database. Raises BackupFailed if one runs on it."""
    if not database.exists():
        yield
        return
    with contextlib.closing(sqlite3.connect(database, timeout=1, isolation_level=None)) as held:
        try:
            # Fails while anybody else has it open, also without a transaction.
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise BackupFailed(f"{database} is in use; stop the service first.") from error
            raise
        except sqlite3.DatabaseError:
            pass  # a damaged one is what backups are for
        yield


def _check(database: Path) -> None:
    if not database.exists():
        raise BackupFailed(f"The backup has no file {database.name}.")
    with contextlib.closing(sqlite3.connect(database)) as connection:
        [found] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise BackupFailed(f"The backup's database is damaged: {found}.")


def _move_aside(database: Path, staging: Path, at: datetime) -> Path | None:
    """Move what the backup replaces into a folder; return that, or None if there was nothing."""
    data_dir = database.parent
    names = {path.name for path in staging.iterdir()}
    names |= {database.name + more for more in _SIDE_FILES}
    there = [data_dir / name for name in sorted(names) if (data_dir / name).exists()]
    if not there:
        return None
    aside = data_dir / f"{ASIDE}{at:{TIME_IN_NAMES}}"
    aside.mkdir(mode=0o700)
    for path in there:
        path.rename(aside / path.name)
    return aside


def _move_into_place(staging: Path, database: Path) -> None:
    # The database comes last, so that a crash before leaves none that lacks its keys.
    for path in sorted(staging.iterdir(), key=lambda one: one.name == database.name):
        path.rename(database.parent / path.name)
    flush_folder(database.parent)
