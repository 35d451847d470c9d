"""Connections have permissions, and accounts a lock of remote control.

Connections that are there already keep all that they could do.
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    for table in ("connections", "portal_flows"):
        op.add_column(
            table,
            sa.Column(
                "permissions",
                sa.String(64),
                nullable=False,
                server_default="control,files,camera,interface",
            ),
        )
    op.add_column("accounts", sa.Column("locked_at", sa.DateTime(timezone=True)))
