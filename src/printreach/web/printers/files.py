"""A printer's files: listed one folder at a time, uploaded, downloaded, deleted, printed."""

from collections.abc import AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import FromQuery
from litestar.response import Redirect, Stream, Template

from printreach.contract.codec import BAD_JSON
from printreach.contract.commands import CommandStatus, StartPrint
from printreach.contract.files import FileRoot
from printreach.contract.platforms import can_print, facts_of
from printreach.hub.leases import Access
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.files import ThumbnailKey
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_, _
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter, Printer
from printreach.rules.printers.commands import Action
from printreach.rules.printers.virtual_paths import VirtualPath, parse_virtual_path
from printreach.web.disconnects import closing
from printreach.web.forms import Fields
from printreach.web.printers.file_facts import file_facts, is_being_printed
from printreach.web.printers.folders import (
    MAX_SEARCH_CHARS,
    Folder,
    FolderQuery,
    Sort,
    UnreadableList,
    find_file,
    folder_of,
    parse_folder,
    parse_folder_query,
)
from printreach.web.printers.orders import Order, give_order, is_done_by, refused, shows
from printreach.web.printers.uploads import parse_file_name, read_upload
from printreach.web.printers.view import view_of
from printreach.web.printers.webcams import answer_of, answer_then_pieces
from printreach.web.problems import AnyRequest, or_404
from printreach.web.security import SANDBOX
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

MAX_VERSION_CHARS: Final = 64
THUMBNAIL_PX: Final = 256
_THUMBNAIL_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {**SANDBOX, "Cache-Control": "private, max-age=86400"}
)
"""The address of a thumbnail changes with its file."""

T = TypeVar("T")


@get("/printers/{printer_id:str}/files", media_type=MediaType.HTML)
async def files_page(
    seen: NamedDependency[SeenPrinter],
    services: NamedDependency[Services],
    folder: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    sort: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
) -> Template:
    """Show one folder and what can be done with its files."""
    view, query = view_of(seen, services.clock.now()), parse_folder_query(folder, q, sort, page)
    if query is None:
        raise NotFoundException(N_("There is no such folder"))
    shown = await _folder(services, seen.printer, query)
    is_refused = isinstance(shown, PrinterRefusal)
    context = {
        "view": view,
        "here": "files",
        "folder": None if is_refused else shown,
        "refusal": shown if is_refused else None,
        "sorts": list(Sort),
        "prints": facts_of(seen.printer.platform).prints,
    }
    return Template("dashboard/files.html", context=context)


@get("/printers/{printer_id:str}/files/file", media_type=MediaType.HTML)
async def file_page(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services], path: FromQuery[str]
) -> Template:
    """Show what is known of one file, and what can be done with it."""
    return await _about_file("dashboard/file.html", seen, services, path)


@get("/printers/{printer_id:str}/files/thumbnail")
async def thumbnail(
    owned: NamedDependency[OwnedPrinter],
    services: NamedDependency[Services],
    path: FromQuery[str],
    v: FromQuery[str] = "",
) -> Response[bytes]:
    """Return the picture that the slicer wrote into a file; nothing where there is none.

    Many files have none, and browsers complain of pictures that are answered 404.
    """
    key = ThumbnailKey(owned, str(_file_path(path)), THUMBNAIL_PX, v[:MAX_VERSION_CHARS])
    found = await services.thumbnails.of(key)
    if found is None:
        return Response(b"", status_code=204)
    return Response(found.data, media_type=found.media_type, headers=dict(_THUMBNAIL_HEADERS))


@post("/printers/{printer_id:str}/files", request_max_body_size=None, media_type=MediaType.HTML)
async def upload(
    request: AnyRequest,
    admitted: NamedDependency[AdmittedPrinter],
    signed_in: NamedDependency[SignedIn],
    printer_access: NamedDependency[Access],
    folder: FromQuery[str | None] = None,
    then: FromQuery[str] = "",
    replace: FromQuery[str] = "",
) -> Response[Any]:
    """Pass a file on to the printer as it arrives, while the account owns the printer.

    then: "print" leads to the question whether to print it. replace: the name of a file that may be
    replaced; without it the answer asks whether to, and the file stays as it is.
    """
    into = _folder_path(folder)
    file = await read_upload(request)
    path, owned = f"{into}/{file.name}", admitted.printer.owned
    to, query = "/files/upload", {"path": path}
    async with signed_in.services.leases.hold(printer_access):
        seen = await _seen_now(admitted, signed_in.services)
        against = await _against_upload(
            seen, signed_in.services, path, then, may_replace=replace == file.name
        )
        if against is not None:
            return against
        answer = await signed_in.services.printer_http.send(owned, to, query, file.chunks, None)
    back = f"/printers/{owned.printer_id}/files"
    person_id, is_owner = signed_in.account_id, signed_in.account_id == owned.account_id
    if isinstance(answer, PrinterRefusal):
        return refused(answer, back, may_unlock=is_owner)
    await signed_in.services.given_orders.note(person_id, owned, to, path)
    if then == "print":
        stored = quote(_stored_path(answer) or path, safe="")
        return Redirect(f"{back}/start?path={stored}", status_code=303)
    word = "upload" if can_print(seen.printer.platform, file.name) else "upload-other"
    return Redirect(f"{back}?folder={quote(str(into), safe='')}&said={word}", status_code=303)


@get("/printers/{printer_id:str}/files/replace", media_type=MediaType.HTML)
async def ask_to_replace(
    admitted: NamedDependency[AdmittedPrinter],
    services: NamedDependency[Services],
    name: FromQuery[str],
    folder: FromQuery[str | None] = None,
) -> Response[Any]:
    """Ask before an upload replaces a file; 204 where there is none of its name."""
    path = f"{_folder_path(folder)}/{parse_file_name(name)}"
    seen = await _seen_now(admitted, services)
    against = await _against_upload(seen, services, path, "", is_sent=False)
    return Response(None, status_code=204) if against is None else against


@get("/printers/{printer_id:str}/files/download")
async def download(
    printer_access: NamedDependency[Access],
    services: NamedDependency[Services],
    path: FromQuery[str],
) -> Stream:
    """Pass a file on as it arrives, as a download that the browser never displays."""
    file_path = _file_path(path)
    query = {"path": str(file_path)}
    pieces = answer_then_pieces(services, printer_access, "/files/download", query)
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
async def ask_to_delete(
    admitted: NamedDependency[AdmittedPrinter],
    services: NamedDependency[Services],
    path: FromQuery[str],
) -> Template:
    """Ask before deleting a file."""
    named, seen = _file_path(path), await _seen_now(admitted, services)
    if is_being_printed(seen, named.parts[-1]):
        return _in_use(seen, services, named.parts[-1], "deleted")
    view = view_of(seen, services.clock.now())
    context = {"view": view, "path": str(named), "name": named.parts[-1]}
    return Template("dashboard/delete_file.html", context=context)


@post("/printers/{printer_id:str}/files/delete", media_type=MediaType.HTML)
async def delete(
    admitted: NamedDependency[AdmittedPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Delete a file from the printer, unless it is being printed."""
    named, owned = _file_path(fields["path"]), admitted.printer.owned
    seen = await _seen_now(admitted, signed_in.services)
    if is_being_printed(seen, named.parts[-1]):
        return _in_use(seen, signed_in.services, named.parts[-1], "deleted", status=409)
    path = str(named)
    order = Order(
        command="/files/delete",
        back=f"/printers/{owned.printer_id}/files",
        flash="delete",
        query={"path": path},
        subject=path,
    )
    return await give_order(signed_in, owned, order)


@get("/printers/{printer_id:str}/files/start", media_type=MediaType.HTML)
async def ask_to_start(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services], path: FromQuery[str]
) -> Template:
    """Ask before a machine moves that nobody may be watching, and show what it would do."""
    return await _about_file("dashboard/start_file.html", seen, services, path)


@get("/printers/{printer_id:str}/files/again", media_type=MediaType.HTML)
async def ask_to_start_again(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services], name: FromQuery[str]
) -> Response[Any]:
    """Lead to the question whether to print the file of an earlier print. name: as told then."""
    base = f"/printers/{seen.printer.printer_id}/files"
    found = await _in_list(services, seen.printer, lambda files: find_file(files, name))
    if isinstance(found, PrinterRefusal):
        return refused(found, f"/printers/{seen.printer.printer_id}")
    if found is None:
        words = quote(name.rpartition("/")[2][:MAX_SEARCH_CHARS], safe="")
        return Redirect(f"{base}?q={words}", status_code=303)
    return Redirect(f"{base}/start?path={quote(found, safe='')}", status_code=303)


@post("/printers/{printer_id:str}/files/start", media_type=MediaType.HTML)
async def start(
    owned: NamedDependency[OwnedPrinter],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Response[Any]:
    """Print a file."""
    path = str(_file_path(fields["path"]))
    order = Order(
        command="/start",
        back=f"/printers/{owned.printer_id}",
        flash="start",
        arguments=StartPrint(path=path),
        subject=path,
        shows_effect=shows(Action.START),
        is_done=is_done_by(Action.START),
    )
    return await give_order(signed_in, owned, order)


async def _seen_now(admitted: AdmittedPrinter, services: Services) -> SeenPrinter:
    """Return the printer as it is now: a print may just have begun."""
    return or_404(await services.own_printers.ask_now(admitted))


async def _against_upload(
    seen: SeenPrinter,
    services: Services,
    typed: str,
    then: str,
    *,
    may_replace: bool = False,
    is_sent: bool = True,
) -> Template | None:
    """Return what is answered in place of an upload to that path; None where nothing is in its way.

    is_sent: the file is on its way, and has to be chosen again.
    """
    path, status = _file_path(typed), 409 if is_sent else 200
    if is_being_printed(seen, path.parts[-1]):
        return _in_use(seen, services, path.parts[-1], "replaced", status=status)
    if may_replace:
        return None
    facts = await file_facts(services, seen.printer, path)
    if not facts.is_there:
        return None
    context = {
        "view": view_of(seen, services.clock.now()),
        "file": facts,
        "folder": str(path).rpartition("/")[0],
        "then": then,
        "is_sent": is_sent,
    }
    return Template("dashboard/replace_file.html", context=context, status_code=status)


def _in_use(
    seen: SeenPrinter, services: Services, name: str, what: str, *, status: int = 200
) -> Template:
    context = {"view": view_of(seen, services.clock.now()), "name": name, "what": what}
    return Template("dashboard/file_in_use.html", context=context, status_code=status)


def _folder_path(typed: str | None) -> VirtualPath:
    """Parse a folder's path. Raises ValidationException."""
    path = parse_folder(typed)
    if path is None:
        raise ValidationException(N_("There is no such folder"))
    return path


async def _folder(
    services: Services, printer: Printer, query: FolderQuery
) -> Folder | PrinterRefusal:
    """Read a page of a folder. Raises NotFoundException if the printer has no such folder."""
    platform = printer.platform
    shown = await _in_list(services, printer, lambda files: folder_of(files, query, platform))
    if shown is None:
        raise NotFoundException(N_("There is no such folder"))
    return shown


async def _in_list(
    services: Services, printer: Printer, work: Callable[[bytes], T]
) -> T | PrinterRefusal:
    """Have the list of the printer's files read by a thread."""
    try:
        return await services.file_lists.read(printer.owned, work)
    except UnreadableList:
        text = _("The list of files can't be read; the agent may be of another version.")
        return PrinterRefusal(CommandStatus.UNKNOWN_FAILURE, text)


async def _about_file(template: str, seen: SeenPrinter, services: Services, typed: str) -> Template:
    facts = await file_facts(services, seen.printer, _file_path(typed))
    view = view_of(seen, services.clock.now())
    return Template(template, context={"view": view, "here": "files", "file": facts})


def _stored_path(envelope: bytes) -> str | None:
    """Return where the printer put an upload, which may have changed its name."""
    try:
        return _stored.decode(envelope).result.virtual_path or None
    except BAD_JSON:
        return None


class _Stored(msgspec.Struct, rename="pascal"):
    virtual_path: str = ""


class _StoredEnvelope(msgspec.Struct, rename="pascal"):
    result: _Stored


_stored = msgspec.json.Decoder(_StoredEnvelope)


def _file_path(typed: str) -> VirtualPath:
    """Parse a file's path. Raises ValidationException."""
    path = parse_virtual_path(typed, (FileRoot.GCODE,))
    if isinstance(path, str) or not path.parts:
        raise ValidationException(N_("There is no such file"))
    return path


FILE_PAGES = [
    *(files_page, file_page, thumbnail, upload, ask_to_replace, download, ask_to_delete, delete),
    *(ask_to_start, ask_to_start_again, start),
]
