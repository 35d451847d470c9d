"""The history of a printer, the activity of an account, and pictures of events."""

from collections.abc import AsyncGenerator, AsyncIterator
from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlencode

from litestar import MediaType, Response, get, route
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Stream, Template

from printreach.hub.leases import Access
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.own import SeenPrinter
from printreach.languages import N_
from printreach.rules.printers.cameras import UNTURNED, Pose, with_orientation
from printreach.rules.prints.history import Print, csv_head, csv_line, json_line
from printreach.rules.prints.timelapse import PrintKey
from printreach.rules.rate_limits import Limit
from printreach.web.disconnects import closing
from printreach.web.printer_state import known_state_of
from printreach.web.printers.cards import default_pose
from printreach.web.printers.view import view_of
from printreach.web.prints.rows import (
    activity_item_of,
    format_cursor,
    months_of,
    order_rows,
    parse_cursor,
    parse_event_cursor,
    row_of,
    timelapse_view,
    total_of,
)
from printreach.web.problems import AnyRequest, or_404
from printreach.web.safe_methods import READ
from printreach.web.security import NO_REFERRER, SANDBOX
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn, raise_if_too_soon, visitor_of
from printreach.web.watch.chart import quality_chart
from printreach.web.watch.view import watch_view

BY_ADDRESS: Final = Limit(name="snapshot", at_once=300, every=timedelta(seconds=0.1))
_SUFFIX: Final = ".jpg"
PUBLIC_HEADERS: Final = {
    **SANDBOX,
    **NO_REFERRER,
    # The address is the secret; those who have it may embed the picture in their own pages.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Robots-Tag": "noindex, noarchive",
    "Cache-Control": "private, max-age=3600",
}


@get("/printers/{printer_id:str}/history", media_type=MediaType.HTML)
async def history_page(
    seen: NamedDependency[SeenPrinter],
    admitted: NamedDependency[AdmittedPrinter],
    signed_in: NamedDependency[SignedIn],
    before: FromQuery[str | None] = None,
) -> Template:
    """List the prints of one printer, the newest first, and what people ordered."""
    account_id, printer_id = seen.printer.account_id, seen.printer.printer_id
    place, at = parse_cursor(before), signed_in.services.clock.now()
    page = await signed_in.services.print_history.page(account_id, printer_id, place)
    tallies = await signed_in.services.print_history.months(account_id, printer_id)
    state = known_state_of(seen, at)
    person_id, given = signed_in.account_id, signed_in.services.given_orders
    orders = await given.recent(person_id, admitted) if place is None else []
    context = {
        "view": view_of(seen, at),
        "orders": order_rows(orders, person_id),
        "here": "history",
        "prints": [
            row_of(print_, at, frozenset({printer_id}), state, default_pose(seen))
            for print_ in page.prints
        ],
        "total": total_of(tallies),
        "older": _older(f"/printers/{printer_id}/history", format_cursor(page.older)),
        "is_first": place is None,
    }
    return Template("history/history.html", context=context)


@get("/printers/{printer_id:str}/history/print", media_type=MediaType.HTML)
async def print_page(
    seen: NamedDependency[SeenPrinter],
    admitted: NamedDependency[AdmittedPrinter],
    signed_in: NamedDependency[SignedIn],
    print_id: Annotated[str, QueryParameter(name="id")] = "",
) -> Template:
    """Show one print: its outcome, and what the failure watch saw of it."""
    account_id, printer_id = seen.printer.account_id, seen.printer.printer_id
    at = signed_in.services.clock.now()
    print_ = or_404(await signed_in.services.print_history.one(account_id, printer_id, print_id))
    watch = or_404(
        await signed_in.services.watched_prints.of_print(account_id, printer_id, print_id)
    )
    view = view_of(seen, at)
    row = row_of(print_, at, frozenset({printer_id}), known_state_of(seen, at), default_pose(seen))
    person_id, given = signed_in.account_id, signed_in.services.given_orders
    orders = await given.recent(
        person_id, admitted, since=print_.started_at, until=print_.ended_at or print_.heard_at
    )
    chart = quality_chart(
        watch.looks,
        begins_at=print_.started_at if print_.start_is_known else None,
        ends_at=print_.ended_at,
    )
    key = PrintKey(account_id=account_id, printer_id=printer_id, print_id=print_id)
    timelapse = await signed_in.services.timelapses.of_print(key)
    context = {
        "view": view,
        "here": "history",
        "print_id": print_id,
        "timelapse": None
        if timelapse is None
        else timelapse_view(timelapse, print_, signed_in.services.addresses),
        "timelapse_question": urlencode({"id": print_id}),
        "row": row,
        "prints": [row],
        "orders": order_rows(orders, person_id),
        "again": print_.file_name,
        "acts": watch.acts,
        "watch": watch_view(watch, view.card.href, seen.reading.status, chart, at),
    }
    return Template("history/print.html", context=context)


@get("/activity", media_type=MediaType.HTML)
async def activity_page(
    signed_in: NamedDependency[SignedIn],
    before: FromQuery[str | None] = None,
    events_before: FromQuery[str | None] = None,
) -> Template:
    """Show the latest events, all prints, and figures by month.

    before, events_before: a page of older prints, or of older events, stands alone.
    """
    account_id, place = signed_in.account_id, parse_cursor(before)
    event_place = parse_event_cursor(events_before)
    at, history = signed_in.services.clock.now(), signed_in.services.print_history
    own = signed_in.services.own_printers
    printers = own.seen(await own.rows(account_id))
    states = {seen.printer.printer_id: known_state_of(seen, at) for seen in printers}
    poses = {seen.printer.printer_id: default_pose(seen) for seen in printers}
    page = await history.page(account_id, None, place)
    tallies = await history.months(account_id, None)
    events = await history.happened(account_id, event_place)
    context = {
        "has_printers": bool(printers),
        "news": [activity_item_of(event) for event in events.entries],
        "older_news": f"/activity?events_before={events.older}" if events.older else "",
        "only_news": event_place is not None,
        "rows": [
            row_of(
                print_,
                at,
                states.keys(),
                states.get(print_.printer_id),
                poses.get(print_.printer_id, UNTURNED),
            )
            for print_ in page.prints
        ],
        "months": months_of(tallies),
        "total": total_of(tallies),
        "older": _older("/activity", format_cursor(page.older)),
        "is_first": place is None,
    }
    return Template("history/activity.html", context=context)


@get("/printers/{printer_id:str}/history/prints.csv")
async def history_csv(
    printer_access: NamedDependency[Access], services: NamedDependency[Services]
) -> Stream:
    """Export the prints of one printer for spreadsheets."""
    return _csv(services, printer_access)


@get("/printers/{printer_id:str}/history/prints.json")
async def history_json(
    printer_access: NamedDependency[Access], services: NamedDependency[Services]
) -> Stream:
    """Export the same for programs."""
    return _json(services, printer_access)


@get("/activity/prints.csv")
async def activity_csv(signed_in: NamedDependency[SignedIn]) -> Stream:
    """Export all prints of an account for spreadsheets."""
    return _csv(signed_in.services, signed_in.access)


@get("/activity/prints.json")
async def activity_json(signed_in: NamedDependency[SignedIn]) -> Stream:
    """Export the same for programs."""
    return _json(signed_in.services, signed_in.access)


def _csv(services: Services, access: Access) -> Stream:
    async def lines() -> AsyncGenerator[str, None]:
        yield csv_head()
        async for print_ in _prints(services, access):
            yield csv_line(print_)

    return _file(services.leases.pieces(access, lines()), "prints.csv", "text/csv; charset=utf-8")


def _json(services: Services, access: Access) -> Stream:
    pieces = _json_pieces(_prints(services, access))
    return _file(services.leases.pieces(access, pieces), "prints.json", MediaType.JSON)


def _prints(services: Services, access: Access) -> AsyncIterator[Print]:
    printer = access.printer
    if printer is None:
        return services.print_history.everything(access.account_id, None)
    return services.print_history.everything(printer.account_id, printer.printer_id)


async def _json_pieces(prints: AsyncIterator[Print]) -> AsyncGenerator[str, None]:
    separator = "["
    async for print_ in prints:
        yield f"{separator}\n{json_line(print_)}"
        separator = ","
    yield "[]\n" if separator == "[" else "\n]\n"


def _file(pieces: AsyncIterator[str], name: str, media_type: str) -> Stream:
    """Stream a file piece by piece; it breaks off if the access ends."""
    headers = {**SANDBOX, "Content-Disposition": f'attachment; filename="{name}"'}
    return Stream(pieces, media_type=media_type, headers=headers, background=closing(pieces))


def _older(path: str, cursor: str) -> str:
    return f"{path}?before={cursor}" if cursor else ""


@route("/snapshots/{name:str}", http_method=READ)
async def snapshot(
    request: AnyRequest,
    name: FromPath[str],
    services: NamedDependency[Services],
    turned: FromQuery[str | None] = None,
) -> Response[bytes]:
    """Return a picture while it is stored. turned: with how it has to be shown, for people."""
    address = visitor_of(request).address
    raise_if_too_soon(services.caller_tries.take_by_address(BY_ADDRESS, address))
    snapshot_id = name.removesuffix(_SUFFIX)
    picture = await services.snapshots.public(snapshot_id)
    if picture is None or not name.endswith(_SUFFIX):
        raise NotFoundException(N_("There is no such picture, or it is no longer kept"))
    if turned is not None:
        picture = with_orientation(picture, await _pose_of(services, snapshot_id))
    return Response(picture, media_type="image/jpeg", headers=PUBLIC_HEADERS)


async def _pose_of(services: Services, snapshot_id: str) -> Pose:
    """Return how the owner has the printer's default camera shown now; unturned if unknown."""
    printer = await services.snapshots.printer_of(snapshot_id)
    if printer is None:
        return UNTURNED
    own, key = services.own_printers, (printer.account_id, printer.printer_id)
    seen = await own.one(*key, ask=False)
    if isinstance(seen, SeenPrinter) and seen.reading.status is None:
        seen = await own.one(*key)
    return default_pose(seen) if isinstance(seen, SeenPrinter) else UNTURNED


PRINT_PAGES = [
    *(history_page, print_page, activity_page, history_csv, history_json, activity_csv),
    *(activity_json, snapshot),
]
