"""The tables of payments; no card and no postal address is stored."""

from sqlalchemy import Column, ForeignKey, String, Table

from printreach.store.tables import Instant, accounts, metadata

# A customer stays one, whichever page of the provider was opened last.
payers = Table(
    "payers",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("customer_id", String(255), unique=True),
    Column("checkout_id", String(255)),
    Column("unknown_since", Instant),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("subscription_id", String(255), primary_key=True),
    Column("customer_id", String(255), nullable=False),
    Column(
        "account_id",
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("state", String(16), nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("period_begins_at", Instant, nullable=False),
    Column("period_ends_at", Instant, nullable=False),
    Column("ends_at", Instant),
    Column("asked_at", Instant, nullable=False),
)

# So that a repeated webhook does not ask the provider again.
payment_calls = Table(
    "payment_calls",
    metadata,
    Column("event_id", String(255), primary_key=True),
    Column("at", Instant, nullable=False, index=True),
)
