"""The page of all printers, and its event stream."""

from typing import Final

from litestar import MediaType, Router, get
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import ServerSentEvent, Template

from printreach.hub.dashboard import Dashboard
from printreach.hub.printers.own import SeenPrinter
from printreach.web.dashboard.cards import Card
from printreach.web.dashboard.dashboard import FLASH_MESSAGES
from printreach.web.dashboard.events import Page, templates_of
from printreach.web.dashboard.listing import ListQuery, listing, parse_list_query
from printreach.web.dashboard.open_pages import Parts, open_pages_of
from printreach.web.disconnects import ends_slow_readers
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

FARM_EVERY_S: Final = 5.0
"""A hundred cards are not redrawn every second, to spare the printers and the service."""
_CARD: Final = "dashboard/card.html"


@get("/printers", media_type=MediaType.HTML)
async def printers_page(
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
    show: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
    said: FromQuery[str | None] = None,
) -> Template:
    """List the account's printers, those that need somebody first."""
    list_query = parse_list_query(show, q, page)
    printers = await dashboard.printers.all(signed_in.account.account_id)
    at = dashboard.clock.now()
    listed = listing(printers, list_query, at)
    context = {
        "listing": listed,
        "list_query": list_query,
        "newer": _page_link(list_query, listed.page - 1, listed.pages),
        "older": _page_link(list_query, listed.page + 1, listed.pages),
        "read_at": at,
        "flash_message": FLASH_MESSAGES.get(said or "", ""),
    }
    return Template("dashboard/printers.html", context=context)


@get("/printers/events", middleware=[ends_slow_readers])
async def printers_events(
    request: AnyRequest,
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
    show: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
    locked: FromQuery[bool] = False,
) -> ServerSentEvent:
    """Send that page every card that changes."""
    list_query = parse_list_query(show, q, page)
    card = templates_of(request).get_template(_CARD)

    drawn: dict[str, tuple[Card, str]] = {}

    def draw(printers: list[SeenPrinter]) -> Parts:
        listed = listing(printers, list_query, dashboard.clock.now())
        for one in listed.cards:
            if one.id not in drawn or drawn[one.id][0] != one:
                drawn[one.id] = one, card.render(p=one, layout=listed.layout)
        return {f"printer-{one.id}": drawn[one.id][1] for one in listed.cards}

    printers = await dashboard.printers.all(signed_in.account.account_id, ask=False)
    listed = listing(printers, list_query, dashboard.clock.now())
    watched = frozenset(one.id for one in listed.cards)
    pages, name = open_pages_of(request), f"list{list_query.query}"
    opened = Page(pages, services, signed_in.access, name, watched, draw, shows_lock=locked)
    if listed.layout == "farm":
        opened.every_s = FARM_EVERY_S
    return opened.stream()


def _page_link(list_query: ListQuery, page: int, pages: int) -> str:
    """Return the link of a page of the list; empty if there is none."""
    if not 1 <= page <= pages:
        return ""
    return f"/printers{ListQuery(show=list_query.show, search=list_query.search, page=page).query}"


LIST_PAGES = Router("/", route_handlers=[printers_page, printers_events])
