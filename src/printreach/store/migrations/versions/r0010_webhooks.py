"""Webhooks of apps, and what they are owed."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number, where

revision = "0010"
down_revision = "0009"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("connection_id", sa.String(64), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("event_filter", sa.JSON(), nullable=False),
        sa.Column("set_at", _INSTANT, nullable=False),
        sa.Column("failing_since", _INSTANT),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_success_at", _INSTANT),
        sa.Column("disabled_at", _INSTANT),
        sa.Column("disabled_reason", sa.String(500)),
        sa.Column("next_at", _INSTANT),
        sa.Column("lease", sa.String(64)),
        sa.PrimaryKeyConstraint("connection_id", name="pk_webhooks"),
        _of_connection("webhooks"),
    )
    op.create_index(
        "ix_webhooks_next_at",
        "webhooks",
        ["next_at"],
        **where("next_at IS NOT NULL"),
    )
    _create_deliveries()


def _create_deliveries() -> None:
    name = "webhook_deliveries"
    op.create_table(
        name,
        sa.Column("delivery_id", Number, nullable=False),
        sa.Column("connection_id", sa.String(64), nullable=False),
        sa.Column("event_id", sa.String(64), nullable=False),
        sa.Column("event_type", sa.Integer(), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", _INSTANT),
        sa.Column("attempted_at", _INSTANT),
        sa.Column("http_status", sa.Integer()),
        sa.Column("duration_ms", sa.Integer()),
        sa.Column("error", sa.String(500)),
        sa.Column("ended_at", _INSTANT),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_webhook_deliveries"),
        _of_connection(name),
        sqlite_autoincrement=True,
    )
    op.create_index(f"uq_{name}_event_id", name, ["event_id", "connection_id"], unique=True)
    op.create_index(f"ix_{name}_connection_id", name, ["connection_id", "delivery_id"])
    is_due = "due_at IS NOT NULL"
    op.create_index(
        f"ix_{name}_due_at",
        name,
        ["connection_id", "due_at"],
        **where(is_due),
    )
    op.create_index(
        f"ix_{name}_print_id",
        name,
        ["connection_id", "print_id", "delivery_id"],
        **where(f"{is_due} AND event_type = 6"),
    )
    op.create_index(
        f"ix_{name}_ended_at",
        name,
        ["ended_at"],
        **where("ended_at IS NOT NULL"),
    )


def _of_connection(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["connection_id"],
        ["connections.connection_id"],
        name=f"fk_{table}_connection_id",
        ondelete="CASCADE",
    )
