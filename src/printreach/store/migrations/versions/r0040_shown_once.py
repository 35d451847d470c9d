"""Secrets that are shown once wait in rows, sealed, so that any node can show them."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "shown_once",
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("about", sa.String(200), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name=op.f("fk_shown_once_account_id_accounts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "about", name=op.f("pk_shown_once")),
    )
    op.create_index(op.f("ix_shown_once_at"), "shown_once", ["at"])
