"""The files of an SDCP printer: listed and deleted by its WebSocket, moved by its web server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote

from printreach.contract.files import FileDone
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.elegoo.files import ElegooFiles, ListedEntry
from printreach.printers.elegoo.transfers import (
    BufferedFile,
    PrinterWeb,
    buffered,
    inside,
    plain_name,
)
from printreach.printers.loose import Json
from printreach.printers.port import Download, PrinterRefused, bad_path, failed
from printreach.printers.setup import PrinterSetup
from printreach.printers.uploads import form_around_file, form_type

from .api import USUAL_PORT, Cmd, SdcpApi

STORAGE = "/local"
UPLOAD = "/uploadFile/upload"
TAKEN = "000000"
_FOLDER = 0


class SdcpFiles(ElegooFiles):
    def __init__(self, api: SdcpApi, setup: PrinterSetup) -> None:
        self._api = api
        self._setup = setup
        # Uploads go to the WebSocket's port, as SDCP's document has it; downloads to the port of
        # the printer's page, as its maker's own programs do it.
        self._uploads = PrinterWeb(setup, setup.ports.get("uploads", USUAL_PORT))
        self._downloads = PrinterWeb(setup, setup.port)

    async def close(self) -> None:
        await self._uploads.close()
        await self._downloads.close()

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        await self.find(path)
        target = f"/downloadFile{STORAGE}/{quote(inside(path))}"
        async with self._downloads.download(target, path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        if '"' in name:
            raise bad_path(N_("This printer takes no file with a quotation mark in its name."))
        async with buffered(chunks, size, self._setup.data_dir) as file:
            upload_id = self._setup.token_bytes(16).hex()
            try:
                await self._send(file, name, upload_id)
            except BaseException:
                await self._drop(name, upload_id)
                raise
        return FileDone(virtual_path=path, platform_path=f"{STORAGE}/{name}", size_bytes=file.size)

    async def _delete(self, platform_path: str) -> Json:
        # FolderList: as SDCP's document has it.
        return await self._api.ask(Cmd.DELETE, {"FileList": [platform_path], "FolderList": []})

    async def _list(self, folder: str) -> list[ListedEntry]:
        return listed(await self._api.ask(Cmd.LIST, {"Url": f"{STORAGE}/{folder}".rstrip("/")}))

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
            # The name is plain UTF-8, as the maker's own programs write it.
            before, after = form_around_file(fields, "File", name, boundary, is_plain=True)
            body = before + piece + after
            reported = await self._uploads.send("POST", UPLOAD, headers, body)
            if loose.text(reported, "code") != TAKEN:
                raise failed(_sentence(reported))

    async def _drop(self, name: str, upload_id: str) -> None:
        """Drop an upload; of no effect where the printer itself forgets an unfinished one."""
        with suppress(PrinterRefused):
            await self._api.send(Cmd.END_TRANSFER, {"Uuid": upload_id, "FileName": name})


def listed(answer: Json) -> list[ListedEntry]:
    """Names are paths that begin with the storage; a bare name counts as one in it. Pure.

    FileSize is what Centauri Carbons tell, usedSize what the protocol's document names.
    """
    entries = {}
    for entry in map(loose.obj, loose.items(answer, "FileList")):
        path = (loose.text(entry, "name") or "").removeprefix(STORAGE).strip("/")
        size = loose.size(entry, "FileSize")
        if path and ".." not in path.split("/"):
            entries[path] = ListedEntry(
                inside=path,
                platform_path=f"{STORAGE}/{path}",
                is_folder=loose.whole(entry, "type") == _FOLDER,
                reported=entry,
                size=loose.size(entry, "usedSize") if size is None else size,
                made_at=loose.size(entry, "CreateTime"),
                layers=loose.count(entry, "TotalLayers"),
            )
    return list(entries.values())


def _sentence(reported: object) -> str:
    """Explain the printer's error number: -1 and -2 are a wrong offset, -3 its storage."""
    for message in loose.items(reported, "messages"):
        number = loose.whole(message, "message")
        if number is not None:
            return in_english("The printer refused the upload: error %(number)s.", number=number)
    return N_("The printer refused the upload.")
