"""Mails that the service sends to people."""

from typing import Protocol

from printreach.ports.notifications import NotSent
from printreach.rules.mails import Mail

__all__ = ["Mail", "Mailer"]


class Mailer(Protocol):
    """Takes mails off the hands of who has an answer to give."""

    def send(self, mail: Mail) -> None:
        """Deliver it some time soon; this returns at once, so that its time tells nothing.

        A mail that cannot be delivered is reported in the log, without its text.
        """
        ...

    async def hand_in(self, mail: Mail) -> NotSent | None:
        """One try, now. None where the mail server took it; from then on it is that server's.

        Ends after some 40 s, whatever the server does.
        """
        ...
