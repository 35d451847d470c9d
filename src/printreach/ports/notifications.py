"""Notifications of prints: settings, destinations and queued messages, and their sender."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Protocol

from printreach.rules.notifications import Counted, Events, NotifySettings


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


class NotifyRecords(Protocol):
    """Settings, destinations and messages, in one unit of work.

    A destination is claimed as a whole, so at most one message is being sent to it, and a slow one
    delays only its own.
    """

    async def settings(self, account_id: str) -> NotifySettings: ...
    async def put_settings(self, account_id: str, settings: NotifySettings) -> None: ...
    async def set_of_printer(self, account_id: str, printer_id: str, events: Events | None) -> None:
        """Set a printer's own events; None: as the account."""
        ...

    async def counted(self, account_id: str) -> Counted | None: ...
    async def put_counted(self, account_id: str, counted: Counted) -> None: ...

    async def destinations(self, account_id: str) -> list[Destination]:
        """Return the account's destinations, oldest first."""
        ...

    async def destination(self, destination_id: str) -> Destination | None: ...
    async def add_destination(self, destination: Destination) -> None: ...
    async def remove_destination(self, account_id: str, destination_id: str) -> bool:
        """Remove a destination and its queue; return whether the account had it."""
        ...

    async def queue(self, destination_ids: Collection[str], message: NewMessage) -> None: ...
    async def next_due(self, at: datetime) -> datetime | None:
        """Return when something is to be sent next, except to destinations claimed then."""
        ...

    async def claim(self, at: datetime, until: datetime, room: int) -> list[Destination]:
        """Claim destinations with due messages until then, in turns by rules.notify_turns."""
        ...

    async def renew(self, destination_id: str, until: datetime) -> bool:
        """Renew a claim until then; False if the destination was removed."""
        ...

    async def due_messages(
        self, destination_id: str, at: datetime, at_most: int
    ) -> list[QueuedMessage]: ...
    async def drop_messages(self, message_ids: Collection[int]) -> None: ...
    async def drop_all(self, destination_id: str) -> None:
        """Delete the destination's queue."""
        ...

    async def drop_older(self, destination_id: str, due_before: datetime) -> None: ...
    async def release(
        self,
        destination_id: str,
        *,
        not_before: datetime | None,
        sent_at: datetime | None,
        failures: int,
        trouble: str,
    ) -> None:
        """Release a claim. not_before: until when the destination is not to be tried, if any."""
        ...

    async def mend_times(self, at: datetime, farthest: datetime) -> None:
        """Repair what is put off or claimed beyond farthest: a clock was ahead by then."""
        ...

    async def note_answer(self, destination_id: str, at: datetime) -> None:
        """It accepted a test: its queue is due now."""
        ...

    async def note_trouble(self, destination_id: str, trouble: str) -> None:
        """It did not accept a test."""
        ...
