"""The language of an account: chosen by its owner, and of the browser that signed in last."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    for name in ("language", "browser_language"):
        op.add_column("accounts", sa.Column(name, sa.String(16), nullable=False, server_default=""))
