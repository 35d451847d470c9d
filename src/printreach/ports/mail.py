"""Mails that the service sends to people: their queue, and the mail server."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from printreach.ports.notifications import NotSent
from printreach.rules.mails import Mail

__all__ = ["Mail", "Mailer", "WaitingMail"]


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

    sealed: all of it, since it may contain a link that signs a person in. due_at: once it is
    claimed, when its lease ends. until: when it is outdated, or its link expires. failures: tries
    so far.
    """

    mail_id: str
    sealed: bytes = field(repr=False)
    due_at: datetime
    until: datetime
    failures: int = 0
