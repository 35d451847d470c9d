"""The files on a printer's card, over FTPS: streamed both ways, a session for each command."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from printreach.contract.commands import CommandStatus
from printreach.contract.files import EntryType, FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.languages import N_, in_english
from printreach.printers.port import Download, PrinterRefused, failed, no_such_file
from printreach.printers.setup import PrinterSetup
from printreach.printers.thumbnails import read_thumbnail
from printreach.printers.uploads import exactly

from .api import USER
from .ftps import PIECE_BYTES, VENDOR_FOLDERS, FileMissing, Ftps, ListedEntry, as_refusals
from .project import (
    HEAD_BYTES,
    NOTHING,
    RangedFile,
    SlicerFacts,
    plate_head,
    plate_picture,
    read_sliced,
    with_sliced,
)

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

USUAL_PORT = 990
SESSIONS = 3
"""At once; these servers serve few clients."""
TURN_S = 15.0
MAX_DEPTH = 8
MAX_ENTRIES = 10_000
MAX_KNOWN = 64
"""The most files whose slicer metadata is cached."""


class BambuFiles:
    """printers.port.Files."""

    roots = (FileRoot.GCODE,)

    def __init__(self, setup: PrinterSetup) -> None:
        self._setup = setup
        self._port = setup.ports.get("files", USUAL_PORT)
        self._slots = asyncio.Semaphore(SESSIONS)
        self._known: dict[tuple[str, int, float, int | None], SlicerFacts] = {}

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        async with self._session() as ftps:
            return await self._tree(ftps, root.value, "", [MAX_ENTRIES])

    async def details(self, path: str) -> FileDetails:
        async with self._session(path) as ftps:
            entry = await self._find(ftps, path)
            details = FileDetails(
                virtual_path=path,
                platform_path=f"/{_inside(path)}",
                file_name=entry.name,
                size_bytes=entry.size,
                modified_time_sec=entry.modified_s or UNSET,
            )
            return with_sliced(details, await self._sliced(ftps, path, entry, None))

    async def sliced(self, paths: Sequence[str], plate: int | None) -> SlicerFacts:
        """Return what the slicer wrote into the first of these files that is there.

        Raises PrinterRefused.

        plate: of a project, None for its first.
        """
        for path in paths:
            try:
                async with self._session(path) as ftps:
                    entry = await self._find(ftps, path)
                    return await self._sliced(ftps, path, entry, plate)
            except PrinterRefused as refused:
                if refused.status != CommandStatus.NOT_FOUND:
                    raise
        return NOTHING

    async def require(self, path: str) -> None:
        """Raises PrinterRefused (404) when there is no such file.

        A file server that can't be asked is no reason: the printer will know.
        """
        try:
            async with self._session(path) as ftps:
                await self._find(ftps, path)
        except PrinterRefused as refused:
            if refused.status == no_such_file(path).status:
                raise
            log.info("whether the file is there is not known: %s", refused.sentence)

    @asynccontextmanager
    async def open(self, path: str) -> AsyncIterator[Download]:
        async with self._session(path) as ftps:
            target = f"/{_inside(path)}"
            size = await self._run(ftps.size_of, target)
            with await self._run(ftps.transfercmd, f"RETR {target}") as data:
                yield Download(size=size, chunks=self._pieces(data))

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Return the picture of a project's first plate, or the one in a file of G-code."""
        if not path.lower().endswith(".3mf"):
            return await read_thumbnail(self.open(path), size_px)
        async with self._session(path) as ftps:
            entry = await self._find(ftps, path)
            project = RangedFile(entry.size, partial(ftps.read_range, f"/{_inside(path)}"))
            return await self._run(plate_picture, project)

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        inside = _inside(path)
        sockets: list[
            socket.socket
        ] = []  # filled in the thread, which goes on if its caller leaves

        def begin(ftps: Ftps) -> socket.socket:
            sockets.append(ftps.transfercmd(f"STOR /{inside}"))
            return sockets[0]

        sent, has_all = 0, False
        try:
            async with self._session() as ftps:
                folder = inside.rpartition("/")[0]
                if folder:
                    await self._run(ftps.make_folder, folder)
                with await self._run(begin, ftps) as data:
                    body = chunks if size is None else exactly(chunks, size)
                    sent = await self._send(data, body)
                    has_all = await self._run(ftps.finish_sending, data)
        except BaseException as exc:
            if not (has_all and isinstance(exc, asyncio.CancelledError)):
                for data in sockets:
                    data.close()
                    await asyncio.shield(self._remove_half(inside))
                raise
        try:
            await self._verify(inside, sent, has_all=has_all)
        except asyncio.CancelledError:
            if not has_all:
                await asyncio.shield(self._remove_half(inside))
                raise
            # The printer has acknowledged the file: it stays, if it is whole.
            await self._verify(inside, sent, has_all=True)
        return FileDone(virtual_path=path, platform_path=f"/{inside}", size_bytes=sent)

    async def delete(self, path: str) -> FileDone:
        target = f"/{_inside(path)}"
        async with self._session(path) as ftps:
            if await self._run(ftps.is_folder, target):
                if await self._run(ftps.listed, _inside(path), self._setup.unix_time()):
                    raise failed(in_english("The folder %(path)s is not empty.", path=repr(path)))
                await self._run(ftps.cwd, "/")
                await self._run(ftps.rmd, target)
            else:
                await self._run(ftps.delete, target)
        return FileDone(virtual_path=path, platform_path=target)

    # --- the ways of the file server --------------------------------------------------------------

    @asynccontextmanager
    async def _session(self, path: str = "") -> AsyncIterator[Ftps]:
        """path: what the session is about, for the sentence that it is not there."""
        await self._take_turn()
        ftps = Ftps()
        try:
            setup = self._setup
            password = setup.access_code or ""
            await self._run(ftps.enter, setup.host, self._port, USER, password)
            yield ftps
        except FileMissing:
            raise no_such_file(path) from None
        finally:
            try:
                await _to_the_end(ftps.leave)
            finally:
                self._slots.release()

    async def _take_turn(self) -> None:
        try:
            async with asyncio.timeout(TURN_S):
                await self._slots.acquire()
        except TimeoutError:
            sentence = N_(
                "Too many files are on their way to or from the printer; try again later."
            )
            raise PrinterRefused(CommandStatus.TOO_MANY_CLIENTS, sentence) from None

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking step in a thread. Raises PrinterRefused, or FileMissing."""

        def step() -> T:
            with as_refusals(self._setup.host):
                return call(*args, **kwargs)

        return await _to_the_end(step)

    async def _find(self, ftps: Ftps, path: str) -> ListedEntry:
        """Raises PrinterRefused (404), or FileMissing."""
        folder, _, name = _inside(path).rpartition("/")
        for entry in await self._run(ftps.listed, folder, self._setup.unix_time()):
            if entry.name == name and not entry.is_folder:
                return entry
        raise no_such_file(path)

    async def _sliced(
        self, ftps: Ftps, path: str, entry: ListedEntry, plate: int | None
    ) -> SlicerFacts:
        """Read what the slicer wrote; nothing where it can't be read.

        The session may be unusable after it.
        """
        key = (path, entry.size, entry.modified_s, plate)
        if key not in self._known:
            try:
                head = await self._run(_head, ftps, f"/{_inside(path)}", entry.size, plate)
            except (PrinterRefused, FileMissing) as exc:
                log.info("what the slicer wrote into %r can't be read: %s", path, exc)
                return NOTHING
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = read_sliced(head)
        return self._known[key]

    async def _tree(
        self, ftps: Ftps, root: str, folder: str, remaining: list[int], depth: int = MAX_DEPTH
    ) -> list[FileEntry]:
        """room: one number, how many entries may still be taken."""
        entries = []
        for listed in await self._run(ftps.listed, folder, self._setup.unix_time()):
            if remaining[0] <= 0 or (not folder and listed.name in VENDOR_FOLDERS):
                continue
            remaining[0] -= 1
            inside = f"{folder}/{listed.name}".removeprefix("/")
            children: list[FileEntry] = []
            if listed.is_folder and depth > 0:
                children = await self._tree(ftps, root, inside, remaining, depth - 1)
            entries.append(_entry(listed, f"{root}/{inside}", children))
        return entries

    async def _pieces(self, data: socket.socket) -> AsyncIterator[bytes]:
        while piece := await self._run(data.recv, PIECE_BYTES):
            yield piece

    async def _send(self, data: socket.socket, chunks: AsyncIterator[bytes]) -> int:
        sent = 0
        async for chunk in chunks:
            await self._run(data.sendall, chunk)
            sent += len(chunk)
        return sent

    async def _verify(self, inside: str, sent: int, *, has_all: bool) -> None:
        """Compare the size on the card, in a session of its own since the first one may hang."""
        async with self._session(f"gcode/{inside}") as ftps:
            size = await self._run(ftps.size_of, f"/{inside}")
        if size == sent or (size is None and has_all):
            return
        await self._remove_half(inside)
        raise failed(N_("The printer did not keep the whole file; is there room on its card?"))

    async def _remove_half(self, inside: str) -> None:
        try:
            async with self._session() as ftps:
                await self._run(ftps.delete, f"/{inside}")
        except PrinterRefused as refused:
            log.info("half an upload may be left on the card: %s", refused.sentence)


def _head(ftps: Ftps, platform_path: str, size: int, plate: int | None) -> bytes:
    """Return the beginning of the G-code; b"" if the file has none. Blocking."""

    def fetch(offset: int, count: int) -> bytes:
        return ftps.read_range(platform_path, offset, count)

    if platform_path.lower().endswith(".3mf"):
        return plate_head(RangedFile(size, fetch), plate) or b""
    if platform_path.lower().endswith(".gcode"):
        return fetch(0, HEAD_BYTES)
    return b""


async def _to_the_end(step: Callable[[], T]) -> T:
    """Wait for a thread's step to finish: it can't be cancelled, and needs its session."""
    running = asyncio.ensure_future(asyncio.to_thread(step))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # retrieved, so that asyncio doesn't log it
        raise


def _entry(listed: ListedEntry, path: str, children: list[FileEntry]) -> FileEntry:
    return FileEntry(
        type=EntryType.FOLDER if listed.is_folder else EntryType.FILE,
        name=listed.name,
        virtual_path=path,
        path=path,
        platform_path="/" + _inside(path),
        size_bytes=listed.size,
        modified_time_sec=listed.modified_s,
        permissions="rw",
        children=children if listed.is_folder else UNSET,
    )


def _inside(path: str) -> str:
    return path.partition("/")[2]
