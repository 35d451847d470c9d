"""What a printer's owner chose for its cameras: names, rotations, flips."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.add_column("printers", sa.Column("cameras", sa.Text(), nullable=False, server_default="[]"))
