"""Secrets of authenticator apps may be sealed."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Those of before lie open; the next start seals them, for a migration has no keys."""
    op.add_column(
        "totp_apps",
        sa.Column("is_sealed", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
