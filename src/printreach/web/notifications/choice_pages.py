"""What a person hears of their prints, and when they are left in peace."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from printreach.hub.denied import Denied
from printreach.hub.notify.choices import WrongField
from printreach.web.accounts.forms import Fields
from printreach.web.notifications.desk import PAGE, Desk, back, ticked

_PRINTER: Final = PAGE + "/printers/{printer_id:str}"


@get(PAGE, media_type=MediaType.HTML)
async def overview(desk: NamedDependency[Desk]) -> Response[Any]:
    """Everything that was chosen."""
    return await desk.overview()


@post(PAGE + "/events", media_type=MediaType.HTML)
async def choose_events(
    fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """What is told of every printer that has no choice of its own."""
    wrong = await desk.hub.choose_events(desk.account.account_id, ticked(fields))
    return back("saved") if wrong is None else await desk.overview(wrong)


@post(PAGE + "/quiet", media_type=MediaType.HTML)
async def choose_quiet(
    fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """When nothing is told."""
    wrong = await desk.hub.choose_quiet(
        desk.account.account_id,
        is_on=bool(fields["quiet"]),
        begins=fields["begins"],
        ends=fields["ends"],
        zone=fields["zone"],
        trouble_passes=bool(fields["trouble"]),
    )
    return back("saved") if wrong is None else await desk.overview(wrong)


@get(_PRINTER, media_type=MediaType.HTML)
async def printer_page(printer_id: FromPath[str], desk: NamedDependency[Desk]) -> Response[Any]:
    """What is told of one printer."""
    return await desk.of_printer(printer_id)


@post(_PRINTER, media_type=MediaType.HTML)
async def choose_for_printer(
    printer_id: FromPath[str], fields: NamedDependency[Fields], desk: NamedDependency[Desk]
) -> Response[Any]:
    """Choose for one printer, or take the choice back."""
    own = ticked(fields) if fields["choice"] == "own" else None
    refused = await desk.hub.choose_for_printer(desk.account.account_id, printer_id, own)
    match refused:
        case Denied():
            raise NotFoundException(refused.sentence)
        case WrongField():
            return await desk.of_printer(printer_id, refused)
        case None:
            return back("saved")


CHOICE_PAGES = [overview, choose_events, choose_quiet, printer_page, choose_for_printer]
