"""Moonraker's files: G-code, configuration and logs.

Moonraker gathers an upload in a temporary file, and leaves that behind when the connection breaks
off. So an upload that is broken off ends with a field that names a root which no Moonraker has, and
Moonraker removes the file. A complete one ends with its checksum, which Moonraker verifies.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from email.utils import parsedate_to_datetime
from urllib.parse import quote

from msgspec import structs

from printreach.contract.commands import CommandStatus
from printreach.contract.files import FileDetails, FileDone, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.http1.fetch import FetchedAnswer
from printreach.languages import N_, in_english
from printreach.printers import loose
from printreach.printers.connecting import size_of
from printreach.printers.http_api import NotFound, as_no_such_file
from printreach.printers.port import Download, PrinterRefused, failed, no_such_file, not_supported
from printreach.printers.thumbnails import by_fit, read_thumbnail
from printreach.printers.uploads import exactly
from printreach.rules.thumbnails import MAX_THUMBNAIL_BYTES

from .api import Forbidden, MoonrakerApi
from .entries import (
    PICTURES,
    ROOTS,
    Folder,
    Place,
    details_of,
    folder_of,
    has_pictures,
    is_empty,
    place_of,
    stored_at,
    thumbnails_in,
)

MAX_DEPTH = 24
MAX_FOLDERS = 2000
"""Links among folders can make rings, and Moonraker follows them."""
FOLDERS_AT_ONCE = 4
FILES = "/server/files"
UPLOADS_APART_S = 1.1
"""Moonraker names the temporary file of an upload by the second, so two of one second would share
one."""

NOWHERE = "broken-off"


class MoonrakerFiles:
    """printers.port.Files."""

    roots = tuple(ROOTS)

    def __init__(self, api: MoonrakerApi, token_bytes: Callable[[int], bytes]) -> None:
        self._api = api
        self._token_bytes = token_bytes
        self._sending: set[asyncio.Task[object]] = set()
        self._uploads = 0
        self._next_upload_at = 0.0

    async def close(self) -> None:
        for task in list(self._sending):
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    # --- looking --------------------------------------------------------------------------------

    async def entries(self, root: FileRoot) -> list[FileEntry]:
        walk = _Walk(self._folder, root)
        return await walk.below("", 0)

    async def details(self, path: str) -> FileDetails:
        place = place_of(path)
        with as_no_such_file(path):
            head = await self._api.head(target_of(place))
        listed = await self._metadata(place)
        modified = loose.number(listed, "modified")
        return details_of(
            listed,
            virtual_path=path,
            platform_path=place.platform_path,
            size=size_of(head.headers),
            modified=_modified(head) if modified is None else modified,
        )

    def open(self, path: str) -> AbstractAsyncContextManager[Download]:
        return self._api.download(target_of(place_of(path)), path)

    async def thumbnail(self, path: str, size_px: int) -> bytes | None:
        """Return the picture that Moonraker took out of the file, else the one that is in it."""
        place = place_of(path)
        listed = by_fit(thumbnails_in(await self._metadata(place)), size_px)
        if not listed:
            return await read_thumbnail(self.open(path), size_px)
        folder, slash, _ = place.inside.rpartition("/")
        picture = Place(place.root, f"{folder}{slash}{listed[0].path}")
        answer = await self._api.ask("GET", target_of(picture), at_most=MAX_THUMBNAIL_BYTES + 1)
        return self._api.accept(answer).body

    # --- changing -------------------------------------------------------------------------------

    async def upload(self, path: str, size: int | None, chunks: AsyncIterator[bytes]) -> FileDone:
        place = place_of(path)
        if place.root is FileRoot.LOGS:
            raise not_supported(N_("This printer can't take files into its logs."))
        folder, _, name = place.inside.rpartition("/")
        boundary = f"printreach-{self._token_bytes(16).hex()}"
        form = FormUpload(ROOTS[place.root], folder, name, boundary)
        pieces = chunks if size is None else exactly(chunks, size)
        try:
            async with self._upload_turn():
                answer = await self._send(form, pieces)
        except Forbidden:
            raise _in_use(path) from None
        stored = stored_at(answer, place)
        return FileDone(
            virtual_path=stored.virtual_path,
            platform_path=stored.platform_path,
            size_bytes=form.size,
            printer_response=loose.plain(answer) or UNSET,
        )

    async def delete(self, path: str) -> FileDone:
        place = place_of(path)
        try:
            await self._api.head(target_of(place))
        except NotFound:
            await self._delete_folder(place)
        else:
            await self._delete_file(place)
        return FileDone(virtual_path=path, platform_path=place.platform_path)

    @asynccontextmanager
    async def _upload_turn(self) -> AsyncIterator[None]:
        """Wait where another upload has only just begun."""
        now = asyncio.get_running_loop().time()
        begins_at = max(now, self._next_upload_at) if self._uploads else now
        self._next_upload_at = begins_at + UPLOADS_APART_S
        self._uploads += 1
        try:
            await asyncio.sleep(begins_at - now)
            yield
        finally:
            self._uploads -= 1

    async def _send(self, form: "FormUpload", chunks: AsyncIterator[bytes]) -> object:
        """Send the form.

        If the caller gives up, a task of its own ends the request so that Moonraker discards it.
        """
        sending = asyncio.create_task(self._post(form))
        self._sending.add(sending)
        sending.add_done_callback(self._sent)
        try:
            async for chunk in chunks:
                await form.put(chunk)
                if sending.done():
                    break  # refused before it had everything
            form.finish()
            return await asyncio.shield(sending)
        finally:
            form.invalidate()

    async def _post(self, form: "FormUpload") -> object:
        try:
            return await self._api.send_form(f"{FILES}/upload", form.kind, form.body())
        finally:
            form.stop_taking()

    def _sent(self, sending: "asyncio.Task[object]") -> None:
        self._sending.discard(sending)
        if not sending.cancelled():
            sending.exception()  # its caller has got the exception

    async def _delete_file(self, place: Place) -> None:
        try:
            await self._api.remove(target_of(place))
        except Forbidden:
            raise _in_use(place.virtual_path) from None

    async def _delete_folder(self, place: Place) -> None:
        """Delete an empty folder; thumbnails of files that are gone don't count."""
        listed = await self._listing(place)
        if listed is None:
            raise no_such_file(place.virtual_path)
        if not is_empty(listed):
            raise failed(
                in_english(
                    "The folder %(path)s is not empty.",
                    path=repr(place.virtual_path),
                )
            )
        if has_pictures(listed):
            await self._remove(Place(place.root, f"{place.inside}/{PICTURES}"), force=True)
        await self._remove(place, force=False)

    async def _remove(self, folder: Place, *, force: bool) -> None:
        """force: with everything in it."""
        query = {"path": folder.platform_path, "force": str(force).lower()}
        await self._api.remove(f"{FILES}/directory", query)

    # --- questions ------------------------------------------------------------------------------

    async def _folder(self, place: Place) -> Folder | None:
        listed = await self._listing(place)
        return None if listed is None else folder_of(listed, place.root, place.inside)

    async def _listing(self, place: Place) -> object | None:
        """Return Moonraker's listing of a folder; None if the folder doesn't exist."""
        query = {"path": place.platform_path.rstrip("/"), "extended": "true"}
        try:
            return await self._api.query(f"{FILES}/directory", query)
        except PrinterRefused as refused:
            if refused.status == CommandStatus.EXECUTION_FAILED:
                return None  # it answers 400 to a folder that isn't there
            raise

    async def _metadata(self, place: Place) -> object:
        """Return a file's metadata; None where it has no G-code, or was not read yet."""
        if place.root is not FileRoot.GCODE:
            return None
        try:
            return await self._api.query(f"{FILES}/metadata", {"filename": place.inside})
        except NotFound:
            return None


class _Walk:
    """Through all folders of a root, some at once."""

    def __init__(self, look: Callable[[Place], Awaitable[Folder | None]], root: FileRoot) -> None:
        self._look = look
        self._root = root
        self._slots = asyncio.Semaphore(FOLDERS_AT_ONCE)
        self._left = MAX_FOLDERS

    async def below(self, inside: str, depth: int) -> list[FileEntry]:
        self._left -= 1
        async with self._slots:
            listing = await self._look(Place(self._root, inside))
        if listing is None:
            return []
        children = await asyncio.gather(
            *(self._children(folder, depth) for folder in listing.folders)
        )
        folders = [
            structs.replace(folder, children=entries)
            for folder, entries in zip(listing.folders, children, strict=True)
        ]
        return [*folders, *listing.files]

    async def _children(self, folder: FileEntry, depth: int) -> list[FileEntry]:
        if depth >= MAX_DEPTH or self._left <= 0:
            return []
        return await self.below(place_of(folder.virtual_path).inside, depth + 1)


def target_of(place: Place) -> str:
    return f"{FILES}/{quote(place.platform_path)}"


def _in_use(path: str) -> PrinterRefused:
    """Moonraker has its words for both only in its log."""
    return failed(
        in_english("%(path)s is being printed, or protected by Moonraker.", path=repr(path))
    )


def _modified(head: FetchedAnswer) -> float | None:
    text = head.header(b"last-modified") or b""
    try:
        return parsedate_to_datetime(text.decode("latin-1")).timestamp()
    except ValueError:
        return None


class FormUpload:
    """The body of the request. One task puts pieces in, another sends them.

    root, folder, file_name: where Moonraker is to put it. boundary: something that the file can't
    hold by chance.
    """

    def __init__(self, root: str, folder: str, file_name: str, boundary: str) -> None:
        self.kind = b"multipart/form-data; boundary=" + boundary.encode("ascii")
        self.size = 0
        self._boundary = boundary
        self._root = root
        self._head = self._before(folder, file_name)
        self._sum = hashlib.sha256()
        self._piece: bytes | None = None
        self._has_ended = False
        self._has_stopped = False
        self._changed = asyncio.Event()

    async def put(self, piece: bytes) -> None:
        """Put a piece in, once the one before was sent."""
        self._sum.update(piece)
        self.size += len(piece)
        while self._piece is not None and not self._has_stopped:
            await self._change()
        self._piece = piece
        self._changed.set()

    def finish(self) -> None:
        """End the form."""
        self._has_ended = True
        self._changed.set()

    def invalidate(self) -> None:
        """End the upload so that Moonraker throws it away."""
        self._piece = None
        self._root = NOWHERE
        self._has_ended = True
        self._changed.set()

    def stop_taking(self) -> None:
        """The request has ended: drop what is still put in."""
        self._has_stopped = True
        self._changed.set()

    async def body(self) -> AsyncIterator[bytes]:
        yield self._head
        while True:
            while self._piece is None and not self._has_ended:
                await self._change()
            piece, self._piece = self._piece, None
            if piece is None:
                break
            self._changed.set()
            yield piece
        yield self._after()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _before(self, folder: str, file_name: str) -> bytes:
        """Format what comes before the file.

        Names are UTF-8 with quotes escaped, as browsers write them.
        """
        name = file_name.replace('"', '\\"')
        head = (
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"'
        )
        kind = "Content-Type: application/octet-stream"
        return f"{self._field('path', folder)}{head}\r\n{kind}\r\n\r\n".encode()

    def _after(self) -> bytes:
        root = self._field("root", self._root)
        checksum = self._field("checksum", self._sum.hexdigest())
        return f"\r\n{root}{checksum}--{self._boundary}--\r\n".encode()

    def _field(self, name: str, value: str) -> str:
        head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{name}"'
        return f"{head}\r\n\r\n{value}\r\n"
