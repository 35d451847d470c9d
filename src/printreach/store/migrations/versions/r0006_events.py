"""Events of printers."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number, where

revision = "0006"
down_revision = "0005"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("seq", Number, nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("event_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", _INSTANT, nullable=False),
        sa.Column("snapshot_id", sa.String(64)),
        sa.Column("position", Number),
        sa.PrimaryKeyConstraint("seq", name="pk_events"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_events_account_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_events_event_id", "events", ["event_id", "printer_id"], unique=True)
    op.create_index("ix_events_account_id", "events", ["account_id", "position"])
    op.create_index("ix_events_position", "events", ["position"], unique=True)
    op.create_index(
        "ix_events_awaiting",
        "events",
        ["seq"],
        **where("position IS NULL"),
    )
    op.create_index("ix_events_received_at", "events", ["received_at"])
