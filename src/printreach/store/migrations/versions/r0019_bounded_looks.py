"""What is looked for each hour, or with each event, is the beginning of an index."""

from alembic import op

from printreach.store.tables import where

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.drop_index("ix_notify_targets_leased_until", "notify_targets")
    op.create_index(
        "ix_notify_targets_leased_until",
        "notify_targets",
        ["leased_until"],
        **where("leased_until IS NOT NULL"),
    )
    op.create_index("ix_live_links_expires_at", "live_links", ["expires_at"])
    op.create_index(
        "ix_live_links_ended_at",
        "live_links",
        ["ended_at"],
        **where("ended_at IS NOT NULL"),
    )
    op.drop_index("ix_prints_printer_id", "prints")
    op.create_index(
        "ix_prints_printer_id", "prints", ["printer_id", "account_id", "started_at", "number"]
    )
    op.create_index("ix_prints_started_at", "prints", ["started_at"])
