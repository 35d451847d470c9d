"""The files of a Centauri Carbon 2: listed and deleted by its broker, moved by its web server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot
from printreach.http1.fetch import Fetcher
from printreach.printers import loose
from printreach.printers.connecting import connect_to, not_authorized
from printreach.printers.elegoo.transfers import (
    BufferedFile,
    WebServer,
    buffered,
    inside,
    plain_name,
)
from printreach.printers.port import Download, failed, no_such_file, not_supported
from printreach.printers.setup import PrinterSetup

from .api import Cc2Api, Method
from .entries import ListedEntry, details_of, entry_of, listed

STORAGE = "local"
PAGE = 100
MAX_PAGES = 100
DEEPEST = 4
_BAD_TOKEN = 1000


class Cc2Files:
    """printers.port.Files."""

    roots = (FileRoot.GCODE,)

    def __init__(self, api: Cc2Api, setup: PrinterSetup) -> None:
        self._api = api
        self._folder = setup.data_dir
        connect = connect_to(setup.host, setup.port, tls=False)
        self._web = WebServer(Fetcher(connect, setup.authority.encode()), setup.host)

    async def close(self) -> None:
        await self._web.close()

    async def entries(self, root: FileRoot) -> list[FileEntry]:  # noqa: ARG002  # there is one
        return await self._entries("", DEEPEST)

    async def details(self, path: str) -> FileDetails:
        file = await self.find(path)
        if file.is_folder:
            raise no_such_file(path)
        return details_of(file)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        """Open a download. The access code is part of the URL, which is shown to no one else."""
        await self.find(path)
        name, token = quote(inside(path), safe=""), quote(self._api.code, safe="")
        target = f"/download?X-Token={token}&file_name={name}"
        async with self._web.download(target.encode(), path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        async with buffered(chunks, size, self._folder) as file:
            await self._send(file, name)
        return FileDone(virtual_path=path, platform_path=name, size_bytes=file.size)

    async def delete(self, path: str) -> FileDone:
        file = await self.find(path)
        if file.is_folder:
            raise not_supported("delete folders from here")
        reported = await self._api.ask(
            Method.DELETE, {"storage_media": STORAGE, "file_path": [file.inside]}
        )
        return FileDone(
            virtual_path=path, platform_path=file.inside, printer_response=loose.plain(reported)
        )

    async def find(self, path: str) -> ListedEntry:
        """Raises PrinterRefused (404)."""
        wanted = inside(path)
        for file in await self._list(wanted.rpartition("/")[0]):
            if file.inside == wanted:
                return file
        raise no_such_file(path)

    async def _list(self, folder: str) -> list[ListedEntry]:
        """Page by page, to the one that brings nothing new."""
        found: dict[str, ListedEntry] = {}
        for page in range(MAX_PAGES):
            reported = await self._api.ask(
                Method.LIST,
                {
                    "storage_media": STORAGE,
                    "path": f"/{folder}",
                    "offset": page * PAGE,
                    "limit": PAGE,
                },
            )
            files = listed(reported, folder)
            before = len(found)
            found.update({file.inside: file for file in files})
            if len(files) < PAGE or len(found) == before:
                break
        return list(found.values())

    async def _entries(self, folder: str, depth: int) -> list[FileEntry]:
        entries = []
        for file in await self._list(folder):
            children = None
            if file.is_folder:
                children = await self._entries(file.inside, depth - 1) if depth > 0 else []
            entries.append(entry_of(file, children))
        return entries

    async def _send(self, file: BufferedFile, name: str) -> None:
        """Send the file. The printer itself drops an upload that is not finished."""
        async for offset, piece in file.pieces:
            span = f"bytes {offset}-{offset + len(piece) - 1}/{file.size}"
            headers = [
                (b"Content-Type", b"application/octet-stream"),
                (b"Content-Range", span.encode()),
                (b"X-File-Name", name.encode()),  # in plain UTF-8, as the vendor's SDK sends it
                (b"X-File-MD5", file.md5.encode()),
                (b"X-Token", self._api.code.encode()),
            ]
            reported = await self._web.send(b"PUT", b"/upload", headers, piece)
            error = loose.whole(reported, "error_code")
            if error == _BAD_TOKEN:
                raise not_authorized(self._api.where, "refuses the access code")
            if error != 0:
                shown = "" if error is None else f": error {error}"
                raise failed(f"The printer refused the upload{shown}.")
