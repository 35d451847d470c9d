"""Webhooks of apps: their stored queues, their sender and the keys of their signatures.

Deliveries are rows. A worker claims the whole queue of a webhook with a lease, by one conditional
update, and sends its due deliveries. So two workers never send the same, a dead one is replaced
when its lease ends, and looking for work costs by the number of webhooks that have some, however
much that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from printreach.rules.webhook_messages import SigningKey
from printreach.rules.webhooks import DeliveryState, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDelivery:
    """A delivery to be queued. body: as it will be sent. at: when the event happened."""

    connection_id: str
    event_id: str
    event_type: int
    print_id: str
    at: datetime
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempted:
    """The outcome of a delivery.

    outcome: of an attempt; None if none was made. reason: why it ended without a success. due_at:
    of the next attempt, while it is queued.
    """

    delivery_id: int
    state: DeliveryState
    attempts: int
    at: datetime
    outcome: Outcome | None = None
    reason: str | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedDelivery:
    """A delivery as people see it: without the body."""

    delivery_id: int
    connection_id: str
    event_id: str
    event_type: int
    at: datetime
    state: DeliveryState
    attempts: int
    attempted_at: datetime | None
    http_status: int | None
    duration_ms: int | None
    error: str | None
    due_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A claim on a webhook's queue. token: of this claim alone."""

    connection_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Surplus:
    """Of one webhook, the newest delivery beyond the bound, of those queued and those ended."""

    queued: int | None
    ended: int | None


class WebhookSender(Protocol):
    """Calls webhooks, and no address of our own network."""

    async def problem_with(self, url: str) -> str | None:
        """Return why that URL cannot be a webhook, as a sentence; its name is looked up."""
        ...

    async def send(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        """Make one attempt. The address is looked up and checked; it never raises."""
        ...


class WebhookKeys(Protocol):
    """The keys that sign messages."""

    def signing(self, at: datetime) -> Sequence[SigningKey]:
        """Return the keys in force, newest first."""
        ...
