"""Prints have timelapses."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.create_table(
        "timelapses",
        sa.Column("timelapse_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("gap_s", sa.Integer(), nullable=False),
        sa.Column("pictures", sa.Integer(), nullable=False),
        sa.Column("taken_at", Instant(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due_at", Instant()),
        sa.Column("leased_until", Instant()),
        sa.Column("video_id", sa.String(64)),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("made_at", Instant()),
        sa.PrimaryKeyConstraint("timelapse_id", name=op.f("pk_timelapses")),
        sa.UniqueConstraint("video_id", name=op.f("uq_timelapses_video_id")),
    )
    key = ["print_id", "printer_id", "account_id"]
    op.create_index("uq_timelapses_print_id", "timelapses", key, unique=True)
    op.create_index("ix_timelapses_account_id", "timelapses", ["account_id", "made_at"])
    op.create_index(op.f("ix_timelapses_due_at"), "timelapses", ["due_at"])
    op.create_index(op.f("ix_timelapses_made_at"), "timelapses", ["made_at"])
    op.create_table(
        "timelapse_pictures",
        sa.Column("snapshot_id", sa.String(64), nullable=False),
        sa.Column("timelapse_id", sa.String(64), nullable=False),
        sa.Column("taken_at", Instant(), nullable=False),
        sa.Column("is_events", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["timelapse_id"],
            ["timelapses.timelapse_id"],
            name=op.f("fk_timelapse_pictures_timelapse_id_timelapses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("snapshot_id", "timelapse_id", name=op.f("pk_timelapse_pictures")),
    )
    op.create_index(
        op.f("ix_timelapse_pictures_timelapse_id"), "timelapse_pictures", ["timelapse_id"]
    )
    op.create_table(
        "timelapse_days",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name=op.f("fk_timelapse_days_account_id_accounts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_timelapse_days")),
    )
