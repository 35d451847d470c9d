"""Live Links."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the table; there are no Live Links yet."""
    op.create_table(
        "live_links",
        sa.Column("live_id", sa.String(64), nullable=False),
        sa.Column("short_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("connection_id", sa.String(64)),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("shows_names", sa.Boolean(), nullable=False),
        sa.Column("ended_at", _INSTANT),
        sa.Column("end", sa.String(16)),
        sa.Column("last_state", sa.String(16)),
        sa.Column("last_progress", sa.Integer()),
        sa.Column("last_file_name", sa.String(500), nullable=False),
        sa.PrimaryKeyConstraint("live_id", name="pk_live_links"),
        sa.UniqueConstraint("short_id", name="uq_live_links_short_id"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_live_links_account_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["printer_id"],
            ["printers.printer_id"],
            name="fk_live_links_printer_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_live_links_account_id", "live_links", ["account_id"])
    op.create_index("ix_live_links_printer_id", "live_links", ["printer_id"])
