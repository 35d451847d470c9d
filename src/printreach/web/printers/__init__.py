"""Pages about a person's printers; here that of all: order, filter, search, layout and stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from litestar import MediaType, get
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import ServerSentEvent, Template

from printreach.contract.status import UNDER_WAY
from printreach.hub.printers.own import SeenPrinter
from printreach.rules.watch.choices import Look
from printreach.web.disconnects import ends_slow_readers
from printreach.web.printer_state import Show, counts_of
from printreach.web.printers.cards import Card, card_of
from printreach.web.printers.files import FILE_PAGES
from printreach.web.printers.machine_orders import MACHINE_ORDERS
from printreach.web.printers.members import MEMBER_PAGES
from printreach.web.printers.open_pages import Page, Parts, open_pages_of, templates_of
from printreach.web.printers.orders import ORDERS
from printreach.web.printers.presets import PRESET_PAGES
from printreach.web.printers.remote_lock import LOCK_PAGES
from printreach.web.printers.settings import SETTINGS_PAGES
from printreach.web.printers.webcams import WEBCAMS
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

MAX_WIDE: Final = 4
MAX_UPRIGHT: Final = 24
PAGE_SIZE: Final = 100
MAX_LOOKS: Final = 90
"""Bars that fit into a card; the newest looks are shown."""
LONGEST_SEARCH: Final = 100
FARM_EVERY_S: Final = 5.0
"""A hundred cards are not redrawn every second, to spare the printers and the service."""
LOOKED_UP_EVERY: Final = timedelta(seconds=5)
"""The watch itself looks no more often."""
_CARD: Final = "dashboard/card.html"
_FILTERS: Final = "dashboard/parts/filters.html"
_URGENCY: Final = {"is-broken": 0, "needs-you": 1, "": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class ListQuery:
    """The query of the list's address. page: from 1."""

    show: Show = Show.ALL
    search: str = ""
    page: int = 1

    @property
    def query(self) -> str:
        """Format it with its question mark; defaults are left out."""
        pairs = {"show": self.show.value} if self.show is not Show.ALL else {}
        pairs |= {"q": self.search} if self.search else {}
        pairs |= {"page": str(self.page)} if self.page > 1 else {}
        return f"?{urlencode(pairs)}" if pairs else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrinterList:
    """One page of the list. layout: a class of the style sheet. counts: by the values of Show.

    has_own: whether one of the account's own printers is in the list, on any page.
    """

    cards: Sequence[Card]
    counts: dict[str, int]
    layout: str
    found: int
    page: int
    pages: int
    has_own: bool


@dataclass(slots=True)
class NewestLooks:
    """The looks of failure detection that the cards of an open list show, by printer.

    The store is read again after LOOKED_UP_EVERY, and when something happened. The farm has none.
    """

    services: Services
    by_printer: Mapping[str, Sequence[Look]] = field(default_factory=dict)
    _at: datetime | None = None

    async def look(self, printers: Sequence[SeenPrinter], is_outdated: bool = False) -> None:
        """Bring `by_printer` up to date."""
        at = self.services.clock.now()
        if not is_outdated and self._at is not None and abs(at - self._at) < LOOKED_UP_EVERY:
            return
        self._at = at
        has_bars = len(printers) <= MAX_UPRIGHT
        prints = {seen.printer.printer_id: _print_id(seen) for seen in printers if has_bars}
        watched = {printer_id: print_id for printer_id, print_id in prints.items() if print_id}
        self.by_printer = await self.services.watched_prints.newest_looks(watched, MAX_LOOKS)


def parse_list_query(show: str | None, search: str | None, page: int | None) -> ListQuery:
    """Parse it; invalid values count as missing."""
    return ListQuery(
        show=Show(show) if show in list(Show) else Show.ALL,
        search=(search or "").strip()[:LONGEST_SEARCH],
        page=max(1, min(page or 1, 10_000)),
    )


def listing(
    printers: Sequence[SeenPrinter],
    list_query: ListQuery,
    at: datetime,
    looks: Mapping[str, Sequence[Look]] = MappingProxyType({}),
) -> PrinterList:
    """Return the cards of a page: those that need somebody first, then those at work, then by
    name. looks: of failure detection, by printer.
    """
    cards = sorted(
        (card_of(seen, at, looks.get(seen.printer.printer_id, ())) for seen in printers), key=_place
    )
    chosen = [
        card
        for card in cards
        if card.shown.is_shown(list_query.show) and _is_found(card, list_query)
    ]
    pages = max(1, ceil(len(chosen) / PAGE_SIZE))
    page = min(list_query.page, pages)
    return PrinterList(
        cards=chosen[(page - 1) * PAGE_SIZE : page * PAGE_SIZE],
        counts=counts_of(card.shown for card in cards),
        layout=_layout(len(cards)),
        found=len(chosen),
        page=page,
        pages=pages,
        has_own=any(not card.shared_by for card in cards),
    )


def _print_id(seen: SeenPrinter) -> str:
    """Return the print under way at which failure detection looked; "" if there is none."""
    status = seen.reading.status
    if status is None or status.job_status.state not in UNDER_WAY:
        return ""
    service = status.service_status
    return service.most_recent_print_id_str if service.detector.score_history else ""


def _place(card: Card) -> tuple[int, int, str, str]:
    at_work = 0 if card.shown.is_at_work else 1 if card.shown.is_here else 2
    return _URGENCY[card.attention], at_work, card.name.casefold(), card.id


def _is_found(card: Card, list_query: ListQuery) -> bool:
    words = list_query.search.casefold().split()
    return all(word in f"{card.name} {card.file}".casefold() for word in words)


def _layout(count: int) -> str:
    if count <= MAX_WIDE:
        return "wide-cards"
    return "upright" if count <= MAX_UPRIGHT else "farm"


@get("/printers", media_type=MediaType.HTML)
async def printers_page(
    signed_in: NamedDependency[SignedIn],
    show: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
) -> Template:
    """List the account's printers, those that need somebody first."""
    list_query = parse_list_query(show, q, page)
    printers = await signed_in.services.own_printers.all(signed_in.account_id)
    at = signed_in.services.clock.now()
    looks = NewestLooks(signed_in.services)
    await looks.look(printers)
    listed = listing(printers, list_query, at, looks.by_printer)
    context = {
        "listing": listed,
        "list_query": list_query,
        "newer": _page_link(list_query, listed.page - 1, listed.pages),
        "older": _page_link(list_query, listed.page + 1, listed.pages),
        "read_at": at,
    }
    return Template("dashboard/printers.html", context=context)


@get("/printers/events", middleware=[ends_slow_readers])
async def printers_events(
    request: AnyRequest,
    signed_in: NamedDependency[SignedIn],
    show: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    page: FromQuery[int | None] = None,
    locked: FromQuery[bool] = False,
) -> ServerSentEvent:
    """Send that page every card that changes."""
    list_query = parse_list_query(show, q, page)
    templates = templates_of(request)
    template, filters = templates.get_template(_CARD), templates.get_template(_FILTERS)

    drawn: dict[str, tuple[Card, str]] = {}
    looks = NewestLooks(signed_in.services)

    def draw(printers: list[SeenPrinter]) -> Parts:
        at = signed_in.services.clock.now()
        listed = listing(printers, list_query, at, looks.by_printer)
        for card in listed.cards:
            if card.id not in drawn or drawn[card.id][0] != card:
                drawn[card.id] = card, template.render(p=card, layout=listed.layout)
        cards = {f"printer-{card.id}": drawn[card.id][1] for card in listed.cards}
        return {**cards, "part-filters": filters.render(listing=listed, list_query=list_query)}

    printers = await signed_in.services.own_printers.all(signed_in.account_id, max_age=None)
    listed = listing(printers, list_query, signed_in.services.clock.now())
    shown = {card.id for card in listed.cards}
    watched = frozenset(seen.printer.owned for seen in printers if seen.printer.printer_id in shown)
    pages, name = open_pages_of(request), f"list{list_query.query}"
    needs_you = templates.get_template("parts/needs_you.html")
    access = signed_in.access
    opened = Page(
        pages,
        signed_in.services,
        access,
        name,
        watched,
        draw,
        needs_you,
        look=looks.look,
        shows_lock=locked,
    )
    if listed.layout == "farm":
        opened.every_s = FARM_EVERY_S
    return opened.stream()


def _page_link(list_query: ListQuery, page: int, pages: int) -> str:
    """Return the link of a page of the list; empty if there is none."""
    if not 1 <= page <= pages:
        return ""
    return f"/printers{ListQuery(show=list_query.show, search=list_query.search, page=page).query}"


LIST_PAGES = [printers_page, printers_events]


PRINTER_PAGES: Final = [
    *(*LIST_PAGES, *LOCK_PAGES, *ORDERS, *MACHINE_ORDERS),
    *(*WEBCAMS, *FILE_PAGES, *SETTINGS_PAGES, *MEMBER_PAGES, *PRESET_PAGES),
]
