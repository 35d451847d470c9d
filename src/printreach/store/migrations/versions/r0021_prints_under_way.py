"""Whether a print is due to be looked at is told by those under way, however many have ended."""

from alembic import op

from printreach.store.tables import where

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.drop_index("ix_watches_due_at", "watches")
    op.create_index(
        "ix_watches_due_at",
        "watches",
        ["falters", "due_at"],
        **where("ended_at IS NULL"),
    )
