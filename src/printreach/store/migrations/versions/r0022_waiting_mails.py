"""Mails about accounts wait in rows, sealed, until the mail server has them."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "waiting_mails",
        sa.Column("mail_id", sa.String(64), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("until", Instant(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("mail_id"),
    )
    op.create_index("ix_waiting_mails_due_at", "waiting_mails", ["due_at"])
    op.create_index("ix_waiting_mails_until", "waiting_mails", ["until"])
