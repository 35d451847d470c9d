"""Records of stored pictures, as rows; the pictures themselves are stored elsewhere."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    Row,
    String,
    Table,
    delete,
    exists,
    func,
    select,
)

from printreach.rules.prints.snapshots import Snapshot
from printreach.store.columns import TableRecords, columns_for, insert
from printreach.store.tables import Instant, accounts, metadata, printers
from printreach.store.watch.tables import watch_judgements

# Rows outlive their account and printer for a moment: they tell which pictures to remove.
snapshots = Table(
    "snapshots",
    metadata,
    Column("snapshot_id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False, index=True),
    Column("printer_id", String(64), nullable=False),
    Column("taken_at", Instant, nullable=False, index=True),
    Column("size", Integer, nullable=False),
    Index("ix_snapshots_printer_id", "printer_id", "taken_at"),
)

last_pictures = Table(
    "last_pictures",
    metadata,
    Column("printer_id", ForeignKey(printers.c.printer_id, ondelete="CASCADE"), primary_key=True),
    Column("snapshot_id", String(64), nullable=False, index=True),
)

_SNAPSHOT = columns_for(Snapshot, snapshots)
# A removed printer's last picture is kept no longer than any other.
_IS_LAST = exists().where(
    last_pictures.c.snapshot_id == snapshots.c.snapshot_id,
    printers.c.printer_id == last_pictures.c.printer_id,
    printers.c.account_id == snapshots.c.account_id,
    printers.c.removed_at.is_(None),
)
# The owner agreed that it is kept with their judgement.
_IS_JUDGED = exists().where(watch_judgements.c.picture == snapshots.c.snapshot_id)


def _owners() -> CTE:
    """Select each account that has pictures once, from one to the next by steps of an index."""
    smallest = select(func.min(snapshots.c.account_id).label("account_id"))
    found = smallest.cte("owners", recursive=True)
    following = (
        select(func.min(snapshots.c.account_id))
        .where(snapshots.c.account_id > found.c.account_id)
        .correlate(found)
        .scalar_subquery()
    )
    return found.union_all(select(following).where(found.c.account_id.is_not(None)))


_OWNERS = _owners()
# With `not_in` PostgreSQL reads all accounts, and from some number on for each owner.
_GONE = select(_OWNERS.c.account_id).where(
    ~exists().where(accounts.c.account_id == _OWNERS.c.account_id)
)


class SnapshotRecords(TableRecords):
    """The records of stored pictures."""

    async def add(self, snapshot: Snapshot) -> None:
        await self._connection.execute(insert(snapshots).values(**asdict(snapshot)))

    async def get(self, snapshot_id: str) -> Snapshot | None:
        return await self._first(
            Snapshot, select(*_SNAPSHOT).where(snapshots.c.snapshot_id == snapshot_id)
        )

    async def beyond(self, printer_id: str, count: int, size: int) -> list[str]:
        """Return the oldest of a printer's pictures that exceed that number or total size.

        The printer's last picture does not count.
        """
        newest = await self._newest(snapshots.c.printer_id == printer_id)
        too_many = {one for one, _ in newest[count:]}.union(_beyond(newest, size))
        return [one for one, _ in newest if one in too_many]

    async def beyond_of_account(self, account_id: str, size: int) -> list[str]:
        """Return the oldest of an account's pictures that exceed that total size."""
        held = select(func.sum(snapshots.c.size)).where(snapshots.c.account_id == account_id)
        if (await self._connection.scalar(held) or 0) <= size:
            return []
        return _beyond(await self._newest(snapshots.c.account_id == account_id), size)

    async def _newest(self, whose: ColumnElement[bool]) -> Sequence[Row[str, int]]:
        """Return the ids and sizes of pictures that may be deleted, newest first."""
        found = await self._connection.execute(
            select(snapshots.c.snapshot_id, snapshots.c.size)
            .where(whose, ~_IS_LAST, ~_IS_JUDGED)
            .order_by(snapshots.c.taken_at.desc(), snapshots.c.snapshot_id)
        )
        return found.all()

    async def outdated(self, before: datetime, at_most: int) -> list[str]:
        """Return pictures to delete: those taken before then except last and judged ones.

        Asked until there are none, each time after the records of the found ones were deleted.
        """
        old = await self._connection.scalars(
            select(snapshots.c.snapshot_id)
            .where(snapshots.c.taken_at <= before, ~_IS_LAST, ~_IS_JUDGED)
            .limit(at_most)
        )
        return list(old)

    async def nobodys(self, at_most: int) -> list[str]:
        """Return pictures of deleted accounts. Asked until there are none, as outdated is."""
        found = await self._connection.scalars(
            select(snapshots.c.snapshot_id).where(snapshots.c.account_id.in_(_GONE)).limit(at_most)
        )
        return list(found)

    async def forget(self, snapshot_ids: Sequence[str]) -> None:
        await self._connection.execute(
            delete(snapshots).where(snapshots.c.snapshot_id.in_(snapshot_ids))
        )

    async def last_of(self, printer_id: str) -> Snapshot | None:
        """Return the last picture of a printer."""
        return await self._first(
            Snapshot,
            select(*_SNAPSHOT)
            .join(last_pictures, last_pictures.c.snapshot_id == snapshots.c.snapshot_id)
            .where(last_pictures.c.printer_id == printer_id),
        )

    async def make_last(self, snapshot: Snapshot) -> None:
        """Make that picture, which was added, the printer's last one."""
        new = insert(last_pictures).values(
            printer_id=snapshot.printer_id, snapshot_id=snapshot.snapshot_id
        )
        await self._connection.execute(
            new.on_conflict_do_update(
                index_elements=[last_pictures.c.printer_id],
                set_={"snapshot_id": snapshot.snapshot_id},
            )
        )


def _beyond(newest: Sequence[Row[str, int]], size: int) -> list[str]:
    together = itertools.accumulate(one for _, one in newest)
    return [
        snapshot_id
        for (snapshot_id, _), so_far in zip(newest, together, strict=True)
        if so_far > size
    ]
