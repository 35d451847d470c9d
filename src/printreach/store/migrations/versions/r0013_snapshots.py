"""Pictures that are kept."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """None are kept yet."""
    op.create_table(
        "snapshots",
        sa.Column("snapshot_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("snapshot_id", name="pk_snapshots"),
    )
    op.create_index("ix_snapshots_account_id", "snapshots", ["account_id"])
    op.create_index("ix_snapshots_taken_at", "snapshots", ["taken_at"])
    op.create_index("ix_snapshots_printer_id", "snapshots", ["printer_id", "taken_at"])
    op.create_table(
        "last_pictures",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("snapshot_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("printer_id", name="pk_last_pictures"),
        sa.ForeignKeyConstraint(
            ["printer_id"],
            ["printers.printer_id"],
            name="fk_last_pictures_printer_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_last_pictures_snapshot_id", "last_pictures", ["snapshot_id"])
