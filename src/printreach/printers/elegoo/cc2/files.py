"""The files of a Centauri Carbon 2: listed and deleted by its broker, moved by its web server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from printreach.contract.files import FileDone, JsonObject
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import not_authorized
from printreach.printers.elegoo.files import ElegooFiles, ListedEntry
from printreach.printers.elegoo.transfers import (
    BufferedFile,
    PrinterWeb,
    buffered,
    inside,
    plain_name,
)
from printreach.printers.loose import Json
from printreach.printers.port import Download, failed
from printreach.printers.setup import PrinterSetup

from .api import BAD_TOKEN, Cc2Api, Method

STORAGE = "local"
PAGE = 100
MAX_PAGES = 100


class Cc2Files(ElegooFiles):
    def __init__(self, api: Cc2Api, setup: PrinterSetup) -> None:
        self._api = api
        self._folder = setup.data_dir
        self._web = PrinterWeb(setup, setup.port)

    async def close(self) -> None:
        await self._web.close()

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        """Open a download. The access code is part of the URL, which is shown to no one else."""
        await self.find(path)
        name, token = quote(inside(path), safe=""), quote(self._api.code, safe="")
        target = f"/download?X-Token={token}&file_name={name}"
        async with self._web.download(target, path) as download:
            yield download

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        name = plain_name(path)
        async with buffered(chunks, size, self._folder) as file:
            await self._send(file, name)
        return FileDone(virtual_path=path, platform_path=name, size_bytes=file.size)

    async def _delete(self, platform_path: str) -> Json:
        order: JsonObject = {"storage_media": STORAGE, "file_path": [platform_path]}
        return await self._api.ask(Method.DELETE, order)

    async def _list(self, folder: str) -> list[ListedEntry]:
        """Page by page, to the one that brings nothing new."""
        entries: dict[str, ListedEntry] = {}
        for page in range(MAX_PAGES):
            wanted: JsonObject = {"path": f"/{folder}", "offset": page * PAGE, "limit": PAGE}
            answer = await self._api.ask(Method.LIST, {"storage_media": STORAGE, **wanted})
            files, before = listed(answer, folder), len(entries)
            entries.update({file.inside: file for file in files})
            if len(files) < PAGE or len(entries) == before:
                break
        return list(entries.values())

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
            reported = await self._web.send("PUT", "/upload", headers, piece)
            error = loose.whole(reported, "error_code")
            if error == BAD_TOKEN:
                raise not_authorized(
                    in_english("%(where)s refuses the access code.", where=self._api.where)
                )
            if error != 0:
                raise failed(
                    N_("The printer refused the upload.")
                    if error is None
                    else in_english(
                        "The printer refused the upload: error %(number)s.", number=error
                    )
                )


def listed(answer: Json, folder: str) -> list[ListedEntry]:
    """folder: below the storage, "" for the storage itself. Pure."""
    entries = {}
    for entry in map(loose.obj, loose.items(answer, "file_list")):
        name = (loose.text(entry, "filename") or "").strip("/").rpartition("/")[2]
        if name and name not in (".", ".."):
            path = f"{folder}/{name}" if folder else name
            entries[path] = ListedEntry(
                inside=path,
                platform_path=path,
                is_folder=loose.text(entry, "type") in ("dir", "folder"),
                reported=entry,
                size=loose.size(entry, "size"),
                made_at=loose.size(entry, "create_time"),
                layers=loose.count(entry, "layer"),
                print_time_s=loose.count(entry, "print_time"),
            )
    return list(entries.values())
