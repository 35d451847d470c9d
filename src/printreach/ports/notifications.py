"""Notifications of prints: settings, destinations and queued messages, and their sender."""

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Protocol


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


class Trouble(Enum):
    """Why a message was not accepted."""

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
    MAIL_REFUSED = auto()
    """Refused by the installation's own mail server, or the one after it."""


@dataclass(frozen=True, slots=True)
class NotSent:
    """A message was not accepted. status: what the other side answered, if it did."""

    trouble: Trouble
    status: int | None = None


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """A configured use of a channel.

    channel: its name. sealed: its address; empty for the mail address of the account. failures: in
    a row. trouble: why the last message was not accepted; empty when it was.
    """

    destination_id: str
    account_id: str
    channel: str
    label: str
    sealed: bytes = field(repr=False)
    created_at: datetime
    sent_at: datetime | None = None
    failures: int = 0
    trouble: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedMessage:
    """A message in the queue of one destination."""

    message_id: int
    destination_id: str
    title: str
    text: str
    made_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessage:
    """A message to be queued. due_at: not sent before then."""

    title: str
    text: str
    made_at: datetime
    due_at: datetime
