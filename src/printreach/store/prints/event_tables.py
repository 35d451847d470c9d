"""The table of events: the inbox, and what streams resume from."""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, String, Table
from sqlalchemy.sql.expression import text

from printreach.store.tables import READABLE, Instant, accounts, metadata

# AUTOINCREMENT: the number of a row that was pruned must not come again.
events = Table(
    "events",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("printer_id", String(64), nullable=False),
    Column("event_id", String(64), nullable=False),
    # An event stays with the account it happened in, also when the printer has another.
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("content", LargeBinary, nullable=False, info=READABLE),
    Column("received_at", Instant, nullable=False),
    Column("snapshot_id", String(64)),
    # The order in which they were handed out; a printer whose picture takes long comes later. Below
    # 0: it was set aside, since it cannot be decoded.
    Column("position", Integer),
    Index("uq_events_event_id", "event_id", "printer_id", unique=True),
    Index("ix_events_account_id", "account_id", "position"),
    Index("ix_events_position", "position", unique=True),
    Index("ix_events_awaiting", "seq", sqlite_where=text("position IS NULL")),
    Index("ix_events_received_at", "received_at"),
    sqlite_autoincrement=True,
)
