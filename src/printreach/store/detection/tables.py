"""The tables of the failure-detection API; tables.py has the tables that they refer to."""

from sqlalchemy import Boolean, Column, Date, ForeignKey, Index, Integer, LargeBinary, String, Table

from printreach.store.tables import Instant, accounts, metadata

_ACCOUNT = accounts.c.account_id

detection_keys = Table(
    "detection_keys",
    metadata,
    Column("key_id", String(64), primary_key=True),
    Column("account_id", ForeignKey(_ACCOUNT, ondelete="CASCADE"), nullable=False, index=True),
    Column("name", String(60), nullable=False),
    Column("key_digest", LargeBinary(32), nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant),
    Column("disabled_at", Instant),
)

# Without a reference to its key, which may be deleted: past use stays counted.
detection_usage = Table(
    "detection_usage",
    metadata,
    Column("key_id", String(64), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("account_id", ForeignKey(_ACCOUNT, ondelete="CASCADE"), nullable=False),
    Column("calls", Integer, nullable=False),
    Column("paid_calls", Integer, nullable=False),
    Index("ix_detection_usage_account_id", "account_id", "day"),
)

detection_switches = Table(
    "detection_switches",
    metadata,
    Column("account_id", ForeignKey(_ACCOUNT, ondelete="CASCADE"), primary_key=True),
    Column("free_only", Boolean, nullable=False),
    Column("billing", String(16), nullable=False),
)

detection_claims = Table(
    "detection_claims",
    metadata,
    Column("network", String(64), primary_key=True),
    Column("account_id", ForeignKey(_ACCOUNT, ondelete="CASCADE"), nullable=False, index=True),
    Column("claimed_at", Instant, nullable=False),
    Column("used_at", Instant, nullable=False, index=True),
)
