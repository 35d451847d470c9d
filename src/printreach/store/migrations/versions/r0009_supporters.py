"""What is paid, what operators decide, and what they did."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number

revision = "0009"
down_revision = "0008"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables; there were no payments and no decisions before."""
    op.add_column("accounts", sa.Column("paid_until", _INSTANT))
    _make_payments()
    op.create_table(
        "account_limits",
        sa.Column("account_id", sa.String(64), nullable=False),
        *_limits(),
        sa.PrimaryKeyConstraint("account_id", name="pk_account_limits"),
        _of_account("account_limits"),
    )
    op.create_table(
        "service_limits",
        sa.Column("row_id", sa.Integer(), nullable=False, autoincrement=False),
        *_limits(),
        sa.PrimaryKeyConstraint("row_id", name="pk_service_limits"),
    )
    op.create_table(
        "operator_acts",
        sa.Column("act_id", Number, nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("operator", sa.String(254), nullable=False),
        sa.Column("operator_id", sa.String(64)),
        sa.Column("act", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("detail", sa.String(500), nullable=False),
        sa.PrimaryKeyConstraint("act_id", name="pk_operator_acts"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_operator_acts_at", "operator_acts", ["at"])


def _make_payments() -> None:
    op.create_table(
        "payers",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("customer_id", sa.String(255)),
        sa.Column("checkout_id", sa.String(255)),
        sa.PrimaryKeyConstraint("account_id", name="pk_payers"),
        sa.UniqueConstraint("customer_id", name="uq_payers_customer_id"),
        _of_account("payers"),
    )
    op.create_table(
        "subscriptions",
        sa.Column("subscription_id", sa.String(255), nullable=False),
        sa.Column("customer_id", sa.String(255), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("begun_at", _INSTANT, nullable=False),
        sa.Column("period_begins_at", _INSTANT, nullable=False),
        sa.Column("period_ends_at", _INSTANT, nullable=False),
        sa.Column("ends_at", _INSTANT),
        sa.Column("asked_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("subscription_id", name="pk_subscriptions"),
        _of_account("subscriptions"),
    )
    op.create_index("ix_subscriptions_account_id", "subscriptions", ["account_id"])
    op.create_table(
        "payment_calls",
        sa.Column("event_id", sa.String(255), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="pk_payment_calls"),
    )
    op.create_index("ix_payment_calls_at", "payment_calls", ["at"])


def _limits() -> list[sa.Column[Any]]:
    return [
        sa.Column("upload_bytes", sa.BigInteger()),
        sa.Column("download_bytes", sa.BigInteger()),
        sa.Column("webcam_stream_s", sa.Integer()),
        sa.Column("app_connections", sa.Integer()),
        sa.Column("requests_a_minute", sa.Integer()),
    ]


def _of_account(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["account_id"],
        ["accounts.account_id"],
        name=f"fk_{table}_account_id",
        ondelete="CASCADE",
    )
