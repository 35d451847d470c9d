"""The tables of what operators decide, and of the log of their acts."""

from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Table

from printreach.store.tables import Instant, accounts, metadata


def _limits() -> list[Column[Any]]:
    """The columns of limits, each null if it was not decided."""
    return [
        Column("upload_bytes", BigInteger),
        Column("download_bytes", BigInteger),
        Column("webcam_stream_s", Integer),
        Column("app_connections", Integer),
        Column("requests_a_minute", Integer),
    ]


account_limits = Table(
    "account_limits",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    *_limits(),
)

# One row, or none.
service_limits = Table(
    "service_limits",
    metadata,
    Column("row_id", Integer, primary_key=True, autoincrement=False),
    *_limits(),
)

# Without a reference to accounts: the log stays when an account is deleted.
operator_acts = Table(
    "operator_acts",
    metadata,
    Column("act_id", Integer, primary_key=True),
    Column("at", Instant, nullable=False, index=True),
    Column("operator", String(254), nullable=False),
    Column("operator_id", String(64)),
    Column("act", String(32), nullable=False),
    Column("subject", String(300), nullable=False),
    Column("detail", String(500), nullable=False),
    sqlite_autoincrement=True,
)
