"""Pages that create and end an account's Live Links."""

from dataclasses import dataclass, field, replace
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.hub.connections.live_links import LiveWish
from printreach.hub.denied import Denied, Reason
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.problems import or_404
from printreach.web.signed_in import SignedIn

ENDS: Final = [
    ("1", "in an hour"),
    ("24", "in a day"),
    ("168", "in a week"),
    ("720", "in 30 days"),
    ("8760", "in a year"),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveLinkForm:
    """The values of the form, and their errors."""

    printer: str = ""
    hours: str = "24"
    with_print: bool = False
    shows_names: bool = False
    errors: dict[str, str] = field(default_factory=dict)


@get("/connections/live", media_type=MediaType.HTML)
async def live_form(
    signed_in: NamedDependency[SignedIn], printer: FromQuery[str | None] = None
) -> Template:
    """Ask which printer to show, and for how long."""
    return await _form(signed_in, LiveLinkForm(printer=printer or ""))


@post("/connections/live", media_type=MediaType.HTML)
async def make_live_link(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Create a Live Link."""
    typed = LiveLinkForm(
        printer=fields["printer"],
        hours=fields["ends"],
        with_print=fields["with_print"] == "yes",
        shows_names=fields["names"] == "yes",
    )
    if typed.hours not in dict(ENDS):
        return await _faulty(signed_in, typed, "ends", "Choose when it ends.")
    wish = LiveWish(
        hours=int(typed.hours), ends_with_print=typed.with_print, shows_names=typed.shows_names
    )
    account_id = signed_in.account_id
    made = await signed_in.services.live_links.make(account_id, typed.printer, wish)
    if not isinstance(made, Denied):
        return redirect_with_flash("/connections", "live")
    if made.reason is Reason.NO_SUCH_PRINTER:
        sentence = "Choose one of your printers."
        return await _faulty(signed_in, typed, "printer", sentence)
    is_about_print = made.reason in (Reason.NO_ACTIVE_PRINT, Reason.PRINTER_AWAY)
    name = "with_print" if is_about_print else "printer"
    return await _faulty(signed_in, typed, name, made.sentence)


@get("/connections/live/{live_id:str}/end", media_type=MediaType.HTML)
async def ask_to_end_live_link(
    live_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Ask before its viewers lose sight of the printer."""
    listed = or_404(await signed_in.services.live_links.one(signed_in.account_id, live_id))
    return Template("dashboard/end_live_link.html", context={"one": listed})


@post("/connections/live/{live_id:str}/end", media_type=MediaType.HTML)
async def end_live_link(live_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Redirect:
    """End a Live Link."""
    or_404(await signed_in.services.live_links.end(signed_in.account_id, live_id))
    return redirect_with_flash("/connections", "live-ended")


async def _faulty(signed_in: SignedIn, typed: LiveLinkForm, name: str, sentence: str) -> Template:
    hours = typed.hours if typed.hours in dict(ENDS) else "24"
    form = replace(typed, hours=hours, errors={name: sentence})
    return await _form(signed_in, form)


async def _form(signed_in: SignedIn, typed: LiveLinkForm) -> Template:
    rows = await signed_in.services.own_printers.rows(signed_in.account_id)
    context = {
        "printers": [(row.printer.printer_id, row.printer.name) for row in rows],
        "ends": ENDS,
        "typed": typed,
    }
    status = 400 if typed.errors else 200
    return Template("dashboard/live_link.html", context=context, status_code=status)


LIVE_LINK_PAGES = [live_form, make_live_link, ask_to_end_live_link, end_live_link]
