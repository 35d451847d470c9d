"""Owners let other people in to a printer, and the orders that people give are kept."""

import sqlalchemy as sa
from alembic import op

from printreach.store.tables import Instant, Number

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.create_table(
        "printer_members",
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("person_id", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("since", Instant(), nullable=False),
        sa.Column("seen_at", Instant()),
        sa.ForeignKeyConstraint(["printer_id"], ["printers.printer_id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.account_id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["accounts.account_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("printer_id", "person_id"),
    )
    op.create_index("ix_printer_members_account_id", "printer_members", ["account_id"])
    op.create_index("ix_printer_members_person_id", "printer_members", ["person_id"])
    op.create_table(
        "printer_invitations",
        sa.Column("invitation_id", sa.String(64), nullable=False),
        sa.Column("token_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["printer_id"], ["printers.printer_id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.account_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("invitation_id"),
        sa.UniqueConstraint("token_digest"),
    )
    for column in ("printer_id", "account_id", "expires_at"):
        op.create_index(f"ix_printer_invitations_{column}", "printer_invitations", [column])
    op.create_table(
        "given_orders",
        sa.Column("number", Number, nullable=False),
        sa.Column("account_id", sa.String(64), nullable=False),
        sa.Column("printer_id", sa.String(64), nullable=False),
        sa.Column("person_id", sa.String(64)),
        sa.Column("at", Instant(), nullable=False),
        sa.Column("command", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.account_id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["accounts.account_id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("ix_given_orders_account_id", "given_orders", ["account_id"])
    op.create_index("ix_given_orders_person_id", "given_orders", ["person_id"])
    op.create_index(
        "ix_given_orders_printer_id", "given_orders", ["printer_id", "account_id", "at"]
    )
