"""Browsers become targets of notifications, and notifications get buttons."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant, Number

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.add_column("notify_messages", sa.Column("event_seq", Number))
    op.create_table(
        "push_devices",
        sa.Column("target_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("subscription_digest", sa.LargeBinary(32), nullable=False),
        sa.ForeignKeyConstraint(["target_id"], ["notify_targets.target_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("target_id"),
        sa.UniqueConstraint("subscription_digest"),
    )
    op.create_index("ix_push_devices_session_id", "push_devices", ["session_id"])
    op.create_table(
        "push_acts",
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("target_id", sa.String(64), nullable=False),
        sa.Column("device", sa.String(400), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("act", sa.String(16), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.Column("used_at", Instant()),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.account_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_digest"),
    )
    op.create_index("ix_push_acts_account_id", "push_acts", ["account_id"])
    op.create_index("ix_push_acts_print_id", "push_acts", ["printer_id", "print_id"])
    op.create_index("ix_push_acts_expires_at", "push_acts", ["expires_at"])
