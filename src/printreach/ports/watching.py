"""What is kept of the watch over prints."""

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

    token: of the worker's claim on it; empty where nobody has one. settings: as they are in force.
    resumed_at: when it was last heard that the print went on after a pause.
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
        """The printer as that of the account for which it is watched."""
        return OwnedPrinter(self.printer_id, self.account_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnwatchedPrinter:
    """A printer whose agent is here, and none of whose prints is watched. connected_at: since."""

    printer_id: str
    account_id: str
    connected_at: datetime

    @property
    def printer(self) -> OwnedPrinter:
        """The printer as that of its account."""
        return OwnedPrinter(self.printer_id, self.account_id)


class WatchSettingsRecords(Protocol):
    """What owners chose. Gone with the printer's link: the next owner chooses anew."""

    async def get(self, printer_id: str) -> WatchSettings:
        """The defaults where nobody chose."""
        ...

    async def put(self, printer_id: str, account_id: str, settings: WatchSettings) -> None:
        """Nothing happens where the printer isn't that account's. Its print is looked at soon."""
        ...


class WatchRecords(Protocol):
    """The prints under watch, and what was seen of them. A worker claims what is due by a lease.

    All of it is gone with the printer's link, and nothing of it is another account's. Of an account
    that is blocked nothing is claimed, held or found, until it is let in again.
    """

    async def begin(self, printer_id: str, account_id: str, print_id: str, at: datetime) -> None:
        """Watch a print, due at once; the printer's others end.

        One that is watched stays as it is; one that had ended goes on. Nothing happens where the
        printer isn't that account's.
        """
        ...

    async def end(self, printer_id: str, print_id: str, at: datetime) -> None:
        """It is over. What was seen stays, until it is forgotten."""
        ...

    async def resume(self, printer_id: str, print_id: str, at: datetime) -> None:
        """It goes on after a pause, and is due at once."""
        ...

    async def has_due(self, at: datetime, *, degraded: bool) -> bool:
        """Whether there is something to claim."""
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
        """The printer's print that is watched, whoever has claimed it."""
        ...

    async def held(self, watched: WatchedPrint) -> WatchedPrint | None:
        """The same as it is now; None where it has ended, or the claim was lost."""
        ...

    async def keep(self, watched: WatchedPrint, memory: WatchMemory) -> None:
        """Remember that, and go on holding the claim."""
        ...

    async def release(
        self,
        watched: WatchedPrint,
        memory: WatchMemory,
        due_at: datetime,
        *,
        degraded: bool = False,
    ) -> None:
        """Remember that, and give the print back until then. Nothing without the claim."""
        ...

    async def add_look(self, watched: WatchedPrint, last: LastLook) -> Sequence[str]:
        """Keep a look; the pictures that need not be kept any longer.

        Of the looks before only those that warned or paused keep picture and evidence.
        """
        ...

    async def mark(self, watched: WatchedPrint, at: datetime, *, paused: bool) -> None:
        """The look at that time paused the print, or else warned of it."""
        ...

    async def unwatched(self, alive_since: datetime) -> Sequence[UnwatchedPrinter]:
        """Printers that are here, at nodes that were alive then."""
        ...

    async def looks(self, printer_id: str, print_id: str) -> Sequence[Look]:
        """At one print, the oldest first; of those that showed nothing new one a minute.

        Of thousands those that tell the most: first and last ones, alarms, and the worst of others.
        """
        ...

    async def last(self, printer_id: str, print_id: str) -> LastLook | None:
        """The latest that was kept."""
        ...

    async def alarms(self, printer_id: str, print_id: str) -> Sequence[LastLook]:
        """Those that warned or paused, the oldest first."""
        ...

    async def judge(self, judgement: Judgement) -> None:
        """In place of an earlier one of that print. Its picture is kept as long as it is.

        Of very many the oldest are forgotten.
        Nothing happens where that print was never watched.
        """
        ...

    async def judged(self, printer_id: str) -> Sequence[Judgement]:
        """All of a printer's, whatever the camera, the newest first."""
        ...

    async def let_pictures_go(self, printer_id: str, print_id: str | None) -> Sequence[str]:
        """Judgements of that print, or of all, keep no pictures any more; which those were."""
        ...

    async def forget(self, before: datetime, judged_before: datetime, at_most: int) -> int:
        """Looks and ended watches older than that, and judgements. Of looks so many; how many."""
        ...
