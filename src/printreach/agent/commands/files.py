"""The commands about files: list, details, upload, download, delete. All of them stream."""

import asyncio
from typing import Final
from urllib.parse import quote

from printreach.agent.commands import answers
from printreach.agent.commands.request import CommandRequest, bad_arguments
from printreach.contract.commands import CommandStatus
from printreach.contract.files import FileList, FileRoot
from printreach.languages import N_, in_english
from printreach.printers.port import Files, Printer, PrinterRefused, not_supported
from printreach.rules.printers.virtual_paths import VirtualPath, parse_virtual_path
from printreach.rules.thumbnails import (
    MAX_EDGE_PX,
    MIN_SIZE_PX,
    USUAL_SIZE_PX,
    thumbnail_of,
)
from printreach.wire.heads import encode_response, get

THUMBNAILS_AT_ONCE: Final = 2
"""Some printers serve few connections, and the beginnings of files have megabytes."""
THUMBNAIL_TIMEOUT_S: Final = 25.0


class FileCommands:
    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._thumbnail_slots = asyncio.Semaphore(THUMBNAILS_AT_ONCE)

    async def list(self, request: CommandRequest) -> object:
        files = self._files()
        root = _chosen_root(request, files.roots)
        self._require_reachable()
        return FileList(root=await files.entries(root))

    async def details(self, request: CommandRequest) -> object:
        path = self._file_path(request)
        return await self._files().details(str(path))

    async def delete(self, request: CommandRequest) -> object:
        path = self._file_path(request)
        request.begin_to_act()
        return await self._files().delete(str(path))

    async def upload(self, request: CommandRequest) -> object:
        path = self._file_path(request)
        coding = get(request.headers, b"content-encoding") or b"identity"
        if coding.lower() != b"identity":
            raise bad_arguments(N_("Content-Encoding: send the bytes of the file as they are."))
        files, size = self._files(), request.content_length()
        return await request.until_locked(
            lambda: files.upload(str(path), size, request.stream.body())
        )

    async def download(self, request: CommandRequest) -> None:
        path = self._file_path(request)
        async with self._files().open(str(path)) as download:
            name = quote(path.parts[-1], safe="")
            headers = [
                (b"Content-Type", b"application/octet-stream"),
                (b"Content-Disposition", f"attachment; filename*=UTF-8''{name}".encode("ascii")),
            ]
            await answers.answer_raw(request.stream, headers, download.size, download.chunks)

    async def thumbnail(self, request: CommandRequest) -> None:
        """Answer the picture in a file as what its bytes are. Few are read at once."""
        path, size_px = self._file_path(request), request.number("size", USUAL_SIZE_PX)
        if not MIN_SIZE_PX <= size_px <= MAX_EDGE_PX:
            raise bad_arguments(
                in_english(
                    "size must be %(least)s to %(most)s.",
                    least=MIN_SIZE_PX,
                    most=MAX_EDGE_PX,
                )
            )
        try:
            async with asyncio.timeout(THUMBNAIL_TIMEOUT_S), self._thumbnail_slots:
                data = await self._files().thumbnail(str(path), size_px)
        except TimeoutError:
            sentence = in_english(
                "The printer gave no thumbnail in %(seconds)s s.",
                seconds=f"{THUMBNAIL_TIMEOUT_S:.0f}",
            )
            raise PrinterRefused(CommandStatus.TIMED_OUT, sentence) from None
        thumbnail = None if data is None else thumbnail_of(data)
        if thumbnail is None:
            sentence = in_english("There is no thumbnail in %(path)s.", path=repr(str(path)))
            raise PrinterRefused(CommandStatus.NOT_FOUND, sentence)
        headers = [
            (b"Content-Type", thumbnail.media_type.encode()),
            (b"Content-Length", b"%d" % len(thumbnail.data)),
            (b"Cache-Control", b"no-store"),
            (b"X-Content-Type-Options", b"nosniff"),
        ]
        await request.stream.respond(encode_response(200, b"OK", headers), thumbnail.data, fin=True)

    def _file_path(self, request: CommandRequest) -> VirtualPath:
        """Return the `path` argument, which names something below a root."""
        files = self._files()
        named = request.text("path")
        if not named:
            raise bad_arguments(N_("path is missing in the query."))
        path = parse_virtual_path(named, files.roots)
        if isinstance(path, str):
            raise bad_arguments(path)
        if not path.parts:
            raise bad_arguments(N_("path names a root, not something in it."))
        self._require_reachable()
        return path

    def _files(self) -> Files:
        files = self._printer.files
        if files is None:
            self._require_reachable()
            raise not_supported(N_("This printer can't give access to its files."))
        return files

    def _require_reachable(self) -> None:
        """Require that the platform's own server is reachable.

        It may be while the printer is off.
        """
        trouble = self._printer.view.trouble
        if trouble is not None and not trouble.has_lost_firmware:
            raise PrinterRefused(trouble.status, trouble.sentence)


def _chosen_root(request: CommandRequest, roots: tuple[FileRoot, ...]) -> FileRoot:
    """`root`, else the first segment of `path`, else gcode."""
    named = request.text("root") or (request.text("path") or "").split("/", 1)[0]
    for root in roots:
        if named in ("", root.value):
            return root
    known = ", ".join(root.value for root in roots)
    raise bad_arguments(in_english("root must be one of: %(known)s.", known=known))
