"""Mails that the service sends to people."""

from typing import Protocol

from printreach.rules.mails import Mail

__all__ = ["Mail", "Mailer"]


class Mailer(Protocol):
    """Takes mails off the hands of who has an answer to give."""

    def send(self, mail: Mail) -> None:
        """Deliver it some time soon; this returns at once, so that its time tells nothing.

        A mail that cannot be delivered is reported in the log, without its text.
        """
        ...
