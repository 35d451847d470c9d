"""What the dashboard's routes work with, and how they come to a person's own printer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar

from litestar import Response
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect, Template

from printreach.contract.codec import encode
from printreach.hub.dashboard import Dashboard
from printreach.hub.denied import Denied
from printreach.hub.own_printers import SeenPrinter
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

T = TypeVar("T")

SAID: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pause": "Pausing.",
        "resume": "Resuming.",
        "stop": "The print is stopped.",
        "heat": "The new temperature is set.",
        "move": "Moved.",
        "home": "Homing.",
        "extrude": "Done.",
        "light": "The light is switched.",
        "start": "The print has started.",
        "upload": "The file is on the printer.",
        "delete": "The file is deleted.",
        "name": "The name is saved.",
        "removed": "The printer is removed.",
        "unlocked": "Remote control is unlocked.",
        "permitted": "Saved. It counts from now on.",
        "ended": "The connection has ended.",
        "again": "It is sent again.",
        "live": "The Live Link is made.",
        "live-ended": "The Live Link has ended.",
        "detector": "Saved.",
        "detector-off": "Failure detection is off for this print.",
        "detector-on": "Failure detection looks at this print again.",
        "judged": "Thank you. Your answer is kept.",
        "pictures": "Deleted.",
    }
)
"""What a page says once after a form, by the word in its address; no other text gets in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A command, and where a person goes after it. said: a key of SAID.

    despite_lock: a lock of remote control doesn't keep the owner from it.
    """

    command: str
    back: str
    said: str
    arguments: object = None
    query: Mapping[str, str] = field(default_factory=dict)
    despite_lock: bool = False


async def provide_dashboard(services: NamedDependency[Services]) -> Dashboard:
    return services.dashboard


async def provide_seen(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> SeenPrinter:
    """The printer of the path, where it is the person's own; 404 for every other."""
    return found(await dashboard.printers.one(signed_in.account.account_id, printer_id))


async def provide_printer_id(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> str:
    """The same where what it does now is of no interest: nobody asks the printer."""
    account_id = signed_in.account.account_id
    seen = found(await dashboard.printers.one(account_id, printer_id, ask=False))
    return seen.printer.printer_id


def found(result: T | Denied) -> T:
    """What a use case gave, where it is the person's own. Raises NotFoundException."""
    if isinstance(result, Denied):
        raise NotFoundException(result.sentence)
    return result


async def give_order(
    dashboard: Dashboard,
    signed_in: SignedIn,
    printer_id: str,
    order: "Order",
) -> Response[Any]:
    """Have the printer do something, then show it as it is now; or say why it did not."""
    arguments = b"" if order.arguments is None else encode(order.arguments)
    printer = OwnedPrinter(printer_id, signed_in.account.account_id)
    answer = await dashboard.http.order(
        printer, order.command, order.query, arguments, despite_lock=order.despite_lock
    )
    if isinstance(answer, PrinterRefusal):
        return refused(answer, order.back)
    await dashboard.printers.after_order(printer)
    return Redirect(f"{order.back}?said={order.said}", status_code=303)


def refused(refusal: PrinterRefusal, back: str) -> Template:
    """Say that the printer did not do it."""
    context = {"refusal": refusal, "back": back}
    return Template("dashboard/refused.html", context=context, status_code=409)
