"""Telling people of their prints: what is stored for it, and who carries the words."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Protocol

from printreach.rules.notifications import Counted, Events, NotifySettings


class Zones(Protocol):
    """The time zones that people live in."""

    def zone(self, name: str) -> tzinfo | None:
        """None where there is no such zone."""
        ...

    def names(self) -> list[str]:
        """All that can be chosen, in order."""
        ...


class Sealer(Protocol):
    """Keeps secrets unreadable to who has the database alone."""

    def seal(self, text: str, about: str) -> bytes:
        """about: what it belongs to; it opens for nothing else."""
        ...

    def unseal(self, sealed: bytes, about: str) -> str | None:
        """None where the key is another one, or the bytes are not what was sealed."""
        ...


class Trouble(Enum):
    """Why a message was not taken."""

    NOT_ALLOWED = auto()
    """The service, or the address it leads to, is none that we call."""
    UNREACHABLE = auto()
    TOO_SLOW = auto()
    REFUSED = auto()
    NO_MAIL_SERVER = auto()
    """The operator has set none."""
    MAIL_SERVER_AWAY = auto()
    NOBODY_THERE = auto()
    """The mail server takes no mail for that address, and will take none."""
    MAIL_REFUSED = auto()
    """By the installation's own mail server, or the one behind it."""


@dataclass(frozen=True, slots=True)
class NotSent:
    """status: what the other side answered, where it did."""

    trouble: Trouble
    status: int | None = None


class Messenger(Protocol):
    """Hands messages to the services that people read."""

    async def check(self, url: str) -> bool:
        """Whether messages can be sent to such an address; nothing is sent."""
        ...

    async def send(self, url: str, title: str, text: str) -> NotSent | None:
        """None where the other side took it. Ends after some 20 s, whatever that side does."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """A place where a person is told.

    sealed: its address; empty for the mail address of the account.
    failures: in a row. trouble: why the last message was not taken; empty when it was.
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
    """Words on their way to one place."""

    message_id: int
    destination_id: str
    title: str
    text: str
    made_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessage:
    """Words that are to be told, each of an event. due_at: not before then."""

    title: str
    text: str
    made_at: datetime
    due_at: datetime


class NotifyRecords(Protocol):
    """Choices, places and messages, in one unit of work.

    A place is claimed as a whole, so at most one message is on its way to it, and a slow one holds
    up its own alone.
    """

    async def settings(self, account_id: str) -> NotifySettings: ...
    async def put_settings(self, account_id: str, settings: NotifySettings) -> None: ...
    async def set_of_printer(self, account_id: str, printer_id: str, events: Events | None) -> None:
        """None: as the account."""
        ...

    async def counted(self, account_id: str) -> Counted | None: ...
    async def put_counted(self, account_id: str, counted: Counted) -> None: ...

    async def destinations(self, account_id: str) -> list[Destination]:
        """Oldest first."""
        ...

    async def destination(self, destination_id: str) -> Destination | None: ...
    async def add_destination(self, destination: Destination) -> None: ...
    async def remove_destination(self, account_id: str, destination_id: str) -> bool:
        """Whether it was one of that account's; what is queued for it goes too."""
        ...

    async def queue(self, destination_ids: Collection[str], message: NewMessage) -> None: ...
    async def next_due(self, at: datetime) -> datetime | None:
        """When something is to be sent next; places that are claimed then are left out."""
        ...

    async def claim(self, at: datetime, until: datetime, room: int) -> list[Destination]:
        """Places with something to send, for us alone until then: as rules.notify_turns says."""
        ...

    async def renew(self, destination_id: str, until: datetime) -> bool:
        """Keep a claimed place until then; False where it is no more."""
        ...

    async def due_messages(
        self, destination_id: str, at: datetime, at_most: int
    ) -> list[QueuedMessage]: ...
    async def drop_messages(self, message_ids: Collection[int]) -> None: ...
    async def drop_all(self, destination_id: str) -> None:
        """Whatever waits for that place."""
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
        """Let go of a claimed place. not_before: where it is to be left in peace until then."""
        ...

    async def mend_times(self, at: datetime, farthest: datetime) -> None:
        """Whatever is put off or claimed beyond farthest was so by a clock that was ahead."""
        ...

    async def note_answer(self, destination_id: str, at: datetime) -> None:
        """It took a test: what waits for it is due now."""
        ...

    async def note_trouble(self, destination_id: str, trouble: str) -> None:
        """It did not take a test."""
        ...
