"""Contexts of the failure-detection API."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the table; there were no contexts before."""
    op.create_table(
        "detection_contexts",
        sa.Column("context_id", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("remembered", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("context_id", name="pk_detection_contexts"),
        sa.ForeignKeyConstraint(
            ["key_id"],
            ["detection_keys.key_id"],
            name="fk_detection_contexts_key_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.account_id"],
            name="fk_detection_contexts_account_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_detection_contexts_key_id", "detection_contexts", ["key_id"])
    op.create_index("ix_detection_contexts_created_at", "detection_contexts", ["created_at"])
    op.create_index(
        "ix_detection_contexts_account_id", "detection_contexts", ["account_id", "used_at"]
    )
