"""Webhooks, as rows; deliveries.py has deliveries and queues."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    bindparam,
    delete,
    select,
    update,
)

from printreach.rules.connections import Connection, ConnectionKind
from printreach.rules.webhooks import Webhook
from printreach.store.columns import LenientJson, TableRecords, columns_for, each_of, insert
from printreach.store.tables import (
    READABLE,
    Instant,
    Number,
    connections,
    metadata,
    where_on_sqlite,
)

# One for each App Connection, and its queue with it. next_at: when something of the queue is due,
# or the lease ends; null while nothing is queued. lease: of the worker that has claimed it.
webhooks = Table(
    "webhooks",
    metadata,
    Column(
        "connection_id",
        ForeignKey(connections.c.connection_id, ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("url", String(2048), nullable=False),
    Column("event_filter", LenientJson, nullable=False),
    Column("set_at", Instant, nullable=False),
    Column("failing_since", Instant),
    Column("failures", Integer, nullable=False),
    Column("last_success_at", Instant),
    Column("disabled_at", Instant),
    Column("disabled_reason", String(500)),
    Column("next_at", Instant),
    Column("lease", String(64)),
    Index("ix_webhooks_next_at", "next_at", **where_on_sqlite("next_at IS NOT NULL")),
)

# due_at: null for those that are no longer queued. What was sent outlives its webhook, in the log.
webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("delivery_id", Number, primary_key=True),
    Column(
        "connection_id",
        ForeignKey(connections.c.connection_id, ondelete="CASCADE"),
        nullable=False,
    ),
    Column("event_id", String(64), nullable=False),
    Column("event_type", Integer, nullable=False),
    Column("print_id", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("body", LargeBinary, nullable=False, info=READABLE),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Instant),
    Column("attempted_at", Instant),
    Column("http_status", Integer),
    Column("duration_ms", Integer),
    Column("error", String(500)),
    Column("ended_at", Instant),
    Index("uq_webhook_deliveries_event_id", "event_id", "connection_id", unique=True),
    Index("ix_webhook_deliveries_connection_id", "connection_id", "delivery_id"),
    Index(
        "ix_webhook_deliveries_due_at",
        "connection_id",
        "due_at",
        **where_on_sqlite("due_at IS NOT NULL"),
    ),
    Index(
        "ix_webhook_deliveries_print_id",
        "connection_id",
        "print_id",
        "delivery_id",
        **where_on_sqlite("event_type IN (2, 3, 6)"),
    ),
    Index(
        "ix_webhook_deliveries_ended_at",
        "ended_at",
        **where_on_sqlite("ended_at IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

_WEBHOOK = columns_for(Webhook, webhooks)
_CONNECTION = [
    column.label(f"of_connection_{column.name}") for column in columns_for(Connection, connections)
]
_HEALTH = (
    *("failing_since", "failures", "last_success_at"),
    *("disabled_at", "disabled_reason"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class AppWebhook:
    """A webhook and its connection."""

    webhook: Webhook
    connection: Connection


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


class WebhookRecords(TableRecords):
    """Webhooks, at most one for each App Connection."""

    async def put(self, webhook: Webhook) -> None:
        """Store the webhook in place of an earlier one, whose queue it takes over."""
        values = _values(webhook)
        new = insert(webhooks).values(**values)
        await self._connection.execute(
            new.on_conflict_do_update(index_elements=[webhooks.c.connection_id], set_=values)
        )

    async def get(self, connection_id: str) -> Webhook | None:
        return await self._first(
            _webhook, select(*_WEBHOOK).where(webhooks.c.connection_id == connection_id)
        )

    async def get_all(self, connection_ids: Collection[str]) -> list[Webhook]:
        """Return those that there are."""
        if not connection_ids:
            return []
        return await self._all(
            _webhook,
            select(*_WEBHOOK).where(webhooks.c.connection_id.in_(each_of(connection_ids))),
        )

    async def with_connection(self, connection_id: str) -> AppWebhook | None:
        found = await self._where(webhooks.c.connection_id == connection_id)
        return found[0] if found else None

    async def of_printer(self, printer_id: str) -> list[AppWebhook]:
        return await self._where(connections.c.printer_id == printer_id)

    async def note_health(self, hooks: Sequence[Webhook]) -> None:
        """Store what attempts say of their health; of one that was set again since it was read
        nothing.
        """
        if not hooks:
            return
        values = [
            {"of_connection": hook.connection_id, "of_set_at": hook.set_at}
            | {f"to_{name}": getattr(hook, name) for name in _HEALTH}
            for hook in hooks
        ]
        await self._connection.execute(
            update(webhooks)
            .where(
                webhooks.c.connection_id == bindparam("of_connection"),
                webhooks.c.set_at == bindparam("of_set_at"),
            )
            .values({name: bindparam(f"to_{name}") for name in _HEALTH}),
            values,
        )

    async def delete(self, connection_id: str) -> None:
        """Delete the webhook and its queue; ended deliveries stay in the log."""
        await self._connection.execute(
            delete(webhooks).where(webhooks.c.connection_id == connection_id)
        )

    async def _where(self, condition: ColumnElement[bool]) -> list[AppWebhook]:
        return await self._all(
            _app_webhook,
            select(*_WEBHOOK, *_CONNECTION)
            .select_from(webhooks.join(connections))
            .where(condition),
        )


def _values(webhook: Webhook) -> dict[str, Any]:
    values = {column.name: getattr(webhook, column.name) for column in _WEBHOOK}
    return values | {"event_filter": list(webhook.event_filter)}


def _webhook(**row: Any) -> Webhook:
    values = {column.name: row[column.name] for column in _WEBHOOK}
    return Webhook(**values | {"event_filter": _filter(row["event_filter"])})


def _filter(kinds: object) -> tuple[int, ...]:
    """Decode the filter; if that fails, nothing is filtered out."""
    if not isinstance(kinds, list) or not all(isinstance(kind, int) for kind in kinds):
        return ()
    return tuple(kinds)


def _app_webhook(**row: Any) -> AppWebhook:
    label = "of_connection_"
    values = {name.removeprefix(label): row[name] for name in row if name.startswith(label)}
    return AppWebhook(
        webhook=_webhook(**row),
        connection=Connection(**values | {"kind": ConnectionKind(values["kind"])}),
    )
