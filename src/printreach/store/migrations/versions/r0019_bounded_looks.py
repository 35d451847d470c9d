"""What is looked for each hour, or with each event, is the beginning of an index."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.drop_index("ix_notify_targets_leased_until", "notify_targets")
    op.create_index(
        "ix_notify_targets_leased_until",
        "notify_targets",
        ["leased_until"],
        sqlite_where=sa.text("leased_until IS NOT NULL"),
    )
    op.create_index("ix_live_links_expires_at", "live_links", ["expires_at"])
    op.create_index(
        "ix_live_links_ended_at",
        "live_links",
        ["ended_at"],
        sqlite_where=sa.text("ended_at IS NOT NULL"),
    )
    op.drop_index("ix_prints_printer_id", "prints")
    op.create_index(
        "ix_prints_printer_id", "prints", ["printer_id", "account_id", "started_at", "number"]
    )
    op.create_index("ix_prints_started_at", "prints", ["started_at"])
