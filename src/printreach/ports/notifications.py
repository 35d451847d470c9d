"""Senders of mails, messages and pushes, the time zones of people, and the seal of secrets."""

from dataclasses import dataclass
from datetime import timedelta, tzinfo
from enum import Enum, auto
from typing import Protocol

from printreach.rules.accounts.mails import Mail
from printreach.rules.notifications.push import PushMessage, Subscription


class Zones(Protocol):
    """The time zones that people live in."""

    def zone(self, name: str) -> tzinfo | None:
        """Return the zone; None if there is no such zone."""
        ...

    def names(self) -> list[str]:
        """Return the names of all zones, in order."""
        ...


class Sealer(Protocol):
    """Seals secrets, so that they cannot be read from a copy of the database."""

    def seal(self, text: str, about: str) -> bytes:
        """Seal a text. about: what it belongs to; it is unsealed for nothing else."""
        ...

    def unseal(self, sealed: bytes, about: str) -> str | None:
        """Return the text; None if the key is another one, or the bytes were altered."""
        ...


class SendFailure(Enum):
    """The reasons why a message was not accepted."""

    NOT_ALLOWED = auto()
    """The service, or the address it leads to, is not allowed."""
    UNREACHABLE = auto()
    TOO_SLOW = auto()
    REFUSED = auto()
    NO_MAIL_SERVER = auto()
    """The operator has configured none."""
    MAIL_SERVER_AWAY = auto()
    NOBODY_THERE = auto()
    """The mail server rejects that address for good."""
    DEVICE_GONE = auto()
    """A browser that subscribed takes no more messages, for good."""
    MAIL_REFUSED = auto()
    """Refused by the installation's own mail server, or the one after it."""


@dataclass(frozen=True, slots=True)
class NotSent:
    """A message was not accepted.

    status: what the other side answered, if it did. retry_after: how long it asked to wait.
    """

    trouble: SendFailure
    status: int | None = None
    retry_after: timedelta | None = None


class Messenger(Protocol):
    """Sends messages through notification services."""

    async def check(self, url: str) -> bool:
        """Return whether messages can be sent to such an address; nothing is sent."""
        ...

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        """Send; None if the other side accepted it.

        Ends after some 20 s, whatever that side does.
        """
        ...


class PushSender(Protocol):
    """Sends messages to browsers, through the push service that each of them named."""

    @property
    def public_key(self) -> str:
        """The key by which push services recognise this service, as browsers take it."""
        ...

    async def problem_with(self, subscription: Subscription) -> str | None:
        """Return why no messages can be sent there, as a sentence; its name is looked up."""
        ...

    async def send(self, subscription: Subscription, message: PushMessage) -> NotSent | None:
        """Send; None if the push service accepted it.

        Ends after some 10 s, whatever that service does.
        """
        ...


class Mailer(Protocol):
    """Hands mails to the mail server."""

    async def hand_in(self, mail: Mail) -> NotSent | None:
        """Try once, now. None if the mail server accepted it; from then on it is responsible.

        Ends after some 40 s, whatever the server does.
        """
        ...
