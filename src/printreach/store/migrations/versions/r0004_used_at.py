"""When a connection was last used."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Of connections of before it isn't known."""
    op.add_column("connections", sa.Column("used_at", sa.DateTime(timezone=True)))
