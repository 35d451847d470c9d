"""Operators may block accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("accounts", sa.Column("blocked_at", sa.DateTime(timezone=True)))
