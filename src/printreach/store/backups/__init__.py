"""Backups of an installation: its database and its data directory in one file, and back again."""

import contextlib
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from printreach.store.backups.archive import (
    BackupFailed,
    BackupWriter,
    Description,
    extract,
    in_a_sentence,
)
from printreach.store.engine import unused
from printreach.store.key_files import flush_folder
from printreach.store.location import UNFINISHED_RESTORE
from printreach.store.migrate import migrate

TIME_IN_NAMES: Final = "%Y-%m-%dT%H%M%SZ"
PICTURES: Final = frozenset({"snapshots", "timelapses"})
"""Folders of the data directory that are large, and that a service works without."""
ASIDE: Final = "replaced-"
STAGING: Final = "restoring-"
"""How the names of folders begin that a restore leaves in the data directory, or uses."""

_NAMES: Final = "printreach-*Z.tar.gz"

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to a database's name for the files that belong to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeBackup:
    """A backup that was made. revision: of its database. dropped: older ones that were deleted."""

    path: Path
    size: int
    revision: str
    dropped: Sequence[Path]


@dataclass(frozen=True, kw_only=True, slots=True)
class Backup:
    """What is backed up.

    database: its file's name in the data directory. copy_database: makes a copy of it in an empty
    file. version: of Printreach.
    """

    data_dir: Path
    database: str
    copy_database: Callable[[Path], None]
    version: str
    has_pictures: bool = False

    def make(self, target: Path, at: datetime, keep: int | None = None) -> MadeBackup:
        """Make a backup in a new file, or in an existing folder, named after the time.

        keep: how many backups stay in the folder. Raises BackupFailed.
        """
        with in_a_sentence(f"The backup {target} can't be made"):
            path = target / f"printreach-{at:{TIME_IN_NAMES}}.tar.gz" if target.is_dir() else target
            if keep is not None and path == target:
                raise BackupFailed(f"--keep is for a folder of backups, and {target} is none.")
            if path.resolve().is_relative_to(self.data_dir.resolve()):
                raise BackupFailed(f"{path} is in the data directory; name a place outside of it.")
            if path.exists():
                raise BackupFailed(f"There is a file {path} already.")
            with _draft_of(path) as draft:
                revision = self._write(draft, at)
                draft.replace(path)
            flush_folder(path.parent)
            dropped = [] if keep is None else _drop_older(path, keep)
            size = path.stat().st_size
            return MadeBackup(path=path, size=size, revision=revision, dropped=dropped)

    def _write(self, draft: Path, at: datetime) -> str:
        """Write it; return the database's revision."""
        with _draft_of(draft) as copy:
            self.copy_database(copy)
            description = Description(made_at=at, version=self.version, revision=revision_of(copy))
            with draft.open("wb") as file:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
                    writer = BackupWriter(archive)
                    writer.begin(description)
                    writer.add(PurePosixPath(self.database), copy)
                    for name in self._others():
                        writer.add(name, self.data_dir / name)
                    writer.end()
                file.flush()
                os.fsync(file.fileno())
        return description.revision

    def _others(self) -> Iterator[PurePosixPath]:
        """Yield the other files of the data directory: keys, and the folder of an agent."""
        left_out = frozenset() if self.has_pictures else PICTURES
        for folder, folders, files in os.walk(self.data_dir):
            inside = Path(folder).relative_to(self.data_dir)
            if inside == Path():
                folders[:] = [
                    one
                    for one in folders
                    if one not in left_out and not one.startswith((ASIDE, STAGING))
                ]
                files = [one for one in files if not one.startswith(self.database)]
            for name in files:
                if (self.data_dir / inside / name).is_file():
                    yield PurePosixPath(inside / name)


def copy_sqlite(source: Path, to: Path) -> None:
    """Copy a database, which may be in use, as it is at one moment; nothing deleted is in it.

    to: an empty file. Raises BackupFailed.
    """
    try:
        connection = sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)
        with contextlib.closing(connection):
            connection.execute("VACUUM INTO ?", (str(to),))
    except sqlite3.Error as error:
        raise BackupFailed(f"The database {source} can't be copied: {error}.") from error


def revision_of(database: Path) -> str:
    """Return the schema's revision of a copy. Raises BackupFailed if it is none of a service."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        try:
            [revision] = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except (sqlite3.OperationalError, TypeError, ValueError) as error:
            raise BackupFailed("The database is not one of a service.") from error
    return str(revision)


def _drop_older(made: Path, keep: int) -> list[Path]:
    """Delete all but the newest in the folder; the one just made counts as the newest."""
    others = sorted(path for path in made.parent.glob(_NAMES) if path != made)
    dropped = others[: max(0, len(others) + 1 - keep)]
    for path in dropped:
        path.unlink()
    return dropped


@contextlib.contextmanager
def _draft_of(path: Path) -> Iterator[Path]:
    """Give an empty file beside it, for its owner alone; it is deleted if it is still there."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name.lstrip('.')}.", dir=path.parent)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


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
