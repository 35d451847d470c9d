"""Webhooks of apps: what is stored of them, who sends, and what they are signed with.

What a webhook is owed are rows. A worker claims the whole queue of a webhook, by one conditional
update and for as long as a lease says, and sends what is due of it. So two workers never send the
same, one that dies is succeeded when its lease ends, and looking for work costs by the number of
webhooks that have some, however much that is.
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
    """What is owed. body: as it will be sent. at: when the event happened."""

    connection_id: str
    event_id: str
    event_type: int
    print_id: str
    at: datetime
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempted:
    """What became of a delivery.

    outcome: of an attempt; None where none was made. reason: why it ended without a success.
    due_at: of the next attempt, while it is queued.
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
    """A delivery, for people: without what was sent."""

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
    """Of one webhook: the newest that is too old by number, of those queued and those ended."""

    queued: int | None
    ended: int | None


class WebhookRecords(Protocol):
    """Webhooks, at most one for each App Connection."""

    async def put(self, webhook: Webhook) -> None:
        """In place of the one before, whose queue it takes over."""
        ...

    async def get(self, connection_id: str) -> Webhook | None: ...

    async def with_connection(self, connection_id: str) -> AppWebhook | None: ...

    async def of_printer(self, printer_id: str) -> list[AppWebhook]: ...

    async def note_health(self, webhook: Webhook) -> None:
        """What attempts say of it; nothing changes where it was set anew since it was read."""
        ...

    async def delete(self, connection_id: str) -> None:
        """With what is queued for it; what was sent stays in the log."""
        ...


class DeliveryRecords(Protocol):
    """What webhooks are owed, and were sent."""

    async def add(self, deliveries: Sequence[NewDelivery], at: datetime) -> None:
        """Queue them. One whose event is there already, for its webhook, is left as it is."""
        ...

    async def claim(self, token: str, at: datetime, until: datetime, at_most: int) -> list[Lease]:
        """Take the queues that have something due and are not claimed by others."""
        ...

    async def renew(self, lease: Lease, until: datetime) -> bool:
        """False where it is another's by now, or the webhook is gone."""
        ...

    async def release(self, lease: Lease, at: datetime, not_before: datetime | None = None) -> None:
        """Give the queue back; it is claimed again when something of it is due."""
        ...

    async def due(
        self, connection_id: str, at: datetime, at_most: int, *, exclude: Collection[int]
    ) -> list[Delivery]:
        """Of one webhook, the one due longest first. but: ids of those that are not wanted."""
        ...

    async def record(self, attempted: Sequence[Attempted]) -> None:
        """Those that are no longer queued are left as they are."""
        ...

    async def end_all(
        self, connection_id: str, state: DeliveryState, reason: str, at: datetime
    ) -> None:
        """Nothing that is queued for it will be sent."""
        ...

    async def mend_times(self, at: datetime, at_most: int) -> int:
        """What was put off by a clock that was ahead, and has been set back since, is due.

        How many deliveries, at_most at once.
        """
        ...

    async def next_due(self) -> datetime | None:
        """When the next queue can be claimed."""
        ...

    async def log_of_connection(self, connection_id: str, at_most: int) -> list[LoggedDelivery]:
        """The newest first."""
        ...

    async def log_of_app(self, app_id: str, at_most: int) -> list[LoggedDelivery]: ...

    async def send_again(self, connection_id: str, delivery_id: int, at: datetime) -> bool:
        """Queue it anew, as if it had never been tried; False where there is none."""
        ...

    async def prune(self, before: datetime, at_most: int) -> int:
        """Forget those that ended before; how many, at_most at once."""
        ...

    async def grown(self, after: int) -> tuple[list[str], int]:
        """Connections that were owed something behind that delivery; and the last one there is."""
        ...

    async def surplus(self, connection_id: str, most_queued: int, most_ended: int) -> Surplus: ...

    async def drop(
        self, connection_id: str, up_to: int, reason: str, at: datetime, at_most: int
    ) -> int:
        """End what is queued up to that delivery; how many, at_most at once."""
        ...

    async def forget(self, connection_id: str, up_to: int, at_most: int) -> int:
        """Delete what has ended up to that delivery; how many, at_most at once."""
        ...


class WebhookSender(Protocol):
    """Calls targets of strangers, and nothing that isn't theirs."""

    async def problem_with(self, url: str) -> str | None:
        """Why that URL can't be a webhook, as a sentence; its name is looked up for it."""
        ...

    async def send(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        """One attempt. The address is looked up and checked for it; it never raises."""
        ...


class WebhookKeys(Protocol):
    """What messages are signed with."""

    def signing(self, at: datetime) -> Sequence[SigningKey]:
        """Those that count now, the newest first."""
        ...
