"""What people are told, and where; and the tokens of their own programs."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number, where

revision = "0007"
down_revision = "0006"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables; no one is notified until they add a destination."""
    op.create_table(
        "notify_settings",
        _account("notify_settings"),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("quiet_begins", sa.String(5)),
        sa.Column("quiet_ends", sa.String(5)),
        sa.Column("trouble_passes", sa.Boolean(), nullable=False),
        sa.Column("zone", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_notify_settings"),
    )
    op.create_table(
        "notify_counts",
        _account("notify_counts"),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("was_told", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name="pk_notify_counts"),
    )
    op.create_table(
        "notify_printers",
        _account("notify_printers"),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "printer_id", name="pk_notify_printers"),
    )
    _create_targets()
    op.create_table(
        "access_tokens",
        sa.Column("token_id", sa.String(64), nullable=False),
        _account("access_tokens"),
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT),
        sa.PrimaryKeyConstraint("token_id", name="pk_access_tokens"),
        sa.UniqueConstraint("token_digest", name="uq_access_tokens_token_digest"),
    )
    op.create_index("ix_access_tokens_account_id", "access_tokens", ["account_id"])


def _create_targets() -> None:
    op.create_table(
        "notify_targets",
        sa.Column("target_id", sa.String(64), nullable=False),
        _account("notify_targets"),
        sa.Column("way", sa.String(16), nullable=False),
        sa.Column("label", sa.String(400), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("sent_at", _INSTANT),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("trouble", sa.String(400), nullable=False),
        sa.Column("due_at", _INSTANT),
        sa.Column("leased_until", _INSTANT),
        sa.PrimaryKeyConstraint("target_id", name="pk_notify_targets"),
    )
    op.create_index("ix_notify_targets_account_id", "notify_targets", ["account_id"])
    op.create_index("ix_notify_targets_due_at", "notify_targets", ["due_at"])
    op.create_index(
        "ix_notify_targets_leased_until",
        "notify_targets",
        ["account_id", "leased_until"],
        **where("leased_until IS NOT NULL"),
    )
    op.create_table(
        "notify_messages",
        sa.Column("message_id", Number, nullable=False),
        sa.Column(
            "target_id",
            sa.String(64),
            sa.ForeignKey(
                "notify_targets.target_id",
                name="fk_notify_messages_target_id",
                ondelete="CASCADE",
            ),
            nullable=False,
        ),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("made_at", _INSTANT, nullable=False),
        sa.Column("due_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_notify_messages"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_notify_messages_target_id", "notify_messages", ["target_id", "due_at", "message_id"]
    )


def _account(table: str) -> sa.Column[str]:
    """The account that it belongs to, and with which it is deleted."""
    return sa.Column(
        "account_id",
        sa.String(64),
        sa.ForeignKey("accounts.account_id", name=f"fk_{table}_account_id", ondelete="CASCADE"),
        nullable=False,
    )
