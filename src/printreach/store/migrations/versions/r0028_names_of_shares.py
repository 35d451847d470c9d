"""Shares are named for whom they are, and a flow of the portal may replace earlier connections."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.add_column(
        "connections", sa.Column("name", sa.String(60), nullable=False, server_default="")
    )
    op.add_column(
        "portal_flows",
        sa.Column("replaces_earlier", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
