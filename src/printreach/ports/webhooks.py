"""Webhooks of apps: their stored queues, their sender and the keys of their signatures.

Deliveries are rows. A worker claims the whole queue of a webhook with a lease, by one conditional
update, and sends its due deliveries. So two workers never send the same, a dead one is replaced
when its lease ends, and looking for work costs by the number of webhooks that have some, however
much that is.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from printreach.rules.connections import Connection
from printreach.rules.webhook_messages import SigningKey
from printreach.rules.webhooks import Delivery, DeliveryState, Outcome, Webhook


@dataclass(frozen=True, kw_only=True, slots=True)
class AppWebhook:
    """A webhook and its connection."""

    webhook: Webhook
    connection: Connection


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


class WebhookRecords(Protocol):
    """Webhooks, at most one for each App Connection."""

    async def put(self, webhook: Webhook) -> None:
        """Store the webhook in place of an earlier one, whose queue it takes over."""
        ...

    async def get(self, connection_id: str) -> Webhook | None: ...

    async def with_connection(self, connection_id: str) -> AppWebhook | None: ...

    async def of_printer(self, printer_id: str) -> list[AppWebhook]: ...

    async def note_health(self, webhook: Webhook) -> None:
        """Store what attempts say of its health; ignored if it was set again since it was read."""
        ...

    async def delete(self, connection_id: str) -> None:
        """Delete the webhook and its queue; ended deliveries stay in the log."""
        ...


class DeliveryRecords(Protocol):
    """The queued and ended deliveries of webhooks."""

    async def add(self, deliveries: Sequence[NewDelivery], at: datetime) -> None:
        """Queue deliveries. One of an event that its webhook has already stays as it is."""
        ...

    async def claim(self, token: str, at: datetime, until: datetime, at_most: int) -> list[Lease]:
        """Claim the queues that have something due and are not claimed."""
        ...

    async def renew(self, lease: Lease, until: datetime) -> bool:
        """Renew a claim; False if another worker has the queue by now, or the webhook is gone."""
        ...

    async def release(self, lease: Lease, at: datetime, not_before: datetime | None = None) -> None:
        """Release the queue; it is claimed again when something of it is due."""
        ...

    async def due(
        self, connection_id: str, at: datetime, at_most: int, *, exclude: Collection[int]
    ) -> list[Delivery]:
        """Return a webhook's due deliveries, the longest due first. exclude: ids to leave out."""
        ...

    async def record(self, attempted: Sequence[Attempted]) -> None:
        """Store outcomes; deliveries that are no longer queued stay as they are."""
        ...

    async def end_all(
        self, connection_id: str, state: DeliveryState, reason: str, at: datetime
    ) -> None:
        """End everything that is queued for it."""
        ...

    async def mend_times(self, at: datetime, at_most: int) -> int:
        """Make due what a clock that was ahead, and has been set back since, has put off.

        Changes at_most deliveries at once; returns how many.
        """
        ...

    async def next_due(self) -> datetime | None:
        """Return when the next queue can be claimed."""
        ...

    async def log_of_connection(self, connection_id: str, at_most: int) -> list[LoggedDelivery]:
        """Return deliveries, newest first."""
        ...

    async def log_of_app(self, app_id: str, at_most: int) -> list[LoggedDelivery]: ...

    async def send_again(self, connection_id: str, delivery_id: int, at: datetime) -> bool:
        """Queue it again, as if it had never been tried; False if there is none."""
        ...

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete deliveries that ended before, at_most at once; return how many."""
        ...

    async def grown(self, after: int) -> tuple[list[str], int]:
        """Return the connections with deliveries after that one, and the last delivery's id."""
        ...

    async def surplus(self, connection_id: str, most_queued: int, most_ended: int) -> Surplus: ...

    async def drop(
        self, connection_id: str, up_to: int, reason: str, at: datetime, at_most: int
    ) -> int:
        """End what is queued up to that delivery, at_most at once; return how many."""
        ...

    async def forget(self, connection_id: str, up_to: int, at_most: int) -> int:
        """Delete what has ended up to that delivery, at_most at once; return how many."""
        ...


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
