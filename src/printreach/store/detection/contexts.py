"""Contexts of the failure-detection API, as rows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    RowMapping,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from printreach.rules.detection import DEFAULT_LEVEL, DetectionContext
from printreach.rules.detection.contexts import StoredContext
from printreach.store.columns import Damaged, TableRecords, decoded
from printreach.store.detection import detection_keys
from printreach.store.tables import READABLE, Instant, accounts, metadata

detection_contexts = Table(
    "detection_contexts",
    metadata,
    Column("context_id", String(64), primary_key=True),
    Column(
        "key_id",
        ForeignKey(detection_keys.c.key_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("used_at", Instant, nullable=False),
    Column("version", Integer, nullable=False),
    Column("remembered", LargeBinary, nullable=False, info=READABLE),
    Index("ix_detection_contexts_account_id", "account_id", "used_at"),
)

# Each image executes these, so they are built once.
_GET = select(detection_contexts).where(detection_contexts.c.context_id == bindparam("wanted_id"))
_ADVANCE = (
    update(detection_contexts)
    .where(
        detection_contexts.c.context_id == bindparam("wanted_id"),
        detection_contexts.c.version == bindparam("version_before"),
    )
    .values({name: bindparam(name) for name in ("version", "used_at", "remembered")})
)


class ContextRecords(TableRecords):
    """Contexts of the failure-detection API. They are deleted with their key and their account."""

    async def add(self, stored: StoredContext, at_most: int) -> None:
        """Add a context; beyond at_most of its account the least recently used are evicted."""
        await self._make_room(stored.account_id, at_most - 1)
        await self._connection.execute(insert(detection_contexts).values(**_values(stored)))

    async def get(self, context_id: str) -> StoredContext | None:
        found = await self._connection.execute(_GET, {"wanted_id": context_id})
        row = found.mappings().first()
        return None if row is None else _kept(row)

    async def advance(self, stored: StoredContext) -> bool:
        """Store the next version. False where the one before it is not the stored one any more."""
        changed = await self._connection.execute(
            _ADVANCE,
            {
                "wanted_id": stored.context_id,
                "version_before": stored.version - 1,
                "version": stored.version,
                "used_at": stored.used_at,
                "remembered": written(stored.remembered),
            },
        )
        return bool(changed.rowcount)

    async def forget(self, created_before: datetime) -> None:
        await self._connection.execute(
            delete(detection_contexts).where(detection_contexts.c.created_at < created_before)
        )

    async def _make_room(self, account_id: str, at_most: int) -> None:
        is_theirs = detection_contexts.c.account_id == account_id
        count = await self._connection.scalar(
            select(func.count()).select_from(detection_contexts).where(is_theirs)
        )
        too_many = (count or 0) - at_most
        if too_many <= 0:
            return
        longest_resting = (
            select(detection_contexts.c.context_id)
            .where(is_theirs)
            .order_by(detection_contexts.c.used_at, detection_contexts.c.context_id)
            .limit(too_many)
        )
        await self._connection.execute(
            delete(detection_contexts).where(detection_contexts.c.context_id.in_(longest_resting))
        )


def _values(stored: StoredContext) -> dict[str, object]:
    return {
        "context_id": stored.context_id,
        "key_id": stored.key_id,
        "account_id": stored.account_id,
        "created_at": stored.created_at,
        "used_at": stored.used_at,
        "version": stored.version,
        "remembered": written(stored.remembered),
    }


def _kept(row: RowMapping) -> StoredContext:
    return StoredContext(**(dict(row) | {"remembered": remembered(row["remembered"])}))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Levels:
    """The levels, which the caller chose."""

    warning_level: int = DEFAULT_LEVEL
    pause_level: int = DEFAULT_LEVEL


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(DetectionContext)
_levels_decoder: Final = msgspec.json.Decoder(_Levels)


def written(context: DetectionContext) -> bytes:
    return _encoder.encode(context)


def remembered(data: bytes) -> DetectionContext:
    """Decode a context. A context of another version begins again at the chosen levels.

    If even those cannot be decoded, it begins at the defaults.
    """
    try:
        return decoded(_decoder, data)
    except Damaged:
        pass
    try:
        chosen = decoded(_levels_decoder, data)
        return DetectionContext(warning_level=chosen.warning_level, pause_level=chosen.pause_level)
    except (Damaged, ValueError):
        return DetectionContext()
