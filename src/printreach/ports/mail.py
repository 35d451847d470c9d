"""Mails that the service sends to people."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Mail:
    """Plain text. It may hold a link that signs a person in, so nothing logs it by the way."""

    to: str
    subject: str
    text: str


class Mailer(Protocol):
    """Takes mails off the hands of who has an answer to give."""

    def send(self, mail: Mail) -> None:
        """Deliver it some time soon; this returns at once, so that its time tells nothing.

        A mail that cannot be delivered is reported in the log, without its text.
        """
        ...
