"""A Duet's files: its G-code, and its settings, which are G-code too."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot
from printreach.printers.http_api import NotFound
from printreach.printers.port import Download, bad_path, failed, no_such_file
from printreach.printers.spool import exactly, spooled

from .api import Duet
from .entries import details_of, entry_of, is_folder, name_of

FOLDERS = {FileRoot.GCODE: "0:/gcodes", FileRoot.CONFIG: "0:/sys"}
MAX_DEPTH = 16
MAX_FOLDERS = 1000
"""The most folders of a listing; each costs a request."""
NOT_IN_NAMES = frozenset('"*:<>?\\|')
"""Characters that names on an SD card's file system can't have."""


def platform_path(path: str) -> str:
    root, _, inside = path.partition("/")
    return f"{FOLDERS[FileRoot(root)]}/{inside}"


class DuetFiles:
    """printers.port.Files.

    board: the one in session. folder: where uploads of unknown size wait.
    """

    roots = tuple(FOLDERS)

    def __init__(self, board: Callable[[], Duet], folder: Path) -> None:
        self._board = board
        self._folder = folder

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        return await _Listing(self._board()).below(root.value, FOLDERS[root], MAX_DEPTH)

    async def details(self, path: str) -> FileDetails:
        stored = platform_path(path)
        try:
            return details_of(await self._board().told_of(stored), path, stored)
        except NotFound:
            raise no_such_file(path) from None

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        try:
            async with self._board().open(platform_path(path)) as download:
                yield download
        except NotFound:
            raise no_such_file(path) from None

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        stored = platform_path(path)
        if NOT_IN_NAMES & set(stored.partition("/")[2]):
            raise bad_path("A name can't have any of \" * : < > ? \\ | in it.")
        board = self._board()
        if size is not None:
            await board.store(stored, size, exactly(chunks, size))
        elif board.wants_size:
            async with spooled(chunks, self._folder) as (size, body):
                await board.store(stored, size, body)
        else:
            counted = _ByteCounter(chunks)
            await board.store(stored, None, counted.chunks())
            size = counted.size
        return FileDone(virtual_path=path, platform_path=stored, size_bytes=size)

    async def delete(self, path: str) -> FileDone:
        stored = platform_path(path)
        try:
            await self._board().remove(stored)
        except NotFound:
            raise no_such_file(path) from None
        return FileDone(virtual_path=path, platform_path=stored)


class _Listing:
    """One walk through all folders."""

    def __init__(self, board: Duet) -> None:
        self._board = board
        self._left = MAX_FOLDERS

    async def below(self, path: str, folder: str, depth: int) -> list[FileEntry]:
        """List what is below a folder. A missing folder is empty, as on a new SD card."""
        self._left -= 1
        if depth == 0 or self._left < 0:
            raise failed(f"There are more folders than the {MAX_FOLDERS} that can be listed.")
        try:
            listed = await self._board.listed(folder)
        except NotFound:
            return []
        entries = []
        for entry in listed:
            name = name_of(entry)
            if name is None:
                continue
            inner, stored = f"{path}/{name}", f"{folder}/{name}"
            children = await self.below(inner, stored, depth - 1) if is_folder(entry) else None
            entries.append(entry_of(entry, inner, stored, children))
        return entries


class _ByteCounter:
    """Chunks that are counted as they pass. size: bytes, so far."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.size = 0
        self._chunks = chunks

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self.size += len(chunk)
            yield chunk
