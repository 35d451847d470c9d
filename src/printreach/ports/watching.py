"""The stored state of the failure watch over prints."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from printreach.rules.printers import OwnedPrinter
from printreach.rules.watch_memory import WatchMemory
from printreach.rules.watching import Judgement, LastLook, Look, WatchSettings


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


class WatchSettingsRecords(Protocol):
    """The owner's settings.

    Deleted with the printer's link, so the next owner begins with defaults.
    """

    async def get(self, printer_id: str) -> WatchSettings:
        """Return the settings; the defaults if none were stored."""
        ...

    async def put(self, printer_id: str, account_id: str, settings: WatchSettings) -> None:
        """Store the settings; the current print becomes due.

        Does nothing for another account's printer.
        """
        ...


class WatchRecords(Protocol):
    """The prints under watch, and their looks. A worker claims due prints with a lease.

    All of it is deleted with the printer's link, and nothing of it is another account's. Nothing of
    a blocked account is claimed, held or found until it is unblocked.
    """

    async def begin(self, printer_id: str, account_id: str, print_id: str, at: datetime) -> None:
        """Watch a print, due at once; watches of the printer's other prints end.

        One that is watched stays as it is; one that had ended goes on. Does nothing if the printer
        is not that account's.
        """
        ...

    async def end(self, printer_id: str, print_id: str, at: datetime) -> None:
        """End the watch. Its looks stay until they are deleted by age."""
        ...

    async def resume(self, printer_id: str, print_id: str, at: datetime) -> None:
        """The print goes on after a pause, and is due at once."""
        ...

    async def has_due(self, at: datetime, *, degraded: bool) -> bool:
        """Return whether there is something to claim."""
        ...

    async def claim(
        self,
        token: str,
        at: datetime,
        until: datetime,
        at_most: int,
        *,
        degraded: bool,
        of_account: int,
        exclude: Collection[str] = (),
    ) -> list[WatchedPrint]:
        """Claim prints that are due and unclaimed: accounts take turns, the longest due come first.

        until: when the claim lapses. degraded: claim those whose last look was slow or failed;
        otherwise only the others. of_account: at most this many claims of one account, by all
        workers together. exclude: printers to leave out.
        """
        ...

    async def under_watch(self, printer_id: str) -> WatchedPrint | None:
        """Return the printer's print under watch, whoever has claimed it."""
        ...

    async def held(self, watched: WatchedPrint) -> WatchedPrint | None:
        """Return its present state; None if it has ended, or the claim was lost."""
        ...

    async def keep(self, watched: WatchedPrint, memory: WatchMemory) -> None:
        """Store the memory and keep the claim."""
        ...

    async def release(
        self,
        watched: WatchedPrint,
        memory: WatchMemory,
        due_at: datetime,
        *,
        degraded: bool = False,
    ) -> None:
        """Store the memory and release the claim; it is due then.

        Does nothing without the claim.
        """
        ...

    async def add_look(self, watched: WatchedPrint, last: LastLook) -> Sequence[str]:
        """Store a look; return the pictures that need not be kept any longer.

        Of earlier looks only those that warned or paused keep picture and evidence.
        """
        ...

    async def mark(self, watched: WatchedPrint, at: datetime, *, paused: bool) -> None:
        """Mark the look at that time: it paused the print, or else warned of it."""
        ...

    async def unwatched(self, alive_since: datetime) -> Sequence[UnwatchedPrinter]:
        """Return printers connected to nodes that were alive since then."""
        ...

    async def looks(self, printer_id: str, print_id: str) -> Sequence[Look]:
        """Return the looks at one print, oldest first; of those with nothing new one a minute.

        Of thousands the most telling ones: first and last, alarms, and the worst of the others.
        """
        ...

    async def last(self, printer_id: str, print_id: str) -> LastLook | None:
        """Return the latest look that is kept."""
        ...

    async def alarms(self, printer_id: str, print_id: str) -> Sequence[LastLook]:
        """Return the looks that warned or paused, oldest first."""
        ...

    async def judge(self, judgement: Judgement) -> None:
        """Store a judgement in place of an earlier one of that print; its picture is kept with it.

        Beyond a bound the oldest are deleted. Does nothing if that print was never watched.
        """
        ...

    async def judged(self, printer_id: str) -> Sequence[Judgement]:
        """Return all judgements of a printer's prints, whatever the camera, newest first."""
        ...

    async def let_pictures_go(self, printer_id: str, print_id: str | None) -> Sequence[str]:
        """Drop the pictures of judgements of that print, or of all; return their ids."""
        ...

    async def forget(self, before: datetime, judged_before: datetime, at_most: int) -> int:
        """Delete old looks, ended watches and judgements; at_most looks. Returns how many looks."""
        ...
