"""Pages of the connections to an account's printers: those of apps, shared ones, and Live Links."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect, Template

from printreach.contract.permissions import ALL_PERMISSIONS, Permission
from printreach.hub.connections.live_links import LiveWish
from printreach.hub.connections.own import LIFETIMES
from printreach.hub.denied import Denied, Reason
from printreach.languages import N_, _, translate
from printreach.rules.connections import ConnectionKind
from printreach.web.connections.permissions import ticked, ticks_of
from printreach.web.flash import redirect_with_flash
from printreach.web.forms import Fields
from printreach.web.problems import or_404
from printreach.web.qr_code import qr_code
from printreach.web.safe_methods import USED_UP
from printreach.web.signed_in import SignedIn

NO_END = "never"
ENDS = [
    ("1", N_("in an hour")),
    ("24", N_("in a day")),
    ("168", N_("in a week")),
    ("720", N_("in 30 days")),
]


@get("/connections", media_type=MediaType.HTML)
async def connections_page(signed_in: NamedDependency[SignedIn]) -> Template:
    """List the current connections."""
    account_id = signed_in.account_id
    standing = await signed_in.services.billing.standing(signed_in.account)
    context = {
        "are_apps_paused": not standing.is_supporter,
        "is_sold": standing.is_sold,
        "apps": await signed_in.services.own_connections.all(account_id, ConnectionKind.APP),
        "shared": await signed_in.services.own_connections.all(account_id, ConnectionKind.SHARED),
        "people": await signed_in.services.members.of_owner(account_id),
        "live_links": await signed_in.services.live_links.all(account_id),
        "addresses": signed_in.services.addresses,
        "has_printers": bool(await signed_in.services.own_printers.rows(account_id)),
    }
    return Template("dashboard/connections.html", context=context)


@get("/connections/share", media_type=MediaType.HTML)
async def share_page(
    signed_in: NamedDependency[SignedIn], printer: FromQuery[str | None] = None
) -> Template:
    """Ask which printer to share, with whom, and for how long."""
    return await _share_form(signed_in, ShareForm(printer=printer or ""))


@post("/connections/share", media_type=MediaType.HTML)
async def share(
    fields: NamedDependency[Fields], signed_in: NamedDependency[SignedIn]
) -> Response[Any]:
    """Make a Shared Connection."""
    typed = ShareForm(
        printer=fields["printer"],
        name=fields["name"],
        hours=fields["ends"],
        permissions=ticked(fields),
    )
    if typed.hours not in LIFETIMES and typed.hours != NO_END:
        errors = {"ends": _("Choose when it ends.")}
        return await _share_form(signed_in, replace(typed, hours="24", errors=errors))
    account_id = signed_in.account_id
    made = await signed_in.services.own_connections.share(
        account_id, typed.printer, typed.hours, typed.permissions, typed.name
    )
    if isinstance(made, Denied):
        return await _share_form(signed_in, replace(typed, errors=_errors_of_share(made)))
    connection_id = made.connection.connection_id
    await signed_in.services.shown_shares.put(account_id, connection_id, made)
    return Redirect(f"/connections/{connection_id}/secrets", status_code=303)


@get("/connections/{connection_id:str}/secrets", media_type=MediaType.HTML, opt=dict(USED_UP))
async def secrets_page(
    connection_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Show the secrets of a new connection once."""
    account_id = signed_in.account_id
    or_404(await signed_in.services.own_connections.one(account_id, connection_id))
    shared = await signed_in.services.shown_shares.take(account_id, connection_id)
    context = {"shared": shared, "picture": qr_code(shared.link) if shared else None}
    return Template("dashboard/shared.html", context=context)


@post("/connections/{connection_id:str}/permissions", media_type=MediaType.HTML)
async def permit(
    connection_id: FromPath[str],
    fields: NamedDependency[Fields],
    signed_in: NamedDependency[SignedIn],
) -> Redirect:
    """Change what a connection may do."""
    account_id = signed_in.account_id
    or_404(
        await signed_in.services.own_connections.permit(account_id, connection_id, ticked(fields))
    )
    return redirect_with_flash(f"/connections/{connection_id}", "permitted")


@post("/connections/done", media_type=MediaType.HTML)
async def done() -> Redirect:
    """Go on, now that the secrets are saved."""
    return Redirect("/connections", status_code=303)


@get("/connections/{connection_id:str}/end", media_type=MediaType.HTML)
async def ask_to_end(
    connection_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> Template:
    """Ask before somebody loses access."""
    account_id = signed_in.account_id
    connection = or_404(await signed_in.services.own_connections.one(account_id, connection_id))
    named = [
        row
        for row in await signed_in.services.own_connections.all(account_id, connection.kind)
        if row.connection.connection_id == connection_id
    ]
    context = {"connection": connection, "listed": named[0] if named else None}
    return Template("dashboard/end_connection.html", context=context)


@post("/connections/{connection_id:str}/end", media_type=MediaType.HTML)
async def end(connection_id: FromPath[str], signed_in: NamedDependency[SignedIn]) -> Redirect:
    """End a connection."""
    or_404(await signed_in.services.own_connections.end(signed_in.account_id, connection_id))
    return redirect_with_flash("/connections", "ended")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareForm:
    """The values of the form, and their errors. name: whom the share is for."""

    printer: str = ""
    name: str = ""
    hours: str = "24"
    permissions: frozenset[Permission] = ALL_PERMISSIONS - {Permission.INTERFACE}
    errors: dict[str, str] = field(default_factory=dict)


def _errors_of_share(denied: Denied) -> dict[str, str]:
    if denied.reason is Reason.INVALID:
        return {"name": denied.sentence}
    unknown = denied.reason is Reason.NO_SUCH_PRINTER
    return {"printer": _("Choose one of your printers.") if unknown else denied.sentence}


async def _share_form(signed_in: SignedIn, typed: ShareForm) -> Template:
    rows = await signed_in.services.own_printers.rows(signed_in.account_id)
    context = {
        "printers": [(row.printer.printer_id, row.printer.name) for row in rows],
        "ends": _translated([*ENDS, (NO_END, N_("when I end it"))]),
        "typed": typed,
        "ticks": ticks_of(typed.permissions),
    }
    status = 400 if typed.errors else 200
    return Template("dashboard/share.html", context=context, status_code=status)


LIVE_LINK_ENDS = [*ENDS, ("8760", N_("in a year"))]


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
    if typed.hours not in dict(LIVE_LINK_ENDS):
        return await _faulty(signed_in, typed, "ends", _("Choose when it ends."))
    wish = LiveWish(
        hours=int(typed.hours), ends_with_print=typed.with_print, shows_names=typed.shows_names
    )
    account_id = signed_in.account_id
    made = await signed_in.services.live_links.make(account_id, typed.printer, wish)
    if not isinstance(made, Denied):
        return redirect_with_flash("/connections", "live")
    if made.reason is Reason.NO_SUCH_PRINTER:
        sentence = _("Choose one of your printers.")
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
    hours = typed.hours if typed.hours in dict(LIVE_LINK_ENDS) else "24"
    form = replace(typed, hours=hours, errors={name: sentence})
    return await _form(signed_in, form)


async def _form(signed_in: SignedIn, typed: LiveLinkForm) -> Template:
    rows = await signed_in.services.own_printers.rows(signed_in.account_id)
    context = {
        "printers": [(row.printer.printer_id, row.printer.name) for row in rows],
        "ends": _translated(LIVE_LINK_ENDS),
        "typed": typed,
    }
    status = 400 if typed.errors else 200
    return Template("dashboard/live_link.html", context=context, status_code=status)


def _translated(options: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(value, translate(text)) for value, text in options]


CONNECTION_PAGES = [
    *(connections_page, share_page, share, secrets_page, permit, done),
    *(ask_to_end, end, live_form, make_live_link, ask_to_end_live_link, end_live_link),
]
