"""The tables of webhooks and of their deliveries."""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, String, Table

from printreach.store.damaged import LenientJson
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
