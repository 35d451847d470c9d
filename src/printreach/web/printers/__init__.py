"""Pages about a person's printers: their state, files, controls and settings."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from printreach.hub.printers.own import SeenPrinter
from printreach.rules.printers import OwnedPrinter
from printreach.web.printers.files import FILE_PAGES
from printreach.web.printers.list_pages import LIST_PAGES
from printreach.web.printers.orders import ORDERS
from printreach.web.printers.remote_lock import LOCK_PAGES
from printreach.web.printers.settings import SETTINGS_PAGES
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.printers.webcams import WEBCAMS
from printreach.web.problems import or_404
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn


async def provide_seen(
    printer_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> SeenPrinter:
    """Return the printer in the path with its state. Raises NotFoundException for another's."""
    printers = signed_in.services.own_printers
    return or_404(await printers.one(signed_in.account_id, printer_id))


async def provide_owned(
    printer_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> OwnedPrinter:
    """Return the printer in the path without asking it for its state.

    Raises NotFoundException for another account's printer.
    """
    printers = signed_in.services.own_printers
    return or_404(await printers.one(signed_in.account_id, printer_id, ask=False)).printer.owned


def provide_view(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services]
) -> PrinterView:
    """Return the data of the printer's own pages."""
    return view_of(seen, services.clock.now())


OWN_PRINTER: Final[Mapping[str, Provide]] = MappingProxyType(
    {
        "seen": Provide(provide_seen),
        "owned": Provide(provide_owned),
        "view": Provide(provide_view, sync_to_thread=False),
    }
)
"""The dependencies of routes with a printer in their path."""


PRINTER_PAGES: Final = [
    *(*LIST_PAGES, *LOCK_PAGES, *ORDERS),
    *(*WEBCAMS, *FILE_PAGES, *SETTINGS_PAGES),
]
