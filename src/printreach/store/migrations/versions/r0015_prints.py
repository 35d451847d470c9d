"""The print history."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number

revision = "0015"
down_revision = "0014"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """It begins with the next event."""
    op.create_table(
        "prints",
        sa.Column("number", Number, nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("printer_name", sa.String(60), nullable=False),
        sa.Column("file_name", sa.String(500), nullable=False),
        sa.Column("started_at", _INSTANT, nullable=False),
        sa.Column("start_is_known", sa.Boolean(), nullable=False),
        sa.Column("heard_at", _INSTANT, nullable=False),
        sa.Column("ended_at", _INSTANT),
        sa.Column("duration_s", sa.Integer()),
        sa.Column("progress", sa.Integer()),
        sa.Column("result", sa.String(16), nullable=False),
        sa.Column("error", sa.String(500), nullable=False),
        sa.Column("filament_mm", sa.Integer()),
        sa.Column("filament_mg", sa.Integer()),
        sa.Column("snapshot_id", sa.String(64)),
        sa.PrimaryKeyConstraint("number", name="pk_prints"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_prints_account_id",
            ondelete="CASCADE",
        ),
    )
    key = ["print_id", "printer_id", "account_id"]
    op.create_index("uq_prints_print_id", "prints", key, unique=True)
    op.create_index("ix_prints_account_id", "prints", ["account_id", "started_at", "number"])
    op.create_index("ix_prints_printer_id", "prints", ["printer_id", "started_at", "number"])
