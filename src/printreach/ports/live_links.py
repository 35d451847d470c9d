"""The stored Live Links."""

from datetime import datetime
from typing import Protocol

from printreach.rules.live_links import LastFacts, LiveEnd, LiveLink


class LiveLinkRecords(Protocol):
    """Live Links; ended ones stay for a while, so that their page can say so.

    One is in force while neither it nor the App Connection that asked for it has ended.
    """

    async def add(self, link: LiveLink) -> None: ...
    async def get(self, live_id: str) -> LiveLink | None: ...
    async def with_short_id(self, short_id: str) -> LiveLink | None: ...
    async def living_of_account(self, account_id: str, at: datetime) -> list[LiveLink]:
        """Return the account's links in force, newest first."""
        ...

    async def living_of_printer(self, printer_id: str, at: datetime) -> list[LiveLink]: ...
    async def end(self, live_id: str, at: datetime, why: LiveEnd, last: LastFacts) -> None:
        """End a link; one that has ended keeps its end."""
        ...

    async def end_all_of_printer(self, printer_id: str, at: datetime, why: LiveEnd) -> None: ...
    async def forget(self, ended_before: datetime) -> None:
        """Delete links that ended, or expired, before then."""
        ...
