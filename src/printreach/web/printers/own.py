"""The printer in the path of a request, and the flash messages of the pages about printers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from printreach.hub.printers.own import SeenPrinter
from printreach.rules.printers import OwnedPrinter
from printreach.web.problems import or_404
from printreach.web.signed_in import SignedIn


async def provide_seen(
    printer_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> SeenPrinter:
    """Return the printer in the path with its state. Raises NotFoundException for another's."""
    return or_404(await signed_in.services.dashboard.printers.one(signed_in.account_id, printer_id))


async def provide_owned(
    printer_id: FromPath[str], signed_in: NamedDependency[SignedIn]
) -> OwnedPrinter:
    """Return the printer in the path without asking it for its state.

    Raises NotFoundException for another account's printer.
    """
    account_id = signed_in.account_id
    return or_404(
        await signed_in.services.dashboard.printers.one(account_id, printer_id, ask=False)
    ).printer.owned


OWN_PRINTER: Final[Mapping[str, Provide]] = MappingProxyType(
    {"seen": Provide(provide_seen), "owned": Provide(provide_owned)}
)
