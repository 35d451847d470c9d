"""What is kept of the watch over prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from printreach.rules.detection import DetectionContext
from printreach.rules.watching import Judgement, LastLook, Look, WatchSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedPrint:
    """A print under watch.

    token: of the worker's claim on it. context: what the rules remember of it. warned_at,
    paused_at: when the watch did so last, None for not yet.
    """

    printer_id: str
    account_id: str
    print_id: str
    token: str
    context: DetectionContext
    settings: WatchSettings
    warned_at: datetime | None
    paused_at: datetime | None


class WatchSettingsRecords(Protocol):
    """What owners chose. Gone with the printer's link: the next owner chooses anew."""

    async def get(self, printer_id: str) -> WatchSettings:
        """The defaults where nobody chose."""
        ...

    async def put(self, printer_id: str, account_id: str, settings: WatchSettings) -> None:
        """Nothing happens where the printer isn't that account's."""
        ...


class WatchRecords(Protocol):
    """The prints under watch, and what was seen of them. A worker claims what is due by a lease."""

    async def begin(
        self, printer_id: str, account_id: str, print_id: str, due_at: datetime
    ) -> None:
        """Watch a print, in place of the printer's one before. One that is watched stays as is."""
        ...

    async def end(self, printer_id: str, print_id: str) -> None:
        """It is over. What was seen stays, until it is forgotten."""
        ...

    async def claim(
        self, token: str, at: datetime, until: datetime, at_most: int
    ) -> list[WatchedPrint]:
        """Take prints that are due and nobody's. until: when the claim lapses."""
        ...

    async def looked(self, watched: WatchedPrint, last: LastLook, due_at: datetime) -> bool:
        """Store what came of a look, and give the print back. False where the claim was lost."""
        ...

    async def postpone(self, watched: WatchedPrint, due_at: datetime) -> None:
        """There was no look (no picture, nobody to score it): give the print back until then."""
        ...

    async def looks(self, printer_id: str, print_id: str) -> Sequence[Look]:
        """At one print, the oldest first."""
        ...

    async def last(self, printer_id: str, print_id: str) -> LastLook | None: ...

    async def judge(self, judgement: Judgement) -> None:
        """In place of an earlier one of that print."""
        ...

    async def judgements(self, printer_id: str) -> Sequence[Judgement]:
        """Of a printer's prints, by whatever camera; the newest first."""
        ...

    async def forget(self, before: datetime) -> None:
        """Looks and judgements older than that."""
        ...
