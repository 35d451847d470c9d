"""The files of a printer, for both protocols: its listing, what apps ask of it, and transfers."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.http_api import HttpApi
from printreach.printers.loose import Json
from printreach.printers.port import (
    Download,
    PrinterRefused,
    bad_path,
    failed,
    no_such_file,
    not_supported,
)
from printreach.printers.setup import PrinterSetup
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.uploads import exactly, spooled
from printreach.wire.heads import Headers

DEEPEST = 4

PIECE_BYTES = 1024 * 1024
"""The longest piece that the printers accept."""


class BufferedFile(NamedTuple):
    """A file on disk. pieces: at most 1 MiB each, with their offsets; to be read once."""

    size: int
    md5: str
    pieces: AsyncIterator[tuple[int, bytes]]


@asynccontextmanager
async def buffered(
    chunks: AsyncIterator[bytes], size: int | None, folder: Path
) -> AsyncIterator[BufferedFile]:
    """Buffer a file on disk: its checksum is sent before it. Raises PrinterRefused."""
    md5 = hashlib.md5(usedforsecurity=False)

    async def summed() -> AsyncIterator[bytes]:
        async for chunk in chunks if size is None else exactly(chunks, size):
            md5.update(chunk)
            yield chunk

    async with spooled(summed(), folder) as (body_size, body):
        if not body_size:
            raise failed(N_("The printer takes no empty file."))
        yield BufferedFile(body_size, md5.hexdigest(), in_pieces(body))


async def in_pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    offset, piece = 0, bytearray()
    async for chunk in chunks:
        piece += chunk
        while len(piece) >= PIECE_BYTES:
            yield offset, bytes(piece[:PIECE_BYTES])
            offset += PIECE_BYTES
            del piece[:PIECE_BYTES]
    if piece:
        yield offset, bytes(piece)


def inside(path: str) -> str:
    """Return the path below the root."""
    return path.partition("/")[2]


def plain_name(path: str) -> str:
    """Return the name of a file to be uploaded. Raises PrinterRefused for one in a folder (751)."""
    name = inside(path)
    if "/" in name or not name:
        raise bad_path(N_("This printer takes files into no folder."))
    return name


class PrinterWeb(HttpApi):
    """The printer's web server."""

    def __init__(self, setup: PrinterSetup, port: int) -> None:
        super().__init__(replace(setup, port=port, tls=False), "The printer")
        self.where = in_english("The printer at %(host)s", host=setup.host)

    @property
    def denied(self) -> str:
        return in_english("%(where)s refuses the access code.", where=self.where)

    def refusal(self, answer: FetchedAnswer) -> PrinterRefused:
        if answer.status in (401, 403, 404):
            return super().refusal(answer)
        return failed(
            in_english("The printer's web server answered %(status)s.", status=answer.status)
        )

    async def send(self, method: str, target: str, headers: Headers, body: bytes) -> object:
        """Return the answer's JSON; None if it is not JSON. Raises PrinterRefused."""
        return loose.parsed(self.accept(await self.ask(method, target, body, headers=headers)).body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """inside: below the storage. made_at: Unix time. reported: the printer's own description."""

    inside: str
    platform_path: str
    is_folder: bool
    reported: Json
    size: int | None = None
    made_at: int | None = None
    layers: int | None = None
    print_time_s: int | None = None

    @property
    def name(self) -> str:
        return self.inside.rpartition("/")[2]

    @property
    def virtual_path(self) -> str:
        return f"{FileRoot.GCODE.value}/{self.inside}"


class ElegooFiles(ABC):
    """printers.port.Files, over whichever connections the protocol has."""

    roots = (FileRoot.GCODE,)

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def open(self, path: str) -> AbstractAsyncContextManager[Download]: ...

    @abstractmethod
    async def upload(
        self, path: str, size: int | None, chunks: AsyncIterator[bytes]
    ) -> FileDone: ...

    @abstractmethod
    async def _list(self, folder: str) -> list[ListedEntry]:
        """folder: below the storage, "" for the storage itself."""

    @abstractmethod
    async def _delete(self, platform_path: str) -> Json:
        """Return the printer's answer."""

    async def entries(self, root: FileRoot) -> list[FileEntry]:  # noqa: ARG002  # there is one
        return await self._below("", DEEPEST)

    async def details(self, path: str) -> FileDetails:
        file = await self.find(path)
        if file.is_folder:
            raise no_such_file(path)
        return details_of(file)

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        return await read_thumbnail(self.open(path), size_px)

    async def delete(self, path: str) -> FileDone:
        file = await self.find(path)
        if file.is_folder:
            raise not_supported(N_("This printer can't delete folders from here."))
        answer = loose.plain(await self._delete(file.platform_path))
        return FileDone(
            virtual_path=path, platform_path=file.platform_path, printer_response=answer
        )

    async def find(self, path: str) -> ListedEntry:
        """Raises PrinterRefused (404)."""
        wanted = inside(path)
        for file in await self._list(wanted.rpartition("/")[0]):
            if file.inside == wanted:
                return file
        raise no_such_file(path)

    async def _below(self, folder: str, depth: int) -> list[FileEntry]:
        entries = []
        for file in await self._list(folder):
            children = None
            if file.is_folder:
                is_deeper = depth > 0 and (not folder or file.inside.startswith(f"{folder}/"))
                children = await self._below(file.inside, depth - 1) if is_deeper else []
            entries.append(entry_of(file, children))
        return entries


def entry_of(file: ListedEntry, children: list[FileEntry] | None = None) -> FileEntry:
    return FileEntry(
        type=EntryType.FOLDER if file.is_folder else EntryType.FILE,
        name=file.name,
        virtual_path=file.virtual_path,
        path=file.virtual_path,
        platform_path=file.platform_path,
        size_bytes=0 if file.is_folder else file.size or 0,
        modified_time_sec=file.made_at or 0.0,
        permissions="rw",
        est_print_time_sec=file.print_time_s or UNSET,
        layer_count=file.layers or UNSET,
        children=loose.known(children),
    )


def details_of(file: ListedEntry) -> FileDetails:
    """Values of which the unit is not known stay among the platform's details."""
    return FileDetails(
        virtual_path=file.virtual_path,
        platform_path=file.platform_path,
        file_name=file.name,
        size_bytes=loose.known(file.size),
        modified_time_sec=UNSET if file.made_at is None else float(file.made_at),
        est_print_time_sec=file.print_time_s or UNSET,
        layer_count=file.layers or UNSET,
        platform_details=loose.plain(file.reported),
    )
