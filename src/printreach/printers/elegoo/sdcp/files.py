"""The files of an SDCP printer: listed and deleted by its WebSocket, moved by its web server."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from urllib.parse import quote

from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot
from printreach.http1.fetch import Fetcher
from printreach.printers import loose
from printreach.printers.connecting import connect_to
from printreach.printers.elegoo.camera import authority
from printreach.printers.elegoo.ports import Ports
from printreach.printers.elegoo.transfers import (
    BufferedFile,
    WebServer,
    buffered,
    inside,
    plain_name,
)
from printreach.printers.multipart import form_type
from printreach.printers.port import (
    Download,
    PrinterRefused,
    bad_path,
    failed,
    no_such_file,
    not_supported,
)
from printreach.printers.setup import PrinterSetup

from .api import Cmd, SdcpApi
from .entries import STORAGE, ListedEntry, details_of, entry_of, listed

UPLOAD = b"/uploadFile/upload"
DEEPEST = 4
TAKEN = "000000"


class SdcpFiles:
    """printers.port.Files."""

    roots = (FileRoot.GCODE,)

    def __init__(self, api: SdcpApi, setup: PrinterSetup, ports: Ports) -> None:
        self._api = api
        self._setup = setup
        # Uploads go to the WebSocket's port, as SDCP's document has it; downloads to the port of
        # the printer's page, as its maker's own programs do it.
        self._uploads = _web(setup.host, ports.uploads)
        self._downloads = _web(setup.host, setup.port)

    async def close(self) -> None:
        await self._uploads.close()
        await self._downloads.close()

    async def entries(self, root: FileRoot) -> list[FileEntry]:  # noqa: ARG002  # there is one
        return await self._entries(STORAGE, DEEPEST)

    async def details(self, path: str) -> FileDetails:
        file = await self.find(path)
        if file.is_folder:
            raise no_such_file(path)
        return details_of(file)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        await self.find(path)
        async with self._download(path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        if '"' in name:
            raise bad_path("This printer takes no file with a quotation mark in its name.")
        async with buffered(chunks, size, self._setup.data_dir) as file:
            upload_id = self._setup.token_bytes(16).hex()
            try:
                await self._send(file, name, upload_id)
            except BaseException:
                await self._drop(name, upload_id)
                raise
        return FileDone(virtual_path=path, platform_path=f"{STORAGE}/{name}", size_bytes=file.size)

    async def delete(self, path: str) -> FileDone:
        file = await self.find(path)
        platform_path = f"{STORAGE}/{file.inside}"
        if file.is_folder:
            raise not_supported("delete folders from here")
        # FolderList: as SDCP's document has it.
        reported = await self._api.ask(Cmd.DELETE, {"FileList": [platform_path], "FolderList": []})
        return FileDone(
            virtual_path=path, platform_path=platform_path, printer_response=loose.plain(reported)
        )

    async def find(self, path: str) -> ListedEntry:
        """Raises PrinterRefused (404)."""
        wanted = inside(path)
        folder = wanted.rpartition("/")[0]
        for file in await self._list(f"{STORAGE}/{folder}" if folder else STORAGE):
            if file.inside == wanted:
                return file
        raise no_such_file(path)

    async def _list(self, folder: str) -> list[ListedEntry]:
        return listed(await self._api.ask(Cmd.LIST, {"Url": folder}))

    async def _entries(self, folder: str, depth: int) -> list[FileEntry]:
        entries = []
        for file in await self._list(folder):
            children = None
            if file.is_folder:
                below = f"{STORAGE}/{file.inside}"
                is_deeper = depth > 0 and below.startswith(f"{folder}/")
                children = await self._entries(below, depth - 1) if is_deeper else []
            entries.append(entry_of(file, children))
        return entries

    def _download(self, path: str) -> AbstractAsyncContextManager[Download]:
        target = f"/downloadFile{STORAGE}/{quote(inside(path))}"
        return self._downloads.download(target.encode(), path)

    async def _send(self, file: BufferedFile, name: str, upload_id: str) -> None:
        boundary = f"printreach-{upload_id}"
        headers = [(b"Content-Type", form_type(boundary))]
        async for offset, piece in file.pieces:
            fields = {
                "Check": "1",
                "S-File-MD5": file.md5,
                "Offset": str(offset),
                "Uuid": upload_id,
                "TotalSize": str(file.size),
            }
            form = _form(fields, name, piece, boundary)
            reported = await self._uploads.send(b"POST", UPLOAD, headers, form)
            if loose.text(reported, "code") != TAKEN:
                raise failed(f"The printer refused the upload{_reason(reported)}.")

    async def _drop(self, name: str, upload_id: str) -> None:
        """Drop an upload; of no effect where the printer itself forgets an unfinished one."""
        with suppress(PrinterRefused):
            await self._api.send(Cmd.END_TRANSFER, {"Uuid": upload_id, "FileName": name})


def _web(host: str, port: int) -> WebServer:
    connect = connect_to(host, port, tls=False)
    return WebServer(Fetcher(connect, authority(host, port).encode()), host)


def _form(fields: dict[str, str], name: str, piece: bytes, boundary: str) -> bytes:
    """Format the form; the name is plain UTF-8, as the maker's own programs write it."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="File"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return b"".join(["".join(parts).encode(), piece, f"\r\n--{boundary}--\r\n".encode()])


def _reason(reported: object) -> str:
    """Explain the printer's error number: -1 and -2 are a wrong offset, -3 its storage."""
    for message in loose.items(reported, "messages"):
        number = loose.whole(message, "message")
        if number is not None:
            return f": error {number}"
    return ""
