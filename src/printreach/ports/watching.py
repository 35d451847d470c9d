"""The stored state of the failure watch over prints."""

from dataclasses import dataclass
from datetime import datetime

from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch_memory import WatchMemory
from printreach.rules.watching import WatchSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedPrint:
    """A print under watch.

    token: of the worker's claim; empty if it is not claimed. settings: those in force. resumed_at:
    when it was last reported that the print went on after a pause.
    """

    printer_id: str
    account_id: str
    print_id: str
    token: str
    memory: WatchMemory
    settings: WatchSettings
    resumed_at: datetime | None = None

    @property
    def printer(self) -> OwnedPrinter:
        """Return the printer with the account for which it is watched."""
        return OwnedPrinter(self.printer_id, self.account_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnwatchedPrinter:
    """A connected printer of which no print is watched. connected_at: since when."""

    printer_id: str
    account_id: str
    connected_at: datetime

    @property
    def printer(self) -> OwnedPrinter:
        """Return the printer with its account."""
        return OwnedPrinter(self.printer_id, self.account_id)
