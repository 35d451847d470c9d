"""A printer's files: listed, uploaded, downloaded, deleted, printed."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException, ValidationException
from litestar.params import FromQuery
from litestar.response import Redirect, Stream, Template

from printreach.contract.commands import CommandStatus, StartPrint
from printreach.contract.files import FileRoot
from printreach.hub.dashboard import Dashboard
from printreach.hub.printers.own import SeenPrinter
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import Action
from printreach.rules.printers.virtual_paths import VirtualPath, parse_virtual_path
from printreach.web.disconnects import closing
from printreach.web.forms import Fields
from printreach.web.printers.folders import Folder, UnreadableList, folder_of, parse_folder
from printreach.web.printers.orders import Order, give_order, refused, shows
from printreach.web.printers.own import FLASH_MESSAGES
from printreach.web.printers.uploads import read_upload
from printreach.web.printers.view import view_of
from printreach.web.printers.webcams import answer_of, answer_then_pieces
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn


@get("/printers/{printer_id:str}/files", media_type=MediaType.HTML)
async def files_page(
    seen: NamedDependency[SeenPrinter],
    services: NamedDependency[Services],
    folder: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
    said: FromQuery[str | None] = None,
) -> Template:
    """Show one folder and what can be done with its files."""
    view, path = view_of(seen, services.dashboard.clock.now()), parse_folder(folder)
    if path is None:
        raise NotFoundException("There is no such folder")
    shown = await _folder(services.dashboard, seen.printer.owned, path, page or 1)
    is_refused = isinstance(shown, PrinterRefusal)
    context = {
        "view": view,
        "here": "files",
        "folder": None if is_refused else shown,
        "refusal": shown if is_refused else None,
        "flash_message": FLASH_MESSAGES.get(said or "", ""),
    }
    return Template("dashboard/files.html", context=context)


@post("/printers/{printer_id:str}/files", request_max_body_size=None, media_type=MediaType.HTML)
async def upload(
    request: AnyRequest,
    owned: NamedDependency[OwnedPrinter],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
    folder: FromQuery[str | None] = None,
) -> Response[Any]:
    """Pass a file on to the printer as it arrives, while the account owns the printer."""
    into = parse_folder(folder)
    if into is None:
        raise ValidationException("There is no such folder")
    file = await read_upload(request)
    path = f"{into}/{file.name}"
    to, query = "/files/upload", {"path": path}
    async with services.leases.hold(signed_in.access.to(owned.printer_id)):
        answer = await services.dashboard.http.send(owned, to, query, file.chunks, None)
    back = f"/printers/{owned.printer_id}/files"
    if isinstance(answer, PrinterRefusal):
        return refused(answer, back)
    return Redirect(f"{back}?folder={quote(str(into), safe='')}&said=upload", status_code=303)


@get("/printers/{printer_id:str}/files/download")
async def download(
    owned: NamedDependency[OwnedPrinter],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
    path: FromQuery[str],
) -> Stream:
    """Pass a file on as it arrives, as a download that the browser never displays."""
    file_path = _file_path(path)
    access = signed_in.access.to(owned.printer_id)
    pieces = answer_then_pieces(services, access, "/files/download", {"path": str(file_path)})
    answer = await answer_of(pieces)
    name = quote(file_path.parts[-1], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
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
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services], path: FromQuery[str]
) -> Template:
    """Ask before deleting a file."""
    view, file_path = view_of(seen, services.dashboard.clock.now()), _file_path(path)
    context = {"view": view, "path": str(file_path), "name": file_path.parts[-1]}
    return Template("dashboard/delete_file.html", context=context)


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
async def ask_to_start(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services], path: FromQuery[str]
) -> Template:
    """Ask before a machine moves that nobody may be watching."""
    view, file_path = view_of(seen, services.dashboard.clock.now()), _file_path(path)
    context = {"view": view, "path": str(file_path), "name": file_path.parts[-1]}
    return Template("dashboard/start_file.html", context=context)


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
    )
    return await give_order(services, owned, order)


async def _folder(
    dashboard: Dashboard, printer: OwnedPrinter, path: VirtualPath, page: int
) -> Folder | PrinterRefusal:
    """Read a page of a folder. Raises NotFoundException if the printer has no such folder."""
    try:
        shown = await dashboard.file_lists.read(printer, lambda files: folder_of(files, path, page))
    except UnreadableList:
        text = "The list of files can't be read; the agent may be of another version."
        return PrinterRefusal(CommandStatus.UNKNOWN_FAILURE, text)
    if shown is None:
        raise NotFoundException("There is no such folder")
    return shown


def _file_path(typed: str) -> VirtualPath:
    """Parse a file's path. Raises ValidationException."""
    path = parse_virtual_path(typed, (FileRoot.GCODE,))
    if isinstance(path, str) or not path.parts:
        raise ValidationException("There is no such file")
    return path


FILE_PAGES = [files_page, upload, download, ask_to_delete, delete, ask_to_start, start]
