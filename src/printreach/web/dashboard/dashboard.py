"""Dependencies of the dashboard's routes: the account's own printers, commands to them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar

from litestar import Response
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Template

from printreach.contract.codec import encode
from printreach.contract.errors import REMOTE_LOCKED
from printreach.contract.status import StatusResult
from printreach.hub.dashboard import Dashboard
from printreach.hub.denied import Denied, Reason
from printreach.hub.printers.own import SeenPrinter
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.printers.commands import Action, shows_effect
from printreach.web.flash import redirect_with_flash
from printreach.web.problems import PrinterNotFound
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

T = TypeVar("T")

FLASH_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pause": "Pausing. It may take a moment.",
        "resume": "Resuming. It may take a moment.",
        "stop": "Stopping the print. It may take a moment.",
        "heat": "The new temperature is set.",
        "move": "Moved.",
        "home": "Homing.",
        "extrude": "Done.",
        "light": "The light is switched.",
        "start": "Starting the print. It may take a moment.",
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
        "detector-not-running": "Saved for later: failure detection is off on this service.",
        "detector-off": "Failure detection is off for this print.",
        "detector-on": "Failure detection looks at this print again.",
        "judged": "Thank you. Your answer is kept.",
        "pictures": "Deleted.",
    }
)
"""Flash messages by their key in the query parameter `said`; no other text gets in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A command, and the page to redirect to after it. flash: a key of FLASH_MESSAGES.

    shows_effect: whether a status shows what the command does. despite_lock: allowed even while
    remote control is locked.
    """

    command: str
    back: str
    flash: str
    arguments: object = None
    query: Mapping[str, str] = field(default_factory=dict)
    shows_effect: Callable[[StatusResult], bool] = lambda _: True
    despite_lock: bool = False


async def provide_dashboard(services: NamedDependency[Services]) -> Dashboard:
    return services.dashboard


async def provide_seen(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> SeenPrinter:
    """Return the printer in the path with its state. Raises NotFoundException for another's."""
    return or_404(await dashboard.printers.one(signed_in.account.account_id, printer_id))


async def provide_printer_id(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    dashboard: NamedDependency[Dashboard],
) -> str:
    """Return the id of the printer in the path without asking the printer for its state.

    Raises NotFoundException for another account's printer.
    """
    account_id = signed_in.account.account_id
    seen = or_404(await dashboard.printers.one(account_id, printer_id, ask=False))
    return seen.printer.printer_id


def or_404(result: T | Denied) -> T:
    """Return the result of a use case. Raises NotFoundException if it was denied."""
    if isinstance(result, Denied):
        is_printer = result.reason is Reason.NO_SUCH_PRINTER
        raise (PrinterNotFound if is_printer else NotFoundException)(result.sentence)
    return result


async def give_order(
    dashboard: Dashboard,
    signed_in: SignedIn,
    printer_id: str,
    order: "Order",
) -> Response[Any]:
    """Send the command to the printer and redirect, or show why the printer refused."""
    arguments = b"" if order.arguments is None else encode(order.arguments)
    printer = OwnedPrinter(printer_id, signed_in.account.account_id)
    answer = await dashboard.http.order(
        printer, order.command, order.query, arguments, despite_lock=order.despite_lock
    )
    if isinstance(answer, PrinterRefusal):
        return refused(answer, order.back)
    await dashboard.printers.wait_for_effect(printer, order.shows_effect)
    return redirect_with_flash(order.back, order.flash)


def shows(action: Action) -> Callable[[StatusResult], bool]:
    """Return a test of whether a status shows what the action does."""
    return lambda status: shows_effect(action, status.job_status.state)


def refused(refusal: PrinterRefusal, back: str) -> Template:
    """Render the page that says why the printer refused."""
    is_locked = refusal.sentence == REMOTE_LOCKED.meaning
    context = {"refusal": refusal, "back": back, "is_locked": is_locked}
    return Template("dashboard/refused.html", context=context, status_code=409)
