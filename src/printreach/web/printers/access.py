"""The routes of a printer that its members may use, and the dependencies that admit people.

A route that is not listed here is the owner's alone, so that a new one is closed to members until
somebody decides otherwise.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from printreach.hub.leases import Access
from printreach.hub.printers.access import AdmittedPrinter
from printreach.hub.printers.own import SeenPrinter
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.members import Role
from printreach.web.printers.view import PrinterView, view_of
from printreach.web.problems import AnyRequest, or_404
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

_WATCH: Final = (
    "GET ",
    "GET /events",
    *("GET /webcam/still", "GET /webcam/last", "GET /webcam/stream"),
    *("GET /history", "GET /history/print", "GET /history/prints.csv", "GET /history/prints.json"),
    *("GET /detector/picture", "GET /detector/judged"),
    *("GET /leave", "POST /leave"),
)
_CONTROL: Final = (
    "GET /control",
    *("POST /pause", "POST /resume", "GET /stop", "POST /stop"),
    *("GET /heat", "POST /heat", "GET /move", "POST /move", "GET /home", "POST /home"),
    *("GET /extrude", "POST /extrude", "POST /light"),
    *("GET /preset", "POST /preset", "GET /cool", "POST /cool", "GET /adjust", "POST /adjust"),
    *("GET /emergency-stop", "POST /emergency-stop", "POST /restart-firmware"),
    *("GET /files", "POST /files", "GET /files/replace", "GET /files/file", "GET /files/thumbnail"),
    *("GET /files/download", "GET /files/start", "POST /files/start", "GET /files/again"),
)
_PRINTER: Final = "/printers/{printer_id}"
NEEDED: Final[Mapping[str, Role]] = MappingProxyType(
    dict.fromkeys(_WATCH, Role.WATCH) | dict.fromkeys(_CONTROL, Role.CONTROL)
)
"""The role that a route needs, by its method and its path below the printer's."""


def needed_role(request: AnyRequest) -> Role:
    """Return the role that somebody needs for the route of a request."""
    template = request.scope["path_template"]
    if not template.startswith(_PRINTER):
        return Role.OWNER
    method = "GET" if request.method == "HEAD" else request.method
    return NEEDED.get(f"{method} {template.removeprefix(_PRINTER)}", Role.OWNER)


async def provide_admitted(
    request: AnyRequest, printer_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> AdmittedPrinter:
    """Return the printer in the path if the person may use this route of it.

    Raises PrinterNotFound, and NotAllowed where they may use others.
    """
    printers = signed_in.services.own_printers
    return or_404(await printers.admit(signed_in.account_id, printer_id, needed_role(request)))


async def provide_seen(
    admitted: NamedDependency[AdmittedPrinter], services: NamedDependency[Services]
) -> SeenPrinter:
    """Return the printer in the path with its state."""
    return or_404(await services.own_printers.see(admitted))


def provide_owned(admitted: NamedDependency[AdmittedPrinter]) -> OwnedPrinter:
    """Return the printer in the path, with its owner, without asking it for its state."""
    return admitted.printer.owned


def provide_printer_access(
    request: AnyRequest,
    admitted: NamedDependency[AdmittedPrinter],
    signed_in: NamedDependency[SignedIn],
) -> Access:
    """Return what allows a lasting answer of this route."""
    return signed_in.access.to(admitted.printer.owned, needed_role(request))


def provide_view(
    seen: NamedDependency[SeenPrinter], services: NamedDependency[Services]
) -> PrinterView:
    """Return the data of the printer's own pages."""
    return view_of(seen, services.clock.now())


PRINTER_IN_PATH: Final[Mapping[str, Provide]] = MappingProxyType(
    {
        "admitted": Provide(provide_admitted),
        "seen": Provide(provide_seen),
        "owned": Provide(provide_owned, sync_to_thread=False),
        "printer_access": Provide(provide_printer_access, sync_to_thread=False),
        "view": Provide(provide_view, sync_to_thread=False),
    }
)
"""The dependencies of routes with a printer in their path."""
