"""A printer's own pages, Quick View and controls, and the stream that updates them."""

from litestar import MediaType, Router, get
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery
from litestar.response import ServerSentEvent, Template

from printreach.hub.dashboard import Dashboard
from printreach.hub.own_printers import SeenPrinter
from printreach.hub.temperatures import SPAN
from printreach.web.dashboard.control_view import control_template
from printreach.web.dashboard.dashboard import FLASH_MESSAGES, provide_seen
from printreach.web.dashboard.events import Page, templates_of
from printreach.web.dashboard.last_prints import LastPrints
from printreach.web.dashboard.open_pages import Parts, open_pages_of
from printreach.web.dashboard.printer_view import PrinterView, view_of
from printreach.web.dashboard.watched_view import WatchedView
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn
from printreach.web.slow_readers import ends_slow_readers

PARTS = (
    *("head", "open", "picture", "now", "print", "watch", "temperatures", "materials"),
    *("smart_pause", "last_prints"),
)
"""The parts of these pages that update: dashboard/parts/<name>.html, in an element with that id."""


@get("/printers/{printer_id:str}", media_type=MediaType.HTML)
async def quick_view(
    seen: NamedDependency[SeenPrinter],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
    camera: FromQuery[int] = 0,
    said: FromQuery[str | None] = None,
) -> Template:
    """Show its state, its webcam and its last prints."""
    view = _view(seen, dashboard, camera)
    watch = WatchedView(dashboard, signed_in.account.account_id)
    await watch.look(seen, view)
    prints = LastPrints(dashboard, signed_in.account.account_id)
    await prints.look(seen)
    context = {
        "view": view,
        "watch": watch.shown,
        "flash_message": FLASH_MESSAGES.get(said or "", ""),
        "here": "quick",
        "prints": prints.rows,
    }
    return Template("dashboard/printer.html", context=context)


@get("/printers/{printer_id:str}/control", media_type=MediaType.HTML)
async def control_page(
    seen: NamedDependency[SeenPrinter],
    dashboard: NamedDependency[Dashboard],
    said: FromQuery[str | None] = None,
) -> Template:
    """Show the controls that this printer has: heaters, axes, extruder, lights."""
    view = view_of(seen, dashboard.clock.now())
    return control_template(view, flash_message=FLASH_MESSAGES.get(said or "", ""))


@get("/printers/{printer_id:str}/events", middleware=[ends_slow_readers])
async def printer_events(
    request: AnyRequest,
    services: NamedDependency[Services],
    signed_in: NamedDependency[SignedIn],
    seen: NamedDependency[SeenPrinter],
    dashboard: NamedDependency[Dashboard],
    camera: FromQuery[int] = 0,
    locked: FromQuery[bool] = False,
) -> ServerSentEvent:
    """Send those pages what changes; a page ignores parts that it does not show."""
    printer_id = seen.printer.printer_id
    templates = {
        name: templates_of(request).get_template(f"dashboard/parts/{name}.html") for name in PARTS
    }

    watch = WatchedView(dashboard, signed_in.account.account_id)
    prints = LastPrints(dashboard, signed_in.account.account_id)

    async def look(printers: list[SeenPrinter]) -> None:
        for one in printers:
            if one.printer.printer_id == printer_id:
                await watch.look(one, _view(one, dashboard))
                await prints.look(one)

    def draw(printers: list[SeenPrinter]) -> Parts:
        mine = [one for one in printers if one.printer.printer_id == printer_id]
        if not mine:  # the printer was removed; the page reloads and says so
            return {}
        view = _view(mine[0], dashboard, camera)
        shown = {"view": view, "watch": watch.shown, "prints": prints.rows}
        return {f"part-{name}": part.render(**shown) for name, part in templates.items()}

    name, watched = f"{printer_id}?camera={camera}", frozenset({printer_id})
    pages, access = open_pages_of(request), signed_in.access.to(printer_id)
    return Page(pages, services, access, name, watched, draw, look=look, shows_lock=locked).stream()


def _view(seen: SeenPrinter, dashboard: Dashboard, camera: int = 0) -> PrinterView:
    at = dashboard.clock.now()
    warmth = dashboard.live.temperatures.readings_since(
        seen.printer.owned, max(at - SPAN, seen.printer.linked_at)
    )
    return view_of(seen, at, camera, warmth)


PRINTER_PAGES = Router(
    "/",
    route_handlers=[quick_view, control_page, printer_events],
    dependencies={"seen": Provide(provide_seen)},
)
