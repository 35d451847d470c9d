"""Callers of the failure-detection API, as rows; contexts.py has their contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    bindparam,
    delete,
    extract,
    func,
    insert,
    or_,
    select,
    update,
)

from printreach.rules.detection.access import DetectionCaller, DetectionKey
from printreach.rules.detection.address_claims import AddressClaim
from printreach.rules.detection.usage import Billing, Calls, DayOfUse, Month, Switches
from printreach.store.columns import TableRecords, columns_for
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

_KEY = columns_for(DetectionKey, detection_keys)
_CLAIM = columns_for(AddressClaim, detection_claims)

# Each call of the API executes this, so it is one statement, and built once.
_CALLER = (
    select(
        *_KEY,
        detection_switches.c.free_only,
        detection_switches.c.billing,
        detection_claims.c.account_id.label("claim_account_id"),
        detection_claims.c.network,
        detection_claims.c.claimed_at,
        detection_claims.c.used_at,
        select(func.coalesce(func.sum(detection_usage.c.calls), 0))
        .where(
            detection_usage.c.account_id == detection_keys.c.account_id,
            detection_usage.c.day >= bindparam("first"),
            detection_usage.c.day < bindparam("end"),
        )
        .scalar_subquery()
        .label("calls"),
        accounts.c.blocked_at.is_not(None).label("is_blocked"),
    )
    .join(accounts, accounts.c.account_id == detection_keys.c.account_id)
    .outerjoin(detection_switches, detection_switches.c.account_id == detection_keys.c.account_id)
    .outerjoin(detection_claims, detection_claims.c.network == bindparam("network"))
    .where(detection_keys.c.key_digest == bindparam("key_digest"))
)


class DetectionKeyRecords(TableRecords):
    """API keys, found by their digests."""

    async def add(self, key: DetectionKey, key_digest: bytes) -> None:
        await self._connection.execute(
            insert(detection_keys).values(**asdict(key), key_digest=key_digest)
        )

    async def get(self, key_id: str) -> DetectionKey | None:
        return await self._one(detection_keys.c.key_id == key_id)

    async def caller(
        self, key_digest: bytes, network: str | None, month: Month
    ) -> DetectionCaller | None:
        """Return all that is needed to decide on one call; None for an unknown key.

        network: whose claim is looked up. month: whose calls of the account are counted.
        """
        found = await self._connection.execute(
            _CALLER,
            {
                "key_digest": key_digest,
                "network": network,
                "first": month.first_day,
                "end": month.following.first_day,
            },
        )
        row = found.mappings().first()
        return None if row is None else _caller(row)

    async def of_account(self, account_id: str) -> list[DetectionKey]:
        """Return the account's keys, including disabled ones, newest first."""
        return await self._all(
            DetectionKey,
            select(*_KEY)
            .where(detection_keys.c.account_id == account_id)
            .order_by(detection_keys.c.created_at.desc(), detection_keys.c.key_id),
        )

    async def disable(self, key_id: str, at: datetime) -> None:
        """Disable a key; a disabled key keeps its time."""
        await self._connection.execute(
            update(detection_keys)
            .where(detection_keys.c.key_id == key_id, detection_keys.c.disabled_at.is_(None))
            .values(disabled_at=at)
        )

    async def note_use(self, key_id: str, at: datetime) -> None:
        """Store when it was last used; an earlier time changes nothing."""
        used = detection_keys.c.last_used_at
        await self._connection.execute(
            update(detection_keys)
            .where(detection_keys.c.key_id == key_id, or_(used.is_(None), used < at))
            .values(last_used_at=at)
        )

    async def forget(self, key_id: str) -> None:
        await self._connection.execute(
            delete(detection_keys).where(detection_keys.c.key_id == key_id)
        )

    async def _one(self, condition: ColumnElement[bool]) -> DetectionKey | None:
        return await self._first(DetectionKey, select(*_KEY).where(condition))


class UsageRecords(TableRecords):
    """Calls by key and UTC day. The count of a day outlives its key."""

    async def add(self, key_id: str, day: date, calls: Calls) -> None:
        """Add to the count. Does nothing if there is no such key."""
        here = (detection_usage.c.key_id == key_id) & (detection_usage.c.day == day)
        changed = await self._connection.execute(
            update(detection_usage)
            .where(here)
            .values(
                calls=detection_usage.c.calls + calls.all,
                paid_calls=detection_usage.c.paid_calls + calls.paid,
            )
        )
        if changed.rowcount:
            return
        owner = detection_keys.c.account_id
        account_id = await self._connection.scalar(
            select(owner).where(detection_keys.c.key_id == key_id)
        )
        if account_id is not None:
            await self._connection.execute(
                insert(detection_usage).values(
                    key_id=key_id,
                    day=day,
                    account_id=account_id,
                    calls=calls.all,
                    paid_calls=calls.paid,
                )
            )

    async def of_month(self, account_id: str, month: Month) -> list[DayOfUse]:
        """Return the use of a month, by day, then key."""
        found = await self._connection.execute(
            select(detection_usage)
            .where(*_in(account_id, month))
            .order_by(detection_usage.c.day, detection_usage.c.key_id)
        )
        return [
            DayOfUse(
                account_id=account_id,
                key_id=row["key_id"],
                day=row["day"],
                calls=Calls(all=row["calls"], paid=row["paid_calls"]),
            )
            for row in found.mappings()
        ]

    async def months(self, account_id: str) -> Sequence[Month]:
        """Return the months with any use, newest first."""
        year, number = (extract(part, detection_usage.c.day) for part in ("year", "month"))
        found = await self._connection.execute(
            select(year, number).where(detection_usage.c.account_id == account_id).distinct()
        )
        return sorted((Month(int(row[0]), int(row[1])) for row in found), reverse=True)


class SwitchRecords(TableRecords):
    """The accounts' choices about paying."""

    async def get(self, account_id: str) -> Switches | None:
        """Return the choice; None if the account never chose."""
        found = await self._connection.execute(
            select(detection_switches).where(detection_switches.c.account_id == account_id)
        )
        row = found.mappings().first()
        if row is None:
            return None
        return Switches(free_only=row["free_only"], billing=Billing(row["billing"]))

    async def put(self, account_id: str, switches: Switches) -> None:
        await self._connection.execute(
            delete(detection_switches).where(detection_switches.c.account_id == account_id)
        )
        await self._connection.execute(
            insert(detection_switches).values(
                account_id=account_id,
                free_only=switches.free_only,
                billing=switches.billing.value,
            )
        )


class ClaimRecords(TableRecords):
    """Public networks that accounts call from."""

    async def get(self, network: str) -> AddressClaim | None:
        return await self._first(
            AddressClaim, select(*_CLAIM).where(detection_claims.c.network == network)
        )

    async def put(self, claim: AddressClaim) -> None:
        """Store a claim, in place of an earlier one of that network.

        Does nothing for an unknown account.
        """
        await self.release(claim.network)
        owner = accounts.c.account_id
        if await self._connection.scalar(select(owner).where(owner == claim.account_id)):
            await self._connection.execute(insert(detection_claims).values(**asdict(claim)))

    async def all(self) -> list[AddressClaim]:
        return await self._all(AddressClaim, select(*_CLAIM).order_by(detection_claims.c.network))

    async def release(self, network: str) -> bool:
        """Release a claim; return whether there was one."""
        return (
            await self._changed(
                delete(detection_claims).where(detection_claims.c.network == network)
            )
            > 0
        )

    async def forget(self, used_before: datetime) -> None:
        await self._connection.execute(
            delete(detection_claims).where(detection_claims.c.used_at < used_before)
        )


def _caller(row: Mapping[Any, Any]) -> DetectionCaller:
    has_chosen, is_claimed = row["billing"] is not None, row["network"] is not None
    return DetectionCaller(
        key=DetectionKey(**{column.name: row[column.name] for column in _KEY}),
        switches=Switches(free_only=row["free_only"], billing=Billing(row["billing"]))
        if has_chosen
        else None,
        claim=AddressClaim(
            network=row["network"],
            account_id=row["claim_account_id"],
            claimed_at=row["claimed_at"],
            used_at=row["used_at"],
        )
        if is_claimed
        else None,
        calls_so_far=row["calls"],
        is_blocked=row["is_blocked"],
    )


def _in(account_id: str, month: Month) -> tuple[ColumnElement[bool], ...]:
    return (
        detection_usage.c.account_id == account_id,
        detection_usage.c.day >= month.first_day,
        detection_usage.c.day < month.following.first_day,
    )
