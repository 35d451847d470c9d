"""Makes a backup, while the service runs or not."""

import contextlib
import os
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
    in_a_sentence,
)
from printreach.store.key_files import flush_folder

TIME_IN_NAMES: Final = "%Y-%m-%dT%H%M%SZ"
PICTURES: Final = frozenset({"snapshots", "timelapses"})
"""Folders of the data directory that are large, and that a service works without."""
ASIDE: Final = "replaced-"
STAGING: Final = "restoring-"
"""How the names of folders begin that a restore leaves in the data directory, or uses."""

_NAMES: Final = "printreach-*Z.tar.gz"


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
