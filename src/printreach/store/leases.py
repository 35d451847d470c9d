"""The statements by which workers claim rows, for every table that is a queue, and names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    MappingResult,
    Select,
    String,
    Table,
    and_,
    delete,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    tuple_,
    update,
)

from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import TableRecords, each_of, insert, rows_of
from printreach.store.tables import Instant, metadata

leases = Table(
    "leases",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("token", String(64), nullable=False),
    Column("leased_until", Instant, nullable=False),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Claims of one worker, made at once.

    token: of these claims alone. until: when they lapse unless they are renewed. exclude: the
    items that the worker still handles, whatever the clock says of their leases.
    """

    token: str
    at: datetime
    until: datetime
    at_most: int
    exclude: Collection[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LeasedTable:
    """The columns of a table that hold its due times and leases.

    key: the columns that identify a row; the first of them is excluded by Claim.exclude. due_at:
    null while nothing is to be done. leased_until: when a lease ends; None if due_at says so.
    token: of the claim; None if the end of the lease identifies the claim. longest_wait: what is
    due later was stored by a clock that was ahead, and is due at once.
    """

    table: Table
    key: tuple[Column[Any], ...]
    due_at: Column[Any]
    leased_until: Column[Any] | None = None
    token: Column[Any] | None = None
    longest_wait: timedelta | None = None

    async def has_due(
        self, connection: AsyncConnection, at: datetime, *conditions: ColumnElement[bool]
    ) -> bool:
        """Return whether something may be claimed."""
        # Each is one end of an index; in one condition the database would read all of it.
        times = [self.is_due(at)]
        if self.longest_wait is not None:
            times.append(self.due_at > at + self.longest_wait)
        found = [exists().where(is_time, *conditions) for is_time in times]
        return bool(await connection.scalar(select(or_(*found))))

    async def mend(
        self, connection: AsyncConnection, at: datetime, *conditions: ColumnElement[bool]
    ) -> None:
        """Make due what a clock that was ahead has put off."""
        if self.longest_wait is not None:
            is_ahead = self.due_at > at + self.longest_wait
            await connection.execute(
                update(self.table).where(is_ahead, *conditions).values({self.due_at: at})
            )

    def is_due(self, at: datetime) -> ColumnElement[bool]:
        """Match rows that are due and not leased."""
        if self.leased_until is None:
            return self.due_at <= at
        return and_(self.due_at <= at, self._is_free(at))

    def due(self, claim: Claim, *conditions: ColumnElement[bool]) -> Select[Any]:
        """Select the keys of what may be claimed, the longest due first."""
        is_free = self.key[0].not_in(each_of(claim.exclude))
        return (
            select(*self.key)
            .where(self.is_due(claim.at), is_free, *conditions)
            .order_by(self.due_at)
            .limit(claim.at_most)
        )

    def due_of_each(
        self,
        claim: Claim,
        account_id: Column[Any],
        at_most: int,
        *conditions: ColumnElement[bool],
    ) -> Select[Any]:
        """Select what may be claimed, of each account at most so many: their keys, the account and
        the due time, all accounts' first ones first, and not limited.
        """
        columns = (*self.key, account_id, self.due_at)
        place = func.row_number().over(partition_by=account_id, order_by=(self.due_at, self.key[0]))
        due = (
            self.due(claim, *conditions)
            .with_only_columns(*columns, place.label("place"))
            .order_by(None)
            .limit(None)
            .subquery()
        )
        return (
            select(*(due.c[column.name] for column in columns))
            .where(due.c.place <= at_most)
            .order_by(due.c.place, due.c[self.due_at.name])
        )

    async def claim(
        self,
        connection: AsyncConnection,
        claim: Claim,
        keys: Select[Any] | Sequence[Any],
        *returning: ColumnElement[Any],
    ) -> MappingResult:
        """Lease the rows with these keys; rows that another worker has leased are left out."""
        key = self.key[0] if len(self.key) == 1 else tuple_(*self.key)
        chosen = [key.in_(keys)]
        if len(self.key) > 1 and not isinstance(keys, Select):
            # The database searches its index for values, not for tuples of values.
            chosen.append(self.key[0].in_([first for first, *_ in keys]))
        values: dict[Any, Any] = {self._until: claim.until}
        if self.token is not None:
            values[self.token] = claim.token
        claimed = await connection.execute(
            update(self.table)
            .where(*chosen, self.is_due(claim.at))
            .values(values)
            .returning(*(returning or self.key))
        )
        return claimed.mappings()

    def is_held(self, key: Sequence[str], mark: str | datetime) -> ColumnElement[bool]:
        """Match the row while a claim holds it. mark: the claim's token, or the end of its
        lease."""
        column = self._until if self.token is None else self.token
        return and_(*(of == value for of, value in zip(self.key, key, strict=True)), column == mark)

    async def renew(
        self,
        connection: AsyncConnection,
        key: Sequence[str],
        mark: str | datetime,
        until: datetime,
    ) -> bool:
        """Renew a lease; False if the claim was lost, or the row is gone."""
        changed = await connection.execute(
            update(self.table).where(self.is_held(key, mark)).values({self._until: until})
        )
        return changed.rowcount > 0

    async def release(
        self,
        connection: AsyncConnection,
        key: Sequence[str],
        mark: str | datetime,
        due_at: datetime | None,
        values: Mapping[str, object],
    ) -> bool:
        """End a lease and store values with it; False if the claim was lost, or the row is gone.

        due_at: when there is something to do again; None if there is nothing.
        """
        ended = [one for one in (self.token, self.leased_until) if one is not None]
        changed = await connection.execute(
            update(self.table)
            .where(self.is_held(key, mark))
            .values({self.due_at: due_at, **dict.fromkeys(ended), **values})
        )
        return changed.rowcount > 0

    @property
    def _until(self) -> Column[Any]:
        return self.due_at if self.leased_until is None else self.leased_until

    def _is_free(self, at: datetime) -> ColumnElement[bool]:
        assert self.leased_until is not None
        return or_(self.leased_until.is_(None), self.leased_until <= at)


class LeaseKind(StrEnum):
    """What leases by name are for, each with its names."""

    EVENTS = "events"
    """name: printer_id. The holder hands out the printer's events."""
    TASK = "task"
    """name: of work that one worker at a time does."""


_until = leases.c.leased_until


class LeaseRecords(TableRecords):
    """Leases by name, in one unit of work, which may overlap with others."""

    async def claim(self, kind: LeaseKind, names: Collection[str], claim: Claim) -> frozenset[str]:
        """Lease these names; return those that no other worker has leased.

        A claim with the same token renews its leases.
        """
        # In one order, so that two workers never wait for each other.
        wanted = rows_of(sorted(names)).c.value
        rows = select(
            literal(kind.value), wanted, literal(claim.token), literal(claim.until, _until.type)
        ).where(literal(1) == 1)  # SQLite would take ON for a join's condition
        new = insert(leases).from_select([column.name for column in leases.c], rows)
        claimed = await self._connection.scalars(
            new.on_conflict_do_update(
                index_elements=[leases.c.kind, leases.c.name],
                set_={"token": new.excluded.token, "leased_until": new.excluded.leased_until},
                where=or_(leases.c.token == claim.token, not_(_is_held(claim))),
            ).returning(leases.c.name)
        )
        return frozenset(claimed)

    async def is_held_by_other(self, kind: LeaseKind, name: str, claim: Claim) -> bool:
        """Return whether the claim would not get this name."""
        return await self._exists(held_by_others(kind, claim).where(leases.c.name == name))

    async def release(
        self, kind: LeaseKind, token: str, names: Collection[str] | None = None
    ) -> None:
        """End the leases of these names as far as the token holds them; all of its leases if None
        are named.
        """
        held = delete(leases).where(leases.c.kind == kind.value, leases.c.token == token)
        if names is not None:
            held = held.where(leases.c.name.in_(each_of(names)))
        await self._connection.execute(held)

    async def forget(self, before: datetime) -> None:
        """Delete leases that ended before then: their holders died, and no one needed them."""
        await self._connection.execute(delete(leases).where(_until < before))


def held_by_others(kind: LeaseKind, claim: Claim) -> Select[Any]:
    """Select the names that the claim would not get."""
    return select(leases.c.name).where(
        leases.c.kind == kind.value, leases.c.token != claim.token, _is_held(claim)
    )


def _is_held(claim: Claim) -> ColumnElement[bool]:
    """Match what is leased when the claim is made.

    What is leased for more than twice as long was stored by a clock that was ahead, and is free.
    """
    return and_(_until > claim.at, _until <= claim.until + (claim.until - claim.at))
