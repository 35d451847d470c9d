"""Pictures and videos as files in folders of the service's own."""

import asyncio
import errno
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from printreach.ports.snapshots import SnapshotsUnavailable
from printreach.rules.prints.snapshots import is_snapshot_id

KEPT_FREE: Final = 256 * 1024**2
"""Bytes of the disk that pictures leave: the database is on it as well."""
_UNFINISHED: Final = ".new"


class DiskSnapshots:
    """ports.SnapshotStore. A picture is stored as a whole or not at all. suffix: of the files."""

    def __init__(self, folder: Path, suffix: str = ".jpg") -> None:
        self._folder = folder
        self._suffix = suffix

    async def put(self, snapshot_id: str, content: bytes) -> None:
        try:
            await asyncio.to_thread(self._write, self._path(snapshot_id), content)
        except OSError as error:
            raise SnapshotsUnavailable(f"A picture was not kept: {error.strerror}.") from error

    async def get(self, snapshot_id: str) -> bytes | None:
        try:
            return await asyncio.to_thread(self._path(snapshot_id).read_bytes)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SnapshotsUnavailable(f"A picture can't be read: {error.strerror}.") from error

    async def remove(self, snapshot_ids: Sequence[str]) -> None:
        paths = [self._path(snapshot_id) for snapshot_id in snapshot_ids]
        try:
            await asyncio.to_thread(_unlink, paths)
        except OSError as error:
            raise SnapshotsUnavailable(f"Pictures were not removed: {error.strerror}.") from error

    def _path(self, snapshot_id: str) -> Path:
        """Return the path.

        A folder holds a thousandth of them, so that none gets too large to list.
        """
        if not is_snapshot_id(snapshot_id):
            raise ValueError("this is no picture's id")
        return self._folder / snapshot_id[:2] / f"{snapshot_id}{self._suffix}"

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < KEPT_FREE + len(content):
            raise OSError(errno.ENOSPC, f"less than {KEPT_FREE // 1024**2} MiB would be free")
        unfinished = path.with_suffix(_UNFINISHED)
        try:
            unfinished.touch(mode=0o600)
            unfinished.write_bytes(content)
            unfinished.rename(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def _unlink(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
        path.with_suffix(_UNFINISHED).unlink(missing_ok=True)
