"""The printer in the path of a request, and the flash messages of the pages about printers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from printreach.hub.printers.own import SeenPrinter
from printreach.rules.printers import OwnedPrinter
from printreach.web.problems import or_404
from printreach.web.services import Services
from printreach.web.signed_in import SignedIn

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


async def provide_seen(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
) -> SeenPrinter:
    """Return the printer in the path with its state. Raises NotFoundException for another's."""
    return or_404(await services.dashboard.printers.one(signed_in.account_id, printer_id))


async def provide_owned(
    printer_id: FromPath[str],
    signed_in: NamedDependency[SignedIn],
    services: NamedDependency[Services],
) -> OwnedPrinter:
    """Return the printer in the path without asking it for its state.

    Raises NotFoundException for another account's printer.
    """
    account_id = signed_in.account_id
    return or_404(
        await services.dashboard.printers.one(account_id, printer_id, ask=False)
    ).printer.owned


OWN_PRINTER: Final[Mapping[str, Provide]] = MappingProxyType(
    {"seen": Provide(provide_seen), "owned": Provide(provide_owned)}
)
