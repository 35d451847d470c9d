"""Pages that choose which events are notified, and the quiet hours."""

from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from printreach.hub.denied import Denied
from printreach.hub.notifications.choices import WrongField
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.notifications.pages import PAGE, NotificationPages, ticked

_PRINTER: Final = PAGE + "/printers/{printer_id:str}"


@get(PAGE, media_type=MediaType.HTML)
async def overview(pages: NamedDependency[NotificationPages]) -> Response[Any]:
    """Show all settings."""
    return await pages.overview()


@post(PAGE + "/events", media_type=MediaType.HTML)
async def choose_events(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Choose the events of every printer that has no choice of its own."""
    wrong = await pages.hub.choose_events(pages.account.account_id, ticked(fields))
    return redirect_with_flash(PAGE, "saved") if wrong is None else await pages.overview(wrong)


@post(PAGE + "/quiet", media_type=MediaType.HTML)
async def choose_quiet(
    fields: NamedDependency[Fields], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Choose the quiet hours."""
    wrong = await pages.hub.choose_quiet(
        pages.account.account_id,
        is_on=bool(fields["quiet"]),
        begins=fields["begins"],
        ends=fields["ends"],
        zone=fields["zone"],
        trouble_passes=bool(fields["trouble"]),
    )
    return redirect_with_flash(PAGE, "saved") if wrong is None else await pages.overview(wrong)


@get(_PRINTER, media_type=MediaType.HTML)
async def printer_page(
    printer_id: FromPath[str], pages: NamedDependency[NotificationPages]
) -> Response[Any]:
    """Show the events of one printer."""
    return await pages.of_printer(printer_id)


@post(_PRINTER, media_type=MediaType.HTML)
async def choose_for_printer(
    printer_id: FromPath[str],
    fields: NamedDependency[Fields],
    pages: NamedDependency[NotificationPages],
) -> Response[Any]:
    """Choose the events of one printer, or return it to the common choice."""
    own = ticked(fields) if fields["choice"] == "own" else None
    refused = await pages.hub.choose_for_printer(pages.account.account_id, printer_id, own)
    match refused:
        case Denied():
            raise NotFoundException(refused.sentence)
        case WrongField():
            return await pages.of_printer(printer_id, refused)
        case None:
            return redirect_with_flash(PAGE, "saved")


CHOICE_PAGES = [overview, choose_events, choose_quiet, printer_page, choose_for_printer]
