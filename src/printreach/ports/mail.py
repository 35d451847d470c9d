"""Mails that the service sends to people: their queue, and the mail server."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from printreach.ports.notifications import NotSent
from printreach.rules.mails import Mail

__all__ = ["Mail", "MailRecords", "Mailer", "WaitingMail"]


class Mailer(Protocol):
    """Hands mails to the mail server."""

    async def hand_in(self, mail: Mail) -> NotSent | None:
        """Try once, now. None if the mail server accepted it; from then on it is responsible.

        Ends after some 40 s, whatever the server does.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingMail:
    """A queued mail about an account.

    sealed: all of it, since it may contain a link that signs a person in. until: when it is
    outdated, or its link expires. failures: tries so far.
    """

    mail_id: str
    sealed: bytes = field(repr=False)
    due_at: datetime
    until: datetime
    failures: int = 0


class MailRecords(Protocol):
    """Queued mails about accounts, each stored in the unit of work that it reports."""

    async def add(self, mail: WaitingMail) -> bool:
        """Add a mail; return whether the queue had room for it."""
        ...

    async def next_due(self) -> datetime | None:
        """Return when one is to be tried next; None if none waits."""
        ...

    async def claim(self, at: datetime, until: datetime) -> WaitingMail | None:
        """Claim the mail that has been due longest, until then.

        One that is due later than the longest backoff was put off by a clock that was ahead: it is
        due now.
        """
        ...

    async def put_off(self, mail_id: str, due_at: datetime, failures: int) -> None: ...
    async def remove(self, mail_id: str) -> None: ...
    async def forget_over(self, at: datetime) -> int:
        """Delete mails whose time is over; return how many."""
        ...
