"""The watch over prints."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Number

revision = "0018"
down_revision = "0017"

_INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """It begins with the prints that are under way."""
    op.create_table(
        "watch_settings",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("printer_id", name="pk_watch_settings"),
        *_references("watch_settings"),
    )
    op.create_table(
        "watches",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("memory", sa.LargeBinary(), nullable=False),
        sa.Column("due_at", _INSTANT, nullable=False),
        sa.Column("falters", sa.Boolean(), nullable=False),
        sa.Column("token", sa.String(64)),
        sa.Column("resumed_at", _INSTANT),
        sa.Column("ended_at", _INSTANT),
        sa.PrimaryKeyConstraint("printer_id", "print_id", name="pk_watches"),
        *_references("watches"),
    )
    op.create_table(
        "watch_looks",
        sa.Column("number", Number, nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("quality", sa.Integer(), nullable=False),
        sa.Column("view", sa.String(16), nullable=False),
        sa.Column("warned", sa.Boolean(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.LargeBinary()),
        sa.Column("picture", sa.String(64)),
        sa.PrimaryKeyConstraint("number", name="pk_watch_looks"),
        *_references("watch_looks"),
    )
    op.create_table(
        "watch_judgements",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("print_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("camera", sa.Integer()),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("was_failure", sa.Boolean(), nullable=False),
        sa.Column("picture", sa.String(64)),
        sa.PrimaryKeyConstraint("printer_id", "print_id", name="pk_watch_judgements"),
        *_references("watch_judgements"),
    )
    for table in ("watch_settings", "watches", "watch_looks", "watch_judgements"):
        op.create_index(f"ix_{table}_account_id", table, ["account_id"])
    op.create_index("ix_watches_due_at", "watches", ["falters", "due_at"])
    op.create_index("ix_watches_ended_at", "watches", ["ended_at"])
    op.create_index("ix_watch_looks_at", "watch_looks", ["at"])
    op.create_index("ix_watch_looks_print", "watch_looks", ["printer_id", "print_id", "number"])
    op.create_index("ix_watch_judgements_at", "watch_judgements", ["at"])
    op.create_index("ix_watch_judgements_picture", "watch_judgements", ["picture"])


def _references(table: str) -> list[sa.ForeignKeyConstraint]:
    """Of a table, to whose printer and account its rows are."""
    return [
        sa.ForeignKeyConstraint(
            [column],
            [f"{to}.{column}"],
            name=f"fk_{table}_{column}",
            ondelete="CASCADE",
        )
        for to, column in (("printers", "printer_id"), ("accounts", "account_id"))
    ]
