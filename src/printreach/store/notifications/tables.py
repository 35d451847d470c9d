"""The tables of notification settings, destinations and queued messages."""

from sqlalchemy import (
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from printreach.store.columns import LenientJson
from printreach.store.tables import Instant, Number, accounts, metadata, where_on_sqlite

notify_settings = Table(
    "notify_settings",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("events", LenientJson, nullable=False),
    Column("quiet_begins", String(5)),
    Column("quiet_ends", String(5)),
    Column("trouble_passes", Boolean, nullable=False),
    Column("zone", String(64), nullable=False),
)

# Not in the settings: it changes with each message.
notify_counts = Table(
    "notify_counts",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("day", Date, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("was_told", Boolean, nullable=False),
)

notify_printers = Table(
    "notify_printers",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("printer_id", String(64), primary_key=True),
    Column("events", LenientJson, nullable=False),
)

notify_targets = Table(
    "notify_targets",
    metadata,
    Column("target_id", String(64), primary_key=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("way", String(16), nullable=False),
    Column("label", String(400), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant),
    Column("failures", Integer, nullable=False),
    Column("trouble", String(400), nullable=False),
    # When something is to be sent to it; null while nothing is queued.
    Column("due_at", Instant),
    Column("leased_until", Instant),
    Index("ix_notify_targets_account_id", "account_id"),
    Index("ix_notify_targets_due_at", "due_at"),
    Index(
        "ix_notify_targets_leased_until",
        "leased_until",
        **where_on_sqlite("leased_until IS NOT NULL"),
    ),
)

# AUTOINCREMENT: a worker that is late at dropping what it sent must not drop another message.
notify_messages = Table(
    "notify_messages",
    metadata,
    Column("message_id", Number, primary_key=True),
    Column("target_id", ForeignKey(notify_targets.c.target_id, ondelete="CASCADE"), nullable=False),
    Column("title", String(200), nullable=False),
    Column("text", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    # Of the event that it tells of; null in messages of before.
    Column("event_seq", Number),
    Index("ix_notify_messages_target_id", "target_id", "due_at", "message_id"),
    sqlite_autoincrement=True,
)

# What is known of a target that is a browser. session_id: without a reference, since a session that
# expires by itself does not end the subscription, as signing out does.
push_devices = Table(
    "push_devices",
    metadata,
    Column(
        "target_id", ForeignKey(notify_targets.c.target_id, ondelete="CASCADE"), primary_key=True
    ),
    Column("session_id", String(64), nullable=False),
    Column("subscription_digest", LargeBinary(32), nullable=False, unique=True),
    Index("ix_push_devices_session_id", "session_id"),
)

# target_id: without a reference, since what was done stays when its device is removed.
push_acts = Table(
    "push_acts",
    metadata,
    Column("token_digest", LargeBinary(32), primary_key=True),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("target_id", String(64), nullable=False),
    Column("device", String(400), nullable=False),
    Column("printer_id", String(64), nullable=False),
    Column("print_id", String(64), nullable=False),
    Column("act", String(16), nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("outcome", Text, nullable=False),
    Index("ix_push_acts_account_id", "account_id"),
    Index("ix_push_acts_print_id", "printer_id", "print_id"),
    Index("ix_push_acts_expires_at", "expires_at"),
)
