"""Progress that is stale is found by what was sent, too, and by the ends of prints."""

from alembic import op

from printreach.store.tables import where

revision = "0027"
down_revision = "0026"

_INDEX = "ix_webhook_deliveries_print_id"


def upgrade() -> None:
    op.drop_index(_INDEX, "webhook_deliveries")
    op.create_index(
        _INDEX,
        "webhook_deliveries",
        ["connection_id", "print_id", "delivery_id"],
        **where("event_type IN (2, 3, 6)"),
    )
