"""A Duet's files: its G-code, and its settings, which are G-code too."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.http_api import NotFound, as_no_such_file
from printreach.printers.loose import Json
from printreach.printers.port import Download, bad_path, failed
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.uploads import exactly, spooled

from .api import Duet

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
        with as_no_such_file(path):
            return details_of(await self._board().file_info(stored), path, stored)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        with as_no_such_file(path):
            async with self._board().open(platform_path(path)) as download:
                yield download

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Read the file's beginning.

        The board's own `rr_thumbnail` sends the same bytes in many small parts, and only since 3.5.
        """
        return await read_thumbnail(self.open(path), size_px)

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        stored = platform_path(path)
        if NOT_IN_NAMES & set(stored.partition("/")[2]):
            raise bad_path(N_("A name can't have any of \" * : < > ? \\ | in it."))
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
        with as_no_such_file(path):
            await self._board().remove(stored)
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
            raise failed(
                in_english(
                    "There are more folders than the %(max_folders)s that can be listed.",
                    max_folders=MAX_FOLDERS,
                )
            )
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


_OUTER = frozenset({"err", "fileName", "lastModified", "size"})


def is_folder(reported: Json) -> bool:
    return loose.text(reported, "type") == "d"


def name_of(reported: Json) -> str | None:
    """Return the name; None for what is no name of an entry in a folder."""
    name = reported.get("name")
    if not isinstance(name, str) or not name or "/" in name or name in (".", ".."):
        return None
    return loose.sendable(name)


def entry_of(
    reported: Json, path: str, platform_path: str, children: list[FileEntry] | None
) -> FileEntry:
    """children: None for a file."""
    return FileEntry(
        type=EntryType.FILE if children is None else EntryType.FOLDER,
        name=path.rpartition("/")[2],
        virtual_path=path,
        path=path,
        platform_path=platform_path,
        size_bytes=loose.size(reported, "size") or 0,
        modified_time_sec=unix_time(reported, "date") or 0.0,
        children=loose.known(children),
    )


def details_of(reported: Json, path: str, platform_path: str) -> FileDetails:
    """Return what a file's metadata says.

    Values that the firmware did not find are 0 in its answer.
    """
    slicer, version = _slicer(reported)
    thumbnails = loose.items(reported, "thumbnails")
    return FileDetails(
        virtual_path=path,
        platform_path=platform_path,
        file_name=path.rpartition("/")[2],
        size_bytes=loose.known(loose.size(reported, "size")),
        modified_time_sec=loose.known(unix_time(reported, "lastModified")),
        est_print_time_sec=loose.known(
            loose.count(reported, "simulatedTime") or loose.count(reported, "printTime") or None
        ),
        est_filament_used_mm=loose.known(
            loose.length_mm(map(loose.as_number, loose.items(reported, "filament")))
        ),
        layer_count=loose.known(loose.count(reported, "numLayers") or None),
        layer_height_mm=loose.known(loose.positive(reported, "layerHeight")),
        first_layer_height_mm=loose.known(loose.positive(reported, "firstLayerHeight")),
        object_height_mm=loose.known(loose.positive(reported, "height")),
        slicer=loose.known(slicer),
        slicer_version=loose.known(version),
        thumbnail_count=len(thumbnails) if "thumbnails" in reported else UNSET,
        platform_details=loose.plain({key: reported[key] for key in reported if key not in _OUTER})
        or UNSET,
    )


def unix_time(reported: Json, key: str) -> float | None:
    """Boards write times without a zone; theirs is taken to be the agent's."""
    try:
        return datetime.fromisoformat(loose.text(reported, key) or "").timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _slicer(reported: Json) -> tuple[str | None, str | None]:
    """`PrusaSlicer 2.7.1+linux-x64 on 2024-01-02`: a name, then a version where there is one."""
    words = (loose.text(reported, "generatedBy") or "").split()
    for place, word in enumerate(words):
        number = word.lstrip("vV(")
        if place and number[:1].isdigit():
            return " ".join(words[:place]), number.rstrip(",)")
    return " ".join(words) or None, None
