"""Events on their way through the service: stored, handed out once, kept for those who resume.

An event is a row before its agent hears that it may forget it. The worker hands each out: in one
unit of work it is marked and every consumer writes down what follows from it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from printreach.contract.events import PrintEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An event as the service keeps it.

    seq: grows in the order in which events were stored. account_id: whose printer it was then.
    snapshot_id: a picture that was taken for it; None without one, and before it is handed out.
    """

    seq: int
    account_id: str
    printer_id: str
    event: PrintEvent
    received_at: datetime
    snapshot_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """An event that a printer's agent sent, or that the service makes itself."""

    printer_id: str
    event: PrintEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedEvent:
    """An event that can't be read back. why: nothing of its content."""

    seq: int
    printer_id: str
    event_id: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Awaiting:
    """What waits to be handed out, in the order in which it came; and what nobody can read."""

    events: Sequence[StoredEvent] = ()
    damaged: Sequence[DamagedEvent] = ()


class EventRecords(Protocol):
    """Events, in one unit of work.

    Where many are read, those that can't be read back are left out: they harm no others.
    """

    async def append(self, printer_id: str, events: Sequence[PrintEvent], at: datetime) -> None:
        """Keep events of one printer and have them handed out.

        One that is there already, by its id, is left as it is. Where the printer belongs to no
        account they are dropped: there is nobody to tell.
        """
        ...

    async def append_all(self, arrivals: Sequence[Arrival], at: datetime) -> None:
        """The same for events of many printers, at the cost of a few statements."""
        ...

    async def awaiting_fan_out(
        self, at_most: int, *, except_printers: Collection[str] = ()
    ) -> Awaiting:
        """Those not handed out yet."""
        ...

    async def set_aside(self, seqs: Collection[int]) -> frozenset[int]:
        """Keep these without handing them out; those of them that waited until now."""
        ...

    async def take_up_again(self) -> int:
        """What was set aside waits again: this version may be able to read it. How many."""
        ...

    async def mark_fanned_out(self, snapshots: Mapping[int, str | None]) -> frozenset[int]:
        """Mark these, named by seq, each with its picture; those that nobody had marked before."""
        ...

    async def after(self, account_id: str, event_id: str | None, at_most: int) -> list[StoredEvent]:
        """Events of an account handed out after that one, in the order in which they were.

        None, or one that is not kept (any more): from the oldest that is.
        """
        ...

    async def holds(self, account_id: str, event_id: str) -> bool:
        """Whether that one is an event of the account that was handed out and is kept."""
        ...

    async def latest(self, account_id: str) -> StoredEvent | None:
        """The one of an account that was handed out last."""
        ...

    async def recent(self, account_id: str, at_most: int) -> list[StoredEvent]:
        """Those of an account that were handed out last, the newest first."""
        ...

    async def prune(self, before: datetime, at_most: int) -> int:
        """Forget what was handed out and came before then; how many, at_most at once.

        An account's last one stays: who has heard it goes on from it, however quiet it was.
        """
        ...


class EventInbox(Protocol):
    """Where the relay puts what agents send."""

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        """Returns when they survive a loss of power. Raises StoreUnavailable.

        Events of many agents go into one unit of work.
        """
        ...
