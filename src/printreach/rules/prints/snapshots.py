"""Snapshots: pictures that are kept for a while, each at an unguessable address."""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

KEPT_FOR: Final = timedelta(days=7)
MAX_PER_PRINTER: Final = 2500
MAX_BYTES_PER_PRINTER: Final = 512 * 1024 * 1024
"""A week of one-hour prints has some 2,200 pictures of 200 kB, and apps are promised that each is
kept for that week; of many more, the oldest are deleted."""
MAX_BYTES_PER_ACCOUNT: Final = 16 * 1024**3
"""Of 32 printers with all that each may have. Anybody may link printers that don't exist."""
ACCOUNT_CHECKED_APART: Final = timedelta(minutes=1)
LAST_APART: Final = timedelta(minutes=5)
"""The interval at which the last picture of a printer is renewed while it is viewed."""
_ID: Final = re.compile(r"[a-z2-7]{32}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A stored picture. snapshot_id: its address and its name in the store."""

    snapshot_id: str
    account_id: str
    printer_id: str
    taken_at: datetime
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Bucket:
    """A bucket with an S3 API. prefix: of the names in it, with a final slash, or ""."""

    endpoint: str
    bucket: str
    prefix: str
    region: str
    key_id: str
    secret: str = field(repr=False)


def is_snapshot_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def may_be_shown(snapshot: Snapshot, at: datetime) -> bool:
    """Whether the picture may be shown; the last instant is excluded."""
    return at < snapshot.taken_at + KEPT_FOR
