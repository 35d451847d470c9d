"""Printers' own interfaces are open for as long as the browser is signed in that opened them."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """What is open already stays so for its twelve hours: who opened it isn't known."""
    for table in ("open_tickets", "cookie_sessions"):
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("session_id", sa.String(64)))
            batch.create_foreign_key(
                f"fk_{table}_session_id",
                "sessions",
                ["session_id"],
                ["session_id"],
                ondelete="CASCADE",
            )
            batch.create_index(f"ix_{table}_session_id", ["session_id"])
