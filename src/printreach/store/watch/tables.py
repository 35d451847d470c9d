"""The tables of the failure watch.

All rows are deleted with the printer's link, and with the account: `PrinterRecords.remove` and the
references see to it. Each row names the account beside the printer, and readers compare both.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
)

from printreach.store.tables import (
    READABLE,
    Instant,
    Number,
    account_column,
    metadata,
    printer_column,
    where_on_sqlite,
)

watch_settings = Table(
    "watch_settings",
    metadata,
    printer_column(primary_key=True),
    account_column(),
    Column("content", LargeBinary, nullable=False, info=READABLE),
)

# A printer prints one thing at a time: at most one of its rows has no end.
watches = Table(
    "watches",
    metadata,
    printer_column(primary_key=True),
    Column("print_id", String(64), primary_key=True),
    account_column(),
    Column("memory", LargeBinary, nullable=False, info=READABLE),
    Column("due_at", Instant, nullable=False),
    Column("falters", Boolean, nullable=False),
    Column("token", String(64)),
    Column("resumed_at", Instant),
    Column("ended_at", Instant, index=True),
    # Ended watches stay for a week; the index spares searching them each second.
    Index("ix_watches_due_at", "falters", "due_at", **where_on_sqlite("ended_at IS NULL")),
)

watch_looks = Table(
    "watch_looks",
    metadata,
    Column("number", Number, primary_key=True),
    printer_column(),
    Column("print_id", String(64), nullable=False),
    account_column(),
    Column("at", Instant, nullable=False, index=True),
    Column("probability", Float, nullable=False),
    Column("score", Integer, nullable=False),
    Column("quality", Integer, nullable=False),
    Column("view", String(16), nullable=False),
    Column("warned", Boolean, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("evidence", LargeBinary, info=READABLE),
    Column("picture", String(64)),
    Column("camera", Integer),
    Index("ix_watch_looks_print", "printer_id", "print_id", "number"),
)

watch_judgements = Table(
    "watch_judgements",
    metadata,
    printer_column(primary_key=True),
    Column("print_id", String(64), primary_key=True),
    account_column(),
    Column("camera", Integer),
    Column("at", Instant, nullable=False, index=True),
    Column("was_failure", Boolean, nullable=False),
    Column("picture", String(64), index=True),
)

# What a camera has learnt from prints that ended well.
watch_backgrounds = Table(
    "watch_backgrounds",
    metadata,
    printer_column(primary_key=True),
    Column("camera", Integer, primary_key=True, autoincrement=False),
    account_column(),
    Column("content", LargeBinary, nullable=False, info=READABLE),
)

OF_A_LINK = (watch_settings, watches, watch_looks, watch_judgements, watch_backgrounds)
"""The tables of one owner's data, deleted when the printer leaves them."""
