"""The tables of whom a printer's owner let in, and of the orders that people gave.

Each row names the owner beside the printer, and readers compare both: a printer's next owner has
nothing to do with the rows of the former one.
"""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, String, Table

from printreach.rules.printers.commands import MAX_SUBJECT
from printreach.store.tables import (
    Instant,
    Number,
    account_column,
    accounts,
    metadata,
    printer_column,
)

members = Table(
    "printer_members",
    metadata,
    printer_column(primary_key=True),
    account_column(),
    Column(
        "person_id",
        String(64),
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        primary_key=True,
        nullable=False,
        index=True,
    ),
    Column("role", String(16), nullable=False),
    Column("since", Instant, nullable=False),
    Column("seen_at", Instant),
)

member_invitations = Table(
    "printer_invitations",
    metadata,
    Column("invitation_id", String(64), primary_key=True),
    Column("token_digest", LargeBinary(32), nullable=False, unique=True),
    printer_column(),
    account_column(),
    Column("role", String(16), nullable=False),
    Column("email", String(254)),
    Column("uses_left", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
    Index("ix_printer_invitations_printer_id", "printer_id"),
)

# An order stays with the account in whose time it was given, as prints do.
given_orders = Table(
    "given_orders",
    metadata,
    Column("number", Number, primary_key=True),
    account_column(),
    Column("printer_id", String(64), nullable=False),
    Column(
        "person_id",
        String(64),
        ForeignKey(accounts.c.account_id, ondelete="SET NULL"),
        index=True,
    ),
    Column("at", Instant, nullable=False),
    Column("command", String(32), nullable=False),
    Column("subject", String(MAX_SUBJECT), nullable=False),
    Index("ix_given_orders_printer_id", "printer_id", "account_id", "at"),
)

OF_A_LINK = (members, member_invitations)
"""The tables whose rows are deleted when the printer leaves its owner."""
