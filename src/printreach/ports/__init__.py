"""Everything that the server asks of the outside, as protocols.

`backends` implements them, and `store` those with which the relay asks for grants and printers. The
database itself is no port: there is one, in `store`, and the use cases take its classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Clock(Protocol):
    """The wall clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class Topic(StrEnum):
    """The subjects of notices, each with its key."""

    CONNECTION = "connection"
    """key: unique_id. Its grant changed: it was revoked, or another credential opens it."""
    PRINTER = "printer"
    """key: printer_id. It was linked or removed; all its grants may have changed."""
    ACCOUNT = "account"
    """key: account_id. Its supporter status changed, it was blocked, locked or deleted, or a
    browser was signed out; all its grants may have changed."""
    DETECTOR = "detector"
    """key: printer_id. The failure watch has a new state for its print. Who subscribes to the topic
    may hear only of printers whose tunnel ends at this node; who subscribes to a key hears it.
    """
    INBOX = "inbox"
    """key: none. Events were stored and wait to be handed out. One subscribing process is told."""
    MAIL = "mail"
    """key: none. A mail about an account waits to be delivered. One subscribing process is told."""
    EVENT = "event"
    """key: account_id. Events of its printers were handed out."""
    NODES = "nodes"
    """key: what a node says of the tunnels that it holds, or asks about those of others. Nothing in
    the store changed."""
    COUNTS = "counts"
    """key: what a node has counted of limits that hold for all nodes. Nothing in the store changed.
    """


@dataclass(frozen=True, slots=True)
class Notice:
    """A hint that a fact in the store changed. It may be lost: look again every 30 s anyway."""

    topic: Topic
    key: str


class Bus(Protocol):
    """Hints between the processes of an installation."""

    @property
    def is_available(self) -> bool:
        """Return whether notices reach other processes now."""
        ...

    async def publish(self, notice: Notice) -> None:
        """Deliver the notice soon to who subscribes to it in any process, including this one."""
        ...

    def subscribe(
        self, callback: Callable[[Notice], None], *wanted: Topic | Notice
    ) -> Callable[[], None]:
        """Call back with notices, on the event loop; the result unsubscribes.

        wanted: a topic for all of its notices, or a notice for those with its topic and key. The
        callback must not block. An exception from it is logged and goes no further.
        """
        ...


class Tunnels(Protocol):
    """What this node knows of printers' tunnels."""

    @property
    def node_id(self) -> str:
        """Return the id of this node."""
        ...

    def holder_of(self, printer_id: str) -> str | None:
        """Return the id of the node with the printer's primary tunnel; None if it isn't known."""
        ...


class Unavailable(Exception):
    """The database or the storage of pictures did not do what was asked; later it may."""


class StoreUnavailable(Unavailable):
    """The database did not do what was asked: locked for too long, full, damaged, or closed."""
