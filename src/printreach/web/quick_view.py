"""A printer's own pages, Quick View and controls, and the stream that updates them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Final

from litestar import MediaType, get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter
from litestar.response import ServerSentEvent, Template

from printreach.contract.status import State
from printreach.hub.denied import Denied
from printreach.hub.leases import Access
from printreach.hub.printers.own import SeenPrinter
from printreach.hub.printers.readings import SPAN
from printreach.hub.prints import PAGE_SIZE
from printreach.rules.printers.cameras import UNTURNED, Pose
from printreach.rules.prints.history import Print
from printreach.store.printers.given_orders import SignedOrder
from printreach.web.disconnects import ends_slow_readers
from printreach.web.printer_state import Alarm, PrinterState, known_state_of
from printreach.web.printers.cards import default_pose
from printreach.web.printers.open_pages import Page, Parts, open_pages_of, templates_of
from printreach.web.printers.presets import control_view, offered_presets
from printreach.web.printers.view import (
    NO_PRESETS,
    OfferedPresets,
    PrinterView,
    control_template,
    view_of,
)
from printreach.web.prints.rows import PrintRow, row_of
from printreach.web.problems import AnyRequest
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn
from printreach.web.watch.view import WatchedView

LAST_PRINTS: Final = 3
TEMPERATURES_TIMEOUT_S: Final = 1.5
"""For which a page waits for those of the time when nobody watched."""
LOOKED_UP_EVERY: Final = timedelta(seconds=3)
"""History is written a moment after a printer's state has changed."""


@dataclass(slots=True)
class LastPrints:
    """The last prints of a printer, for its open page. prints: the newest first.

    print_id: the page is about that print alone. The store is read again after LOOKED_UP_EVERY, and
    when the printer's state has changed.
    """

    services: Services
    account_id: str
    count: int = LAST_PRINTS
    print_id: str = ""
    prints: Sequence[Print] = ()
    _state: PrinterState | None = None
    _pose: Pose = UNTURNED
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter) -> None:
        """Bring `prints` up to date."""
        at, printer_id = self.services.clock.now(), seen.printer.printer_id
        before, self._state = self._state, known_state_of(seen, at)
        self._pose = default_pose(seen)
        is_recent = self._at is not None and abs(at - self._at) < LOOKED_UP_EVERY
        if is_recent and before == self._state:
            return
        self._at = at
        history = self.services.print_history
        if self.print_id:
            found = await history.one(self.account_id, printer_id, self.print_id)
            self.prints = () if isinstance(found, Denied) else (found,)
            return
        page = await history.page(self.account_id, printer_id, None, self.count)
        self.prints = page.prints

    @property
    def rows(self) -> list[PrintRow]:
        at = self.services.clock.now()
        return [
            row_of(print_, at, frozenset({print_.printer_id}), self._state, self._pose)
            for print_ in self.prints
        ]


@dataclass(slots=True)
class LastPause:
    """The order that paused the print of an open page, looked up again after LOOKED_UP_EVERY.

    person_id: who looks at the page.
    """

    services: Services
    person_id: str
    _order: SignedOrder | None = None
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter) -> None:
        """Bring it up to date. What failure detection paused has no order."""
        at = self.services.clock.now()
        state = known_state_of(seen, at)
        if state is None or state.badge != State.PAUSED or state.alarm is Alarm.STANDS:
            self._order, self._at = None, None
        elif self._at is None or abs(at - self._at) >= LOOKED_UP_EVERY:
            self._at = at
            self._order = await self.services.given_orders.pause_in_force(seen.printer.owned)

    def told(self, seen: SeenPrinter) -> SeenPrinter:
        """Return the printer with that order, if somebody else gave it."""
        is_own = self._order is None or self._order.order.person_id == self.person_id
        return seen if is_own else replace(seen, pause=self._order)


@dataclass(slots=True)
class LastPresets:
    """The presets that open controls offer, looked up again after LOOKED_UP_EVERY."""

    services: Services
    offered: OfferedPresets = NO_PRESETS
    _at: datetime | None = None

    async def look(self, seen: SeenPrinter) -> None:
        """Bring `offered` up to date."""
        at = self.services.clock.now()
        if self._at is None or abs(at - self._at) >= LOOKED_UP_EVERY:
            self._at, self.offered = at, await offered_presets(seen, self.services)


_HEAD: Final = ("head", "open", "recovery")
_QUICK: Final = (
    *("title", *_HEAD, "emergency"),
    *("picture", "now", "print", "temperatures", "materials"),
    *("smart_pause", "last_prints"),
)
PARTS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "quick": _QUICK,
        "control": (*_HEAD, "emergency", "picture", "controls"),
        "history": (*_HEAD, "prints"),
        "print": (*_HEAD, "outcome"),
        "settings": _HEAD,
    }
)
"""The parts of each page that update: dashboard/parts/<name>.html, in an element with that id."""


@get("/printers/{printer_id:str}", media_type=MediaType.HTML)
async def quick_view(
    seen: NamedDependency[SeenPrinter],
    signed_in: NamedDependency[SignedIn],
    camera: FromQuery[str] = "",
) -> Template:
    """Show its state, its webcam and its last prints."""
    await _load_temperatures(seen, signed_in.services)
    pause = LastPause(signed_in.services, signed_in.account_id)
    await pause.look(seen)
    view = _view(pause.told(seen), signed_in.services, camera)
    owner_id = seen.printer.account_id
    watch = WatchedView(signed_in.services, owner_id)
    await watch.look(seen, view)
    prints = LastPrints(signed_in.services, owner_id)
    await prints.look(seen)
    context = {"view": view, "watch": watch.shown, "here": "quick", "prints": prints.rows}
    return Template("dashboard/printer.html", context=context)


@get("/printers/{printer_id:str}/control", media_type=MediaType.HTML)
async def control_page(
    seen: NamedDependency[SeenPrinter],
    services: NamedDependency[Services],
    camera: FromQuery[str] = "",
) -> Template:
    """Show the controls that this printer has: heaters, axes, extruder, lights."""
    return control_template(await control_view(seen, services, camera))


@get("/printers/{printer_id:str}/events", middleware=[ends_slow_readers])
async def printer_events(
    request: AnyRequest,
    signed_in: NamedDependency[SignedIn],
    seen: NamedDependency[SeenPrinter],
    printer_access: NamedDependency[Access],
    camera: FromQuery[str] = "",
    page: FromQuery[str] = "quick",
    print_id: Annotated[str, QueryParameter(name="id")] = "",
    locked: FromQuery[bool] = False,
) -> ServerSentEvent:
    """Send one of those pages what changes. page: a key of PARTS. print_id: of "print"."""
    printer_id, environment = seen.printer.printer_id, templates_of(request)
    camera = _view(seen, signed_in.services, camera).camera_chosen
    templates = {
        name: environment.get_template(f"dashboard/parts/{name}.html")
        for name in PARTS.get(page, _QUICK)
    }

    owner_id = seen.printer.account_id
    watch = WatchedView(signed_in.services, owner_id)
    count = PAGE_SIZE if page == "history" else LAST_PRINTS
    prints = LastPrints(signed_in.services, owner_id, count, print_id)
    pause = LastPause(signed_in.services, signed_in.account_id)
    presets = LastPresets(signed_in.services)

    async def look(printers: list[SeenPrinter], is_outdated: bool) -> None:
        if is_outdated:
            watch.forget()
        for printer in printers:
            if printer.printer.printer_id == printer_id:
                await _load_temperatures(printer, signed_in.services)
                await watch.look(printer, _view(printer, signed_in.services))
                await prints.look(printer)
                if page == "quick":
                    await pause.look(printer)
                if page == "control":
                    await presets.look(printer)

    def draw(printers: list[SeenPrinter]) -> Parts:
        mine = [printer for printer in printers if printer.printer.printer_id == printer_id]
        if not mine:  # the printer was removed; the page reloads and says so
            return {}
        view = _view(pause.told(mine[0]), signed_in.services, camera, presets.offered)
        shown = {
            "view": view,
            "watch": watch.shown,
            "prints": prints.rows,
            "is_locked": locked,
            "here": page,
        }
        return {f"part-{name}": part.render(**shown) for name, part in templates.items()}

    name, watched = (
        f"{printer_id}?page={page}&id={print_id}&camera={camera}",
        frozenset({seen.printer.owned}),
    )
    needs_you = environment.get_template("parts/needs_you.html")
    return Page(
        open_pages_of(request),
        signed_in.services,
        printer_access,
        name,
        watched,
        draw,
        needs_you,
        look=look,
        shows_lock=locked,
    ).stream()


async def _load_temperatures(seen: SeenPrinter, services: Services) -> None:
    await services.live_status.load_temperatures(seen.printer.owned, TEMPERATURES_TIMEOUT_S)


def _view(
    seen: SeenPrinter,
    services: Services,
    camera: str = "",
    presets: OfferedPresets = NO_PRESETS,
) -> PrinterView:
    at = services.clock.now()
    temperatures = services.live_status.temperatures.readings_since(
        seen.printer.owned, max(at - SPAN, seen.printer.linked_at)
    )
    return view_of(seen, at, camera, temperatures, presets)


QUICK_VIEW = [quick_view, control_page, printer_events]
