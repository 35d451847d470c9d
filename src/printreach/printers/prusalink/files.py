"""PrusaLink's files: one storage, the printer's own SD card left out, for it is for reading only.

A Raspberry Pi notices what changes in its storage with some delay; so that what has been answered
is true at once, a change counts as made when PrusaLink tells of it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from msgspec import structs

from printreach.contract.commands import CommandStatus
from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.languages import in_english
from printreach.printers import loose
from printreach.printers.http_api import Conflict, NotFound, as_no_such_file
from printreach.printers.port import Download, PrinterRefused, failed, no_such_file
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.uploads import exactly, spooled
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES
from printreach.wire.heads import Headers

from .api import MAX_LIST_BYTES, PrusaLinkApi
from .entries import (
    details_of,
    download_path,
    entries_of,
    has_children,
    is_folder,
    name_of,
    storable,
    thumbnail_path,
)
from .translate import Machine

MAX_DEPTH = 16
MAX_FOLDERS = 1000
NOTICED_S = 8.0
"""Until a change shows; two seconds are usual."""
LOOK_EVERY_S = 0.2
BLOCK_BYTES = 65_365
_G_CODE: Headers = [(b"Content-Type", b"text/x.gcode"), (b"Overwrite", b"?1")]
"""As application/octet-stream, 0.8.1 looks into the file before it is there, and fails."""
_FOLDER: Headers = [(b"Create-Folder", b"?1")]
_FORCE: Headers = [(b"Force", b"?1")]


class PrusaLinkFiles:
    """printers.port.Files. folder: where uploads of unknown size wait."""

    roots = (FileRoot.GCODE,)

    def __init__(self, api: PrusaLinkApi, folder: Path, machine: Callable[[], Machine]) -> None:
        self._api = api
        self._folder = folder
        self._machine = machine

    def target(self, inside: str) -> str:
        """Return the address of a path inside the storage."""
        return f"/api/v1/files/{self._machine().storage}/{quote(inside, safe='/')}"

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        """List a root; each folder has to be asked for."""
        return await self._below(root.value, "", [MAX_FOLDERS], MAX_DEPTH)

    async def details(self, path: str) -> FileDetails:
        inside = _inside(path)
        reported = await self._file_info(path)
        if is_folder(reported):
            raise no_such_file(path)
        return details_of(reported, path, inside)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        reported = await self._file_info(path)
        target = download_path(reported)
        if is_folder(reported) or target is None:
            raise no_such_file(path)
        # PrusaLink's own names have no percent sign; Buddy's may be encoded already.
        target = quote(target, safe="/%")
        async with self._api.download(target, path) as download:
            yield download

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Return the picture that PrusaLink names, else the one in the file's beginning."""
        target = thumbnail_path(await self._file_info(path))
        if target is None:
            return await read_thumbnail(self.open(path), size_px)
        at_most = MAX_THUMBNAIL_BYTES + 1
        answer = await self._api.ask("GET", quote(target, safe="/%"), at_most=at_most)
        return self._api.accept(answer).body

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        if size is not None:
            return await self._upload(path, size, exactly(chunks, size))
        # It wants to be told the size first.
        async with spooled(chunks, self._folder) as (body_size, body):
            return await self._upload(path, body_size, body)

    async def delete(self, path: str) -> FileDone:
        reported = await self._file_info(path)
        headers: Headers = []
        if is_folder(reported):
            if has_children(reported):
                raise failed(in_english("The folder %(path)s is not empty.", path=repr(path)))
            # PrusaLink's own hidden files would count as content otherwise.
            headers = _FORCE
        with as_no_such_file(path):
            await self._api.delete(self.target(_inside(path)), headers)
        await self._until_noticed(path, is_there=False)
        return FileDone(virtual_path=path, platform_path=_inside(path))

    async def _below(
        self, above: str, inside: str, folders_left: list[int], depth: int
    ) -> list[FileEntry]:
        """folders_left: one number, shared by all folders of a listing."""
        if depth == 0 or folders_left[0] == 0:
            return []
        folders_left[0] -= 1
        try:
            folder = await self._api.get(self.target(inside), at_most=MAX_LIST_BYTES)
        except NotFound:
            return []  # it has just been deleted, or the drive is out
        entries = []
        for entry in entries_of(folder, above):
            if entry.type is EntryType.FOLDER:
                children = await self._below(
                    entry.virtual_path, _inside(entry.virtual_path), folders_left, depth - 1
                )
                entry = structs.replace(entry, children=children)
            entries.append(entry)
        return entries

    async def _file_info(self, path: str) -> object:
        """Return what PrusaLink tells of a file or folder. Raises PrinterRefused (404)."""
        try:
            return await self._api.get(self.target(_inside(path)), at_most=MAX_LIST_BYTES)
        except NotFound:
            raise no_such_file(path) from None
        except PrinterRefused as refused:
            # 0.8.1 fails at details of names like `part.new.gcode`, but lists such files.
            listed = await self._listed(_inside(path))
            if refused.status != CommandStatus.EXECUTION_FAILED or listed is None:
                raise
            return listed

    async def _listed(self, inside: str) -> object:
        """Return what the list of its folder tells of a file; None where it isn't in it."""
        folder, _, name = inside.rpartition("/")
        reported = await self._api.get(self.target(folder), at_most=MAX_LIST_BYTES)
        children = loose.items(reported, "children")
        return next((child for child in children if name_of(child) == name), None)

    async def _upload(self, path: str, size: int, chunks: AsyncIterator[bytes]) -> FileDone:
        inside = storable(_inside(path))
        if not self._machine().is_pi:
            await self._make_folders(inside)
        try:
            answered = await self._api.upload("PUT", self.target(inside), _G_CODE, size, chunks)
        except PrinterRefused as refused:
            raise _block_defect(size) if _hits_block_defect(size, refused) else refused from None
        folder, slash, name = inside.rpartition("/")
        stored = f"{folder}{slash}{name_of(loose.parsed(answered.body)) or name}"
        with suppress(asyncio.CancelledError):  # it has accepted the file, which stays
            await self._until_noticed(f"{FileRoot.GCODE}/{stored}", is_there=True, size=size)
        return FileDone(
            virtual_path=f"{FileRoot.GCODE}/{stored}", platform_path=stored, size_bytes=size
        )

    async def _make_folders(self, inside: str) -> None:
        """Create the folders.

        A Raspberry Pi does so by itself; that Buddy's firmware doesn't is a guess.
        """
        parts = inside.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            try:
                await self._api.put(self.target("/".join(parts[:count])), _FOLDER)
            except Conflict:
                pass  # it is there already

    async def _until_noticed(self, path: str, *, is_there: bool, size: int | None = None) -> None:
        """Wait until the change shows, or as long as one may wait for it."""
        try:
            async with asyncio.timeout(NOTICED_S):
                while True:
                    if await self._is_noticed(path, is_there=is_there, size=size):
                        return
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            pass  # it has accepted the change, and will show it later

    async def _is_noticed(self, path: str, *, is_there: bool, size: int | None) -> bool:
        try:
            reported = await self._file_info(path)
        except PrinterRefused as refused:
            return not is_there and refused.status == CommandStatus.NOT_FOUND
        return is_there and (size is None or loose.size(reported, "size") == size)


def _hits_block_defect(size: int, refused: PrinterRefused) -> bool:
    """0.8.1 reads an upload in blocks, and drops a last one of a single byte."""
    is_words_of_its_own = refused.status == CommandStatus.EXECUTION_FAILED
    return is_words_of_its_own and size > BLOCK_BYTES and size % BLOCK_BYTES == 1


def _block_defect(size: int) -> PrinterRefused:
    return failed(
        in_english(
            "PrusaLink can't store a file of exactly %(size)s bytes, a defect of its version"
            " 0.8.1: add an empty line to the file and try again.",
            size=size,
        )
    )


def _inside(path: str) -> str:
    return path.partition("/")[2]
