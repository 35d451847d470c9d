"""The files of a printer, for both protocols: its own listing, and what apps ask of it."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.languages import N_
from printreach.printers import loose
from printreach.printers.loose import Json
from printreach.printers.port import Download, no_such_file, not_supported
from printreach.printers.thumbnails import read_thumbnail

from .transfers import inside

DEEPEST = 4


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
