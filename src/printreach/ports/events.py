"""Events in the service: stored, handed out once, kept for readers that resume.

An event is a row before its agent may forget it. The worker hands each out: in one unit of work it
is marked and every consumer writes down what follows from it.
"""

from collections.abc import Sequence
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


class EventInbox(Protocol):
    """Where the relay stores what agents send."""

    async def put(self, printer_id: str, events: Sequence[PrintEvent]) -> None:
        """Return when the events survive a loss of power. Raises StoreUnavailable.

        Events of many agents go into one unit of work.
        """
        ...
