"""Events in the service: stored, handed out once, kept for readers that resume.

An event is a row before its agent may forget it. The worker hands each out: in one unit of work it
is marked and every consumer writes down what follows from it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from printreach.contract.events import PrintEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An event as the service stores it.

    seq: grows in the order in which events were stored. account_id: of the printer's owner at that
    time. snapshot_id: a picture that was taken for it; None without one, and before it is handed
    out.
    """

    seq: int
    account_id: str
    printer_id: str
    event: PrintEvent
    received_at: datetime
    snapshot_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """An event that a printer's agent sent, or that the service created itself."""

    printer_id: str
    event: PrintEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedEvent:
    """An event that cannot be decoded. why: contains nothing of its content."""

    seq: int
    printer_id: str
    event_id: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Awaiting:
    """Events that wait to be handed out, in the order in which they came, and damaged ones."""

    events: Sequence[StoredEvent] = ()
    damaged: Sequence[DamagedEvent] = ()


class EventRecords(Protocol):
    """Events, in one unit of work.

    Lists leave out events that cannot be decoded, so that these do not block others.
    """

    async def append(self, printer_id: str, events: Sequence[PrintEvent], at: datetime) -> None:
        """Store events of one printer, to be handed out.

        An event whose id is stored already stays as it is. If the printer belongs to no account,
        they are dropped: there is nobody to notify.
        """
        ...

    async def append_all(self, arrivals: Sequence[Arrival], at: datetime) -> None:
        """Store events of many printers, at the cost of a few statements."""
        ...

    async def awaiting_fan_out(
        self, at_most: int, *, except_printers: Collection[str] = ()
    ) -> Awaiting:
        """Return events that were not handed out yet."""
        ...

    async def set_aside(self, seqs: Collection[int]) -> frozenset[int]:
        """Keep these without handing them out; return those of them that waited until now."""
        ...

    async def take_up_again(self) -> int:
        """Hand out what was set aside, since this version may be able to decode it.

        Returns how many.
        """
        ...

    async def mark_fanned_out(self, snapshots: Mapping[int, str | None]) -> frozenset[int]:
        """Mark these events, by seq, each with its picture; return those that were not marked
        before."""
        ...

    async def after(self, account_id: str, event_id: str | None, at_most: int) -> list[StoredEvent]:
        """Return an account's events handed out after that one, in the same order.

        None, or one that is not kept (any more): from the oldest that is kept.
        """
        ...

    async def holds(self, account_id: str, event_id: str) -> bool:
        """Return whether it is a kept event of the account that was handed out."""
        ...

    async def latest(self, account_id: str) -> StoredEvent | None:
        """Return the account's event that was handed out last."""
        ...

    async def recent(self, account_id: str, at_most: int) -> list[StoredEvent]:
        """Return the account's events that were handed out last, newest first."""
        ...

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete events handed out before then, at_most at once; return how many.

        The last one of an account stays, so that its readers can resume from it, however quiet it
        was.
        """
        ...


class EventInbox(Protocol):
    """Where the relay stores what agents send."""

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        """Return when the events survive a loss of power. Raises StoreUnavailable.

        Events of many agents go into one unit of work.
        """
        ...
