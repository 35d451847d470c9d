"""Restores a backup into a data directory that nothing uses."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from printreach.store.backups.archive import BackupFailed, Description, extract, in_a_sentence
from printreach.store.backups.making import ASIDE, STAGING, TIME_IN_NAMES, revision_of
from printreach.store.engine import unused
from printreach.store.key_files import flush_folder
from printreach.store.location import UNFINISHED_RESTORE
from printreach.store.migrate import migrate

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to a database's name for the files that belong to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoredBackup:
    """A backup that was restored. aside: the folder with what was there before, if anything was."""

    description: Description
    aside: Path | None


def restore(
    source: Path,
    database: Path,
    at: datetime,
    *,
    replaces: bool,
    load: Callable[[Path], object] | None = None,
) -> RestoredBackup:
    """Put a backup into the data directory of a database, once all of it has been checked.

    replaces: what is there is moved into a folder of the data directory. load: copies the file of
    the database to its server, if it has one. An older database is migrated. Raises BackupFailed,
    and DatabaseTooNew.
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
            with unused(database):
                description = extract(source, staging)
                _check(staging / database.name, description.revision)
                migrate(staging / database.name)
                if load is not None:
                    load(staging / database.name)
                    (staging / database.name).unlink()
            (data_dir / UNFINISHED_RESTORE).mkdir(mode=0o700, exist_ok=True)
            flush_folder(data_dir)
            aside = _move_aside(database, staging, at)
            _move_into_place(staging, database)
            _forget_cut_off(data_dir)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return RestoredBackup(description=description, aside=aside)


def _forget_cut_off(data_dir: Path) -> None:
    """Delete the mark of an unfinished restore, after the files that restores before have left."""
    left = (path for path in data_dir.glob(f"{STAGING}*") if path.name != UNFINISHED_RESTORE)
    for path in [*left, data_dir / UNFINISHED_RESTORE]:
        shutil.rmtree(path)
    flush_folder(data_dir)


def _check(database: Path, revision: str) -> None:
    """Raise BackupFailed unless it is the undamaged database of a service, of that revision."""
    if not database.exists():
        raise BackupFailed(f"The backup has no file {database.name}.")
    with contextlib.closing(sqlite3.connect(database)) as connection:
        [found] = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise BackupFailed(f"The backup's database is damaged: {found}.")
    if revision_of(database) != revision:
        raise BackupFailed("The backup's database is not the one that it was made of.")


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
