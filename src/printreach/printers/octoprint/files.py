"""OctoPrint's files: its local storage, and its logs where the agent's key may read them."""

import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import chunks_of
from printreach.printers.http_api import as_no_such_file
from printreach.printers.port import Download, PrinterRefused, failed, no_such_file, not_supported
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.uploads import exactly, form_around_file, form_type, spooled
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES

from .api import MAX_LIST_BYTES, OctoPrintApi
from .entries import (
    details_of,
    entries_of,
    has_children,
    log_entries_of,
    response_of,
    stored_path,
    thumbnail_target,
)

log = logging.getLogger(__name__)

LOCAL = "/api/files/local"
LOGS = "/plugin/logging/logs"
MAX_SEARCHED_BYTES = 4 * 1024 * 1024
"""Slicers put thumbnails before the first line of G-code."""
_MODE = re.compile(rb"^[ \t]*(M82|M83|G1[ \t][^;\r\n]*?E[-+.0-9])", re.MULTILINE)


class OctoPrintFiles:
    """printers.port.Files. folder: where uploads of unknown size wait."""

    def __init__(
        self, api: OctoPrintApi, folder: Path, token_bytes: Callable[[int], bytes]
    ) -> None:
        self._api = api
        self._folder = folder
        self._token_bytes = token_bytes
        self._has_logs = False

    @property
    def roots(self) -> tuple[FileRoot, ...]:
        return (FileRoot.GCODE, FileRoot.LOGS) if self._has_logs else (FileRoot.GCODE,)

    async def look_for_logs(self) -> None:
        """Find out whether the key may read logs: only an administrator's may."""
        try:
            await self._api.get(LOGS)
        except PrinterRefused:
            self._has_logs = False
        else:
            self._has_logs = True

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        if root is FileRoot.LOGS:
            return log_entries_of(await self._api.get(LOGS))
        target = f"{LOCAL}?recursive=true"
        return entries_of(await self._api.get(target, at_most=MAX_LIST_BYTES), root.value)

    async def details(self, path: str) -> FileDetails:
        root, inside = _split(path)
        if root is FileRoot.LOGS:
            return await self._log_details(path)
        answer = await self._file_info(path, inside)
        if loose.text(answer, "type") == "folder":
            raise no_such_file(path)
        return details_of(answer, path, inside)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        root, inside = _split(path)
        target = f"/downloads/logs/{quote(inside)}"
        if root is FileRoot.GCODE:
            target = _download_target(await self._file_info(path, inside), inside)
        async with self._api.download(target, path) as download:
            yield download

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Return the picture of a plugin that draws them, else the one in the file's beginning."""
        root, inside = _split(path)
        if root is FileRoot.LOGS:
            return None
        target = thumbnail_target(await self._file_info(path, inside))
        if target is None:
            return await read_thumbnail(self.open(path), size_px)
        answer = await self._api.ask("GET", target, at_most=MAX_THUMBNAIL_BYTES + 1)
        return self._api.accept(answer).body

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        root, inside = _split(path)
        if root is FileRoot.LOGS:
            raise not_supported(N_("This printer can't take files into its logs."))
        if size is not None:
            return await self._upload(inside, size, exactly(chunks, size))
        # OctoPrint answers 411 to a body whose length it isn't told.
        async with spooled(chunks, self._folder) as (body_size, body):
            return await self._upload(inside, body_size, body)

    async def delete(self, path: str) -> FileDone:
        root, inside = _split(path)
        if root is FileRoot.LOGS:
            return await self._delete(path, inside, f"{LOGS}/{quote(inside)}")
        # OctoPrint would delete a folder with everything in it.
        if has_children(await self._file_info(path, inside)):
            raise failed(in_english("The folder %(path)s is not empty.", path=repr(path)))
        return await self._delete(path, inside, f"{LOCAL}/{quote(inside)}")

    async def _file_info(self, path: str, inside: str) -> object:
        """Return what OctoPrint tells of a file or folder. Raises PrinterRefused (404)."""
        with as_no_such_file(path):
            return await self._api.get(f"{LOCAL}/{quote(inside)}", at_most=MAX_LIST_BYTES)

    async def _log_details(self, path: str) -> FileDetails:
        for entry in await self.entries(FileRoot.LOGS):
            if entry.virtual_path == path and entry.type is EntryType.FILE:
                return FileDetails(
                    virtual_path=path,
                    platform_path=entry.platform_path,
                    file_name=entry.name,
                    size_bytes=entry.size_bytes,
                    modified_time_sec=entry.modified_time_sec,
                )
        raise no_such_file(path)

    async def _upload(self, inside: str, size: int, chunks: AsyncIterator[bytes]) -> FileDone:
        folder, _, name = inside.rpartition("/")
        boundary = f"printreach-{self._token_bytes(16).hex()}"
        head, tail = form_around_file({"path": folder}, "file", name, boundary)
        length = len(head) + size + len(tail)
        body = _framed(head, chunks, tail)
        headers = [(b"Content-Type", form_type(boundary))]
        answered = await self._api.upload("POST", LOCAL, headers, length, body)
        answer = loose.parsed(answered.body)
        stored = stored_path(answer) or inside
        return FileDone(
            virtual_path=f"{FileRoot.GCODE}/{stored}",
            platform_path=stored,
            size_bytes=size,
            printer_response=response_of(answer),
        )

    async def _delete(self, path: str, inside: str, target: str) -> FileDone:
        with as_no_such_file(path):
            await self._api.delete(target)
        return FileDone(virtual_path=path, platform_path=inside)


async def _framed(head: bytes, chunks: AsyncIterator[bytes], tail: bytes) -> AsyncIterator[bytes]:
    yield head
    async for chunk in chunks:
        yield chunk
    yield tail


def _split(path: str) -> tuple[FileRoot, str]:
    root, _, inside = path.partition("/")
    return FileRoot(root), inside


def _download_target(reported: object, inside: str) -> str:
    """Return OctoPrint's download address; the host in it is the page's, not the agent's."""
    try:
        path = urlsplit(str(loose.obj(reported, "refs").get("download", ""))).path
    except ValueError:
        path = ""
    if path.startswith("/") and path.isascii() and path.isprintable() and " " not in path:
        return path
    return f"/downloads/files/local/{quote(inside)}"


async def extrudes_relatively(api: OctoPrintApi, path: str) -> bool:
    """Return whether a print gives its filament in relative lengths; False where unknown."""
    search, size = ModeSearch(), 0
    try:
        async with api.open(f"/downloads/files/local/{quote(path)}") as answer:
            async for chunk in chunks_of(answer, api.where):
                size += len(chunk)
                if search.feed(chunk) or size > MAX_SEARCHED_BYTES:
                    break
    except PrinterRefused as refused:
        log.info("the print's file could not be read: %s", refused)
    return search.is_relative


class ModeSearch:
    """Finds whether a file uses relative extrusion: its last M82 or M83 before it extrudes.

    Firmware does not report its extrusion mode, and has to be put back into it.
    """

    def __init__(self) -> None:
        self.is_relative = False
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Read on; True once the mode is known."""
        lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
        for command in _MODE.finditer(lines + newline):
            if command[1].startswith(b"G1"):
                return True
            self.is_relative = command[1] == b"M83"
        self._rest = self._rest[-1024:]  # no line of G-code is longer
        return False
