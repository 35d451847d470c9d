"""What the store keeps of Live Links."""

from datetime import datetime
from typing import Protocol

from printreach.rules.live_links import LastFacts, LiveEnd, LiveLink


class LiveLinkRecords(Protocol):
    """Live Links; ended ones tell that they have ended until they are forgotten.

    A living one has not ended itself, and nor has the App Connection that asked for it.
    """

    async def add(self, link: LiveLink) -> None: ...
    async def get(self, live_id: str) -> LiveLink | None: ...
    async def with_short_id(self, short_id: str) -> LiveLink | None: ...
    async def living_of_account(self, account_id: str, at: datetime) -> list[LiveLink]:
        """The newest first."""
        ...

    async def living_of_printer(self, printer_id: str, at: datetime) -> list[LiveLink]: ...
    async def end(self, live_id: str, at: datetime, why: LiveEnd, last: LastFacts) -> None:
        """One that has ended keeps its end."""
        ...

    async def end_all_of_printer(self, printer_id: str, at: datetime, why: LiveEnd) -> None: ...
    async def forget(self, ended_before: datetime) -> None:
        """Those that ended, or ran out, before then."""
        ...
