"""A payment provider may know nothing of a customer any more."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("payers", sa.Column("unknown_since", sa.DateTime(timezone=True)))
