"""A printer's files: listed one folder at a time, uploaded, downloaded, deleted, printed."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import FromQuery
from litestar.response import Redirect, Stream, Template

from printreach.contract.commands import CommandStatus, StartPrint
from printreach.contract.files import EntryType, FileRoot
from printreach.hub.printers.own import SeenPrinter
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import Action
from printreach.rules.printers.virtual_paths import MAX_PATH_CHARS, VirtualPath, parse_virtual_path
from printreach.web.disconnects import closing
from printreach.web.forms import Fields
from printreach.web.printers.orders import Order, give_order, is_done_by, refused, shows
from printreach.web.printers.uploads import read_upload
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.printers.webcams import answer_of, answer_then_pieces
from printreach.web.problems import AnyRequest
from printreach.web.security import SANDBOX
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

ROOT: Final = FileRoot.GCODE.value
PAGE_SIZE: Final = 200
MAX_NAME_CHARS: Final = 255
"""Characters of a shown name; no file system allows more."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The parts of `contract.files.FileEntry` that a page needs. children: JSON, decoded when
    opened.
    """

    type: EntryType
    name: str
    virtual_path: str
    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    modified_time_sec: float = 0.0
    children: msgspec.Raw = msgspec.Raw(b"[]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A file or a folder.

    link: the value of `path=` in an address; "" if no address can name it.
    """

    name: str
    link: str
    is_folder: bool
    size_bytes: int
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """A page of one folder. crumbs: the names on the path with their links; the last is this
    folder.
    """

    path: str
    rows: Sequence[Row]
    crumbs: Sequence[tuple[str, str]]
    found: int
    page: int
    pages: int


class UnreadableList(Exception):
    """The printer's answer is not a list of files."""


class _List(msgspec.Struct, rename="pascal"):
    root: msgspec.Raw


class _ListEnvelope(msgspec.Struct, rename="pascal"):
    result: _List


_envelope = msgspec.json.Decoder(_ListEnvelope)
_items = msgspec.json.Decoder(list[msgspec.Raw])
_entry = msgspec.json.Decoder(Entry)


def parse_folder(typed: str | None) -> VirtualPath | None:
    """Parse the folder in an address; None if it is invalid."""
    path = parse_virtual_path(typed or ROOT, (FileRoot.GCODE,))
    return path if isinstance(path, VirtualPath) else None


def folder_of(envelope: bytes, path: VirtualPath, page: int) -> Folder | None:
    """Return a page of a folder's rows, folders first, then the newest files; None if it does not
    exist.

    envelope: the printer's answer to `/files/list`. It may have megabytes, so this runs in a
    thread; each step is short, since msgspec holds the GIL while it decodes. Raises UnreadableList.
    """
    try:
        entries = _entries_at(_envelope.decode(envelope).result.root, path.parts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise UnreadableList(str(exc)) from exc
    if entries is None:
        return None
    entries.sort(key=_place)
    pages = max(1, -(-len(entries) // PAGE_SIZE))
    page = max(1, min(page, pages))
    shown = entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return Folder(
        path=str(path),
        rows=[_row(entry) for entry in shown],
        crumbs=_crumbs(path),
        found=len(entries),
        page=page,
        pages=pages,
    )


def _entries_at(root: msgspec.Raw, parts: Sequence[str]) -> list[Entry] | None:
    inside = root
    for part in parts:
        folders = (
            entry.children
            for entry in _entries(inside)
            if entry.type is EntryType.FOLDER and entry.name == part
        )
        folder = next(folders, None)
        if folder is None:
            return None
        inside = folder
    return list(_entries(inside))


def _entries(items: msgspec.Raw) -> Iterator[Entry]:
    return (_entry.decode(item) for item in _items.decode(items))


def _row(entry: Entry) -> Row:
    is_named = len(entry.virtual_path) <= MAX_PATH_CHARS
    return Row(
        name=entry.name[:MAX_NAME_CHARS],
        link=quote(entry.virtual_path, safe="") if is_named else "",
        is_folder=entry.type is EntryType.FOLDER,
        size_bytes=entry.size_bytes,
        changed_at=_moment(entry.modified_time_sec),
    )


def _moment(unix_s: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(unix_s, UTC) if unix_s > 0 else None
    except (OverflowError, ValueError, OSError):  # a printer may report any number
        return None


def _place(entry: Entry) -> tuple[bool, float, str]:
    is_folder = entry.type is EntryType.FOLDER
    newest_first = 0.0 if is_folder else -entry.modified_time_sec
    return not is_folder, newest_first, entry.name.casefold()


def _crumbs(path: VirtualPath) -> list[tuple[str, str]]:
    so_far, crumbs = ROOT, [("Files", ROOT)]
    for part in path.parts:
        so_far = f"{so_far}/{part}"
        crumbs.append((part, quote(so_far, safe="")))
    return crumbs


@get("/printers/{printer_id:str}/files", media_type=MediaType.HTML)
async def files_page(
    seen: NamedDependency[SeenPrinter],
    services: NamedDependency[Services],
    folder: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
) -> Template:
    """Show one folder and what can be done with its files."""
    view, path = view_of(seen, services.clock.now()), parse_folder(folder)
    if path is None:
        raise NotFoundException("There is no such folder")
    shown = await _folder(services, seen.printer.owned, path, page or 1)
    is_refused = isinstance(shown, PrinterRefusal)
    context = {
        "view": view,
        "here": "files",
        "folder": None if is_refused else shown,
        "refusal": shown if is_refused else None,
    }
    return Template("dashboard/files.html", context=context)


@post("/printers/{printer_id:str}/files", request_max_body_size=None, media_type=MediaType.HTML)
async def upload(
    request: AnyRequest,
    owned: NamedDependency[OwnedPrinter],
    signed_in: NamedDependency[SignedIn],
    folder: FromQuery[str | None] = None,
) -> Response[Any]:
    """Pass a file on to the printer as it arrives, while the account owns the printer."""
    into = parse_folder(folder)
    if into is None:
        raise ValidationException("There is no such folder")
    file = await read_upload(request)
    path = f"{into}/{file.name}"
    to, query = "/files/upload", {"path": path}
    async with signed_in.services.leases.hold(signed_in.access.to(owned.printer_id)):
        answer = await signed_in.services.printer_http.send(owned, to, query, file.chunks, None)
    back = f"/printers/{owned.printer_id}/files"
    if isinstance(answer, PrinterRefusal):
        return refused(answer, back)
    return Redirect(f"{back}?folder={quote(str(into), safe='')}&said=upload", status_code=303)


@get("/printers/{printer_id:str}/files/download")
async def download(
    owned: NamedDependency[OwnedPrinter], signed_in: NamedDependency[SignedIn], path: FromQuery[str]
) -> Stream:
    """Pass a file on as it arrives, as a download that the browser never displays."""
    file_path = _file_path(path)
    access = signed_in.access.to(owned.printer_id)
    pieces = answer_then_pieces(
        signed_in.services, access, "/files/download", {"path": str(file_path)}
    )
    answer = await answer_of(pieces)
    name = quote(file_path.parts[-1], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        **SANDBOX,
    }
    if answer.length is not None:
        headers["Content-Length"] = str(answer.length)

    async def body() -> AsyncIterator[bytes]:
        try:
            async for piece in pieces:
                assert isinstance(piece, bytes)
                yield piece
        finally:
            await pieces.aclose()

    content = body()
    return Stream(
        content, media_type="application/octet-stream", headers=headers, background=closing(content)
    )


@get("/printers/{printer_id:str}/files/delete", media_type=MediaType.HTML)
async def ask_to_delete(view: NamedDependency[PrinterView], path: FromQuery[str]) -> Template:
    """Ask before deleting a file."""
    return _question("dashboard/delete_file.html", view, path)


@post("/printers/{printer_id:str}/files/delete", media_type=MediaType.HTML)
async def delete(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Delete a file from the printer."""
    order = Order(
        command="/files/delete",
        back=f"/printers/{owned.printer_id}/files",
        flash="delete",
        query={"path": str(_file_path(fields["path"]))},
    )
    return await give_order(services, owned, order)


@get("/printers/{printer_id:str}/files/start", media_type=MediaType.HTML)
async def ask_to_start(view: NamedDependency[PrinterView], path: FromQuery[str]) -> Template:
    """Ask before a machine moves that nobody may be watching."""
    return _question("dashboard/start_file.html", view, path)


@post("/printers/{printer_id:str}/files/start", media_type=MediaType.HTML)
async def start(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    services: NamedDependency[Services],
) -> Response[Any]:
    """Print a file."""
    order = Order(
        command="/start",
        back=f"/printers/{owned.printer_id}",
        flash="start",
        arguments=StartPrint(path=str(_file_path(fields["path"]))),
        shows_effect=shows(Action.START),
        is_done=is_done_by(Action.START),
    )
    return await give_order(services, owned, order)


async def _folder(
    services: Services, printer: OwnedPrinter, path: VirtualPath, page: int
) -> Folder | PrinterRefusal:
    """Read a page of a folder. Raises NotFoundException if the printer has no such folder."""
    try:
        shown = await services.file_lists.read(printer, lambda files: folder_of(files, path, page))
    except UnreadableList:
        text = "The list of files can't be read; the agent may be of another version."
        return PrinterRefusal(CommandStatus.UNKNOWN_FAILURE, text)
    if shown is None:
        raise NotFoundException("There is no such folder")
    return shown


def _question(template: str, view: PrinterView, typed: str) -> Template:
    path = _file_path(typed)
    context = {"view": view, "path": str(path), "name": path.parts[-1]}
    return Template(template, context=context)


def _file_path(typed: str) -> VirtualPath:
    """Parse a file's path. Raises ValidationException."""
    path = parse_virtual_path(typed, (FileRoot.GCODE,))
    if isinstance(path, str) or not path.parts:
        raise ValidationException("There is no such file")
    return path


FILE_PAGES = [files_page, upload, download, ask_to_delete, delete, ask_to_start, start]
