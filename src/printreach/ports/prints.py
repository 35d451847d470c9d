"""The stored print history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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


class PrintRecords(Protocol):
    """Prints, each once for its account and printer."""

    async def get(self, account_id: str, printer_id: str, print_id: str) -> Print | None: ...
    async def put(self, print_: Print) -> None:
        """Store a print, in place of the same one."""
        ...

    async def give_up_earlier(self, account_id: str, printer_id: str, before: datetime) -> None:
        """Give up prints under way that began before then: their end was never reported."""
        ...

    async def has_later(self, account_id: str, printer_id: str, after: datetime) -> bool:
        """Return whether the printer began another print after that."""
        ...

    async def cut(self, account_id: str, printer_id: str, most: int) -> None:
        """Delete the oldest prints of a printer and account beyond that many."""
        ...

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete prints that began before then, at_most at once; return how many."""
        ...

    async def page(
        self, account_id: str, printer_id: str | None, before: HistoryCursor | None, at_most: int
    ) -> Sequence[PlacedPrint]:
        """Return prints, newest first, of one printer or of all."""
        ...

    async def tallies(
        self, account_id: str, printer_id: str | None, since: datetime
    ) -> Sequence[Tally]:
        """Return the tallies of prints that began since then, by month, newest first."""
        ...
