"""The stored print history."""

from dataclasses import dataclass
from datetime import datetime

from printreach.rules.print_history import Print, PrintResult


@dataclass(frozen=True, slots=True)
class HistoryCursor:
    """Where a page of prints ends: the next one has those that began before."""

    started_at: datetime
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedPrint:
    """A print with its place. number: distinguishes those that began in the same second."""

    print_: Print
    number: int

    @property
    def place(self) -> HistoryCursor:
        return HistoryCursor(self.print_.started_at, self.number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Prints of one month that ended the same way.

    duration_s, filament: sums of those that are known.
    """

    year: int
    month: int
    result: PrintResult
    count: int
    duration_s: int
    filament_mm: int
    filament_mg: int
