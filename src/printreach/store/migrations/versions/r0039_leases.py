"""Leases by name: of work that one worker at a time does, and that no other row stands for."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("leased_until", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_leases")),
    )
