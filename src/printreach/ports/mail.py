"""Mails that the service sends to people: what is stored of them, and who carries them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from printreach.ports.notifications import NotSent
from printreach.rules.mails import Mail

__all__ = ["Mail", "MailRecords", "Mailer", "WaitingMail"]


class Mailer(Protocol):
    """Hands mails to the mail server."""

    async def hand_in(self, mail: Mail) -> NotSent | None:
        """One try, now. None where the mail server took it; from then on it is that server's.

        Ends after some 40 s, whatever the server does.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingMail:
    """A mail about an account, on its way.

    sealed: all of it, for it may hold a link that signs a person in. until: when it is no news any
    more, or its link is over. failures: tries so far.
    """

    mail_id: str
    sealed: bytes = field(repr=False)
    due_at: datetime
    until: datetime
    failures: int = 0


class MailRecords(Protocol):
    """Mails about accounts, in one unit of work: each is stored with what it tells of."""

    async def add(self, mail: WaitingMail) -> bool:
        """Whether there was room for it."""
        ...

    async def next_due(self) -> datetime | None:
        """When one is to be tried next; None where none waits."""
        ...

    async def claim(self, at: datetime, until: datetime) -> WaitingMail | None:
        """The one that has been due longest, for us alone until then.

        One that is due later than any may be was put off by a clock that was ahead: it is due now.
        """
        ...

    async def put_off(self, mail_id: str, due_at: datetime, failures: int) -> None: ...
    async def remove(self, mail_id: str) -> None: ...
    async def forget_over(self, at: datetime) -> int:
        """Those whose time is over; how many."""
        ...
