"""The file of a backup, and that what is read is what was written.

It is a tar file, compressed by gzip, which holds `backup.json` first, then the files of the data
directory under `data/`, and `SHA256SUMS` last, as `sha256sum --check` reads it. A file that was cut
off lacks the last one.
"""

import contextlib
import hashlib
import io
import os
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Final

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from printreach.contract.codec import BAD_JSON
from printreach.store.copying import CopyFailed
from printreach.store.engine import DatabaseInUse, reason_of

_FORMAT: Final = "printreach-backup 1"
_DESCRIPTION: Final = "backup.json"
_DIGESTS: Final = "SHA256SUMS"
_DATA: Final = PurePosixPath("data")
_DIGESTS_LIMIT: Final = 64 * 2**20
"""Bytes; a line takes about 120, so that is half a million files."""
_CHUNK: Final = 2**20


_Word = Annotated[str, msgspec.Meta(pattern=r"^[ -~]{1,64}\Z")]
"""Printed to the operator as it is, so it has no control characters."""


class BackupFailed(Exception):
    """A backup could not be made or restored; the message is a sentence."""


class Description(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """What a backup says of itself. version: of Printreach. revision: the database's."""

    made_at: datetime
    version: _Word
    revision: _Word
    format: str = _FORMAT


@dataclass(frozen=True, slots=True)
class BackupWriter:
    """Writes a backup, in the order of the calls. digests: of what was written so far."""

    archive: tarfile.TarFile
    digests: dict[str, str] = field(default_factory=dict)

    def begin(self, description: Description) -> None:
        self._add_bytes(_DESCRIPTION, msgspec.json.encode(description))

    def add(self, name: PurePosixPath, path: Path) -> None:
        """Add a file of the data directory, unless it has been deleted meanwhile."""
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            self._add(str(_DATA / name), file, os.fstat(file.fileno()).st_size)

    def end(self) -> None:
        lines = "".join(f"{digest}  {name}\n" for name, digest in self.digests.items())
        self._add_bytes(_DIGESTS, lines.encode())

    def _add_bytes(self, name: str, content: bytes) -> None:
        self._add(name, io.BytesIO(content), len(content))

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        hashed = _Hashed(file)
        self.archive.addfile(member, hashed)
        self.digests[name] = hashed.digest.hexdigest()


def extract(source: Path, folder: Path) -> Description:
    """Write a backup's files into a folder; return what the backup says of itself.

    Raises BackupFailed if they aren't what was backed up, and what `in_a_sentence` translates.
    """
    digests = dict[str, str]()
    expected: dict[str, str] | None = None
    description: Description | None = None
    with tarfile.open(source, "r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None or expected is not None:
                raise _not_ours(source)
            hashed = _Hashed(content)
            if description is None:
                description = _read_description(source, member.name, hashed)
            elif member.name == _DIGESTS:
                expected = _read_digests(hashed)
                continue
            else:
                _write(folder / _name_within_data(source, member.name), hashed)
            digests[member.name] = hashed.digest.hexdigest()
    if description is None or expected is None:
        raise BackupFailed(f"{source} isn't complete: its end is missing.")
    _compare(source, expected, digests)
    return description


@contextlib.contextmanager
def in_a_sentence(what: str) -> Iterator[None]:
    """Translate what files, archives and databases raise. Raises BackupFailed."""
    try:
        yield
    except OSError as error:
        raise BackupFailed(f"{what}: {error.strerror or error}.") from error
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise BackupFailed(f"{what}: it is damaged, or no backup of Printreach.") from error
    except (DatabaseInUse, CopyFailed) as error:
        raise BackupFailed(str(error)) from error
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise BackupFailed(f"{what}: {reason_of(error)}.") from error


class _Hashed:
    """A file of which a digest is taken while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


def _read_description(source: Path, name: str, content: _Hashed) -> Description:
    try:
        if name != _DESCRIPTION:
            raise _not_ours(source)
        description = msgspec.json.decode(content.read(_CHUNK), type=Description)
    except BAD_JSON:
        raise _not_ours(source) from None
    if description.format != _FORMAT:
        raise BackupFailed(f"{source} is of another version: {description.format!r}.")
    return description


def _read_digests(content: _Hashed) -> dict[str, str]:
    lines = content.read(_DIGESTS_LIMIT).decode().splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _compare(source: Path, expected: dict[str, str], found: dict[str, str]) -> None:
    names = sorted(expected.keys() | found.keys())
    wrong = [name for name in names if expected.get(name) != found.get(name)]
    if wrong:
        raise BackupFailed(f"{source} is damaged: {wrong[0]} isn't what was backed up.")


def _name_within_data(source: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.parts[:1] != _DATA.parts:
        raise _not_ours(source)
    return path.relative_to(_DATA)


def _write(path: Path, content: _Hashed) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)
        file.flush()
        os.fsync(file.fileno())


def _not_ours(source: Path) -> BackupFailed:
    return BackupFailed(f"{source} is no backup of Printreach.")
