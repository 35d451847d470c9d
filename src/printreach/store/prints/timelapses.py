"""Records of timelapses, as rows; their pictures and videos are stored elsewhere."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)

from printreach.rules.prints.timelapse import (
    DEFAULT_DAYS,
    KEPT_DAYS,
    Timelapse,
    TimelapsePicture,
)
from printreach.rules.turns import QueuedItem, by_turns
from printreach.store.columns import TableRecords, columns_for, each_of, insert
from printreach.store.leases import Claim, LeasedTable
from printreach.store.tables import Instant, accounts, metadata

# Rows outlive their account for a moment: they tell which videos to delete.
timelapses = Table(
    "timelapses",
    metadata,
    Column("timelapse_id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("printer_id", String(64), nullable=False),
    Column("print_id", String(64), nullable=False),
    Column("gap_s", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", Instant, index=True),
    Column("leased_until", Instant),
    Column("video_id", String(64), unique=True),
    Column("size", Integer, nullable=False),
    Column("made_at", Instant, index=True),
    Index("uq_timelapses_print_id", "print_id", "printer_id", "account_id", unique=True),
    Index("ix_timelapses_account_id", "account_id", "made_at"),
)

timelapse_pictures = Table(
    "timelapse_pictures",
    metadata,
    Column("snapshot_id", String(64), primary_key=True),
    Column(
        "timelapse_id",
        ForeignKey(timelapses.c.timelapse_id, ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
    Column("taken_at", Instant, nullable=False),
    Column("is_events", Boolean, nullable=False),
)

timelapse_days = Table(
    "timelapse_days",
    metadata,
    Column("account_id", ForeignKey(accounts.c.account_id, ondelete="CASCADE"), primary_key=True),
    Column("days", Integer, nullable=False),
)

LEASED: Final = LeasedTable(
    table=timelapses,
    key=(timelapses.c.timelapse_id,),
    due_at=timelapses.c.due_at,
    leased_until=timelapses.c.leased_until,
)
_IS_NOBODYS = ~exists().where(accounts.c.account_id == timelapses.c.account_id)
_ITS_PICTURES = timelapse_pictures.c.timelapse_id == timelapses.c.timelapse_id
_TIMELAPSE = [
    *(timelapses.c[field.name] for field in fields(Timelapse) if field.name in timelapses.c),
    select(func.count()).where(_ITS_PICTURES).scalar_subquery().label("pictures"),
    select(func.max(timelapse_pictures.c.taken_at))
    .where(_ITS_PICTURES)
    .scalar_subquery()
    .label("taken_at"),
]
_PICTURE = columns_for(TimelapsePicture, timelapse_pictures)


class TimelapseRecords(TableRecords):
    """The records of timelapses and of their pictures."""

    async def days_of(self, account_id: str) -> int:
        """Return for how many days the account keeps videos; 0 if it wants none."""
        days = await self._connection.scalar(
            select(timelapse_days.c.days).where(timelapse_days.c.account_id == account_id)
        )
        return DEFAULT_DAYS if days is None else days

    async def set_days(self, account_id: str, days: int) -> None:
        values = {"account_id": account_id, "days": days}
        await self._connection.execute(
            insert(timelapse_days)
            .values(**values)
            .on_conflict_do_update(index_elements=["account_id"], set_=values)
        )

    async def of_print(self, account_id: str, printer_id: str, print_id: str) -> Timelapse | None:
        return await self._first(
            Timelapse,
            select(*_TIMELAPSE).where(
                timelapses.c.print_id == print_id,
                timelapses.c.printer_id == printer_id,
                timelapses.c.account_id == account_id,
            ),
        )

    async def with_video(self, video_id: str) -> Timelapse | None:
        return await self._first(
            Timelapse, select(*_TIMELAPSE).where(timelapses.c.video_id == video_id)
        )

    async def begin(self, timelapse: Timelapse) -> None:
        values = asdict(timelapse)
        del values["pictures"], values["taken_at"]
        await self._connection.execute(insert(timelapses).values(**values))

    async def add(self, timelapse_id: str, picture: TimelapsePicture) -> None:
        """Add a picture of a print, unless it has it already: several events may share one."""
        await self._connection.execute(
            insert(timelapse_pictures)
            .values(timelapse_id=timelapse_id, **asdict(picture))
            .on_conflict_do_nothing()
        )

    async def pictures(self, timelapse_id: str) -> Sequence[TimelapsePicture]:
        """Return the pictures, oldest first."""
        return await self._all(
            TimelapsePicture,
            select(*_PICTURE)
            .where(timelapse_pictures.c.timelapse_id == timelapse_id)
            .order_by(timelapse_pictures.c.taken_at),
        )

    async def thin(self, timelapse_id: str, snapshot_ids: Sequence[str]) -> None:
        """Remove pictures, and double the time between those that follow."""
        await self._connection.execute(
            delete(timelapse_pictures).where(
                timelapse_pictures.c.timelapse_id == timelapse_id,
                timelapse_pictures.c.snapshot_id.in_(each_of(snapshot_ids)),
            )
        )
        await self._connection.execute(
            update(timelapses)
            .where(timelapses.c.timelapse_id == timelapse_id)
            .values(gap_s=timelapses.c.gap_s * 2)
        )

    async def make_due(self, account_id: str, printer_id: str, print_id: str, at: datetime) -> None:
        """Have the video of an ended print made, if it has pictures and no video."""
        await self._connection.execute(
            update(timelapses)
            .where(
                timelapses.c.print_id == print_id,
                timelapses.c.printer_id == printer_id,
                timelapses.c.account_id == account_id,
                timelapses.c.made_at.is_(None),
            )
            .values(due_at=at)
        )

    async def make_abandoned_due(self, before: datetime, at: datetime) -> None:
        """Have the videos of prints made of which no picture was taken since then."""
        has_newer = exists().where(_ITS_PICTURES, timelapse_pictures.c.taken_at >= before)
        await self._connection.execute(
            update(timelapses)
            .where(
                ~has_newer,
                timelapses.c.made_at.is_(None),
                timelapses.c.due_at.is_(None),
            )
            .values(due_at=at)
        )

    async def has_due(self, at: datetime) -> bool:
        return await LEASED.has_due(self._connection, at)

    async def claim(self, claim: Claim, last_turns: Sequence[str]) -> Sequence[Timelapse]:
        """Claim timelapses whose video is to be made; each claim counts as a try.

        last_turns: accounts in the order of their last turns. Those with a video under way at any
        worker come last.
        """
        is_under_way = (timelapses.c.made_at.is_(None), timelapses.c.leased_until > claim.at)
        busy = await self._connection.scalars(select(timelapses.c.account_id).where(*is_under_way))
        due = LEASED.due_of_each(claim, timelapses.c.account_id, claim.at_most)
        waiting = [
            QueuedItem(key=row.timelapse_id, account_id=row.account_id)
            for row in await self._connection.execute(due)
        ]
        turns = by_turns(waiting, Counter(busy), last_turns)[: claim.at_most]
        claimed = await LEASED.claim(self._connection, claim, [turn.key for turn in turns])
        ids = [row["timelapse_id"] for row in claimed]
        await self._connection.execute(
            update(timelapses)
            .where(timelapses.c.timelapse_id.in_(ids))
            .values(tries=timelapses.c.tries + 1)
        )
        return await self._all(
            Timelapse, select(*_TIMELAPSE).where(timelapses.c.timelapse_id.in_(ids))
        )

    async def reserve(self, timelapse_id: str, video_id: str) -> str | None:
        """Store the name that a video will have; None if the timelapse or its account is gone."""
        changed = await self._changed(
            update(timelapses)
            .where(timelapses.c.timelapse_id == timelapse_id, ~_IS_NOBODYS)
            .values(video_id=video_id)
        )
        return video_id if changed else None

    async def settle(self, timelapse_id: str, size: int, at: datetime) -> bool:
        """Store that the video was made; its pictures are needed no longer.

        False if the timelapse or its account is gone.
        """
        changed = await self._changed(
            update(timelapses)
            .where(timelapses.c.timelapse_id == timelapse_id, ~_IS_NOBODYS)
            .values(size=size, made_at=at, due_at=None, leased_until=None)
        )
        await self._connection.execute(
            delete(timelapse_pictures).where(timelapse_pictures.c.timelapse_id == timelapse_id)
        )
        return bool(changed)

    async def forget(self, timelapse_ids: Sequence[str]) -> None:
        await self._connection.execute(
            delete(timelapses).where(timelapses.c.timelapse_id.in_(each_of(timelapse_ids)))
        )

    async def beyond(self, account_id: str, size: int) -> Sequence[Timelapse]:
        """Return the account's oldest videos that exceed that total size."""
        found = await self._all(
            Timelapse,
            select(*_TIMELAPSE)
            .where(timelapses.c.account_id == account_id, timelapses.c.made_at.is_not(None))
            .order_by(timelapses.c.made_at.desc()),
        )
        together, too_many = 0, []
        for one in found:
            together += one.size
            if together > size:
                too_many.append(one)
        return too_many

    async def outdated(self, at: datetime, at_most: int) -> Sequence[Timelapse]:
        """Return timelapses to delete: kept for as long as their owner chose."""
        days = func.coalesce(timelapse_days.c.days, DEFAULT_DAYS)
        is_over = (
            and_(days == kept, timelapses.c.made_at <= at - timedelta(days=kept))
            for kept in KEPT_DAYS
        )
        return await self._all(
            Timelapse,
            select(*_TIMELAPSE)
            .outerjoin(timelapse_days, timelapse_days.c.account_id == timelapses.c.account_id)
            .where(or_(*is_over))
            .limit(at_most),
        )

    async def nobodys(self, at_most: int) -> Sequence[Timelapse]:
        """Return timelapses of deleted accounts."""
        return await self._all(Timelapse, select(*_TIMELAPSE).where(_IS_NOBODYS).limit(at_most))
