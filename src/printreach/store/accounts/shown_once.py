"""Secrets on their way from the form that created them to the page that shows them, as rows."""

from datetime import datetime
from typing import Final

from sqlalchemy import Column, LargeBinary, String, Table, delete, or_, select

from printreach.store.columns import TableRecords, insert
from printreach.store.tables import Instant, account_column, metadata

MAX_KEPT: Final = 100
"""Of one account; the oldest go first."""

shown_once = Table(
    "shown_once",
    metadata,
    account_column(primary_key=True),
    Column("about", String(200), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("at", Instant, nullable=False, index=True),
)
_rows = shown_once.c


class ShownOnceRecords(TableRecords):
    """Sealed secrets, each of which is read once."""

    async def put(self, account_id: str, about: str, sealed: bytes, at: datetime) -> None:
        """Keep it in place of what was kept about the same."""
        values = {"sealed": sealed, "at": at}
        await self._connection.execute(
            insert(shown_once)
            .values(account_id=account_id, about=about, **values)
            .on_conflict_do_update(index_elements=["account_id", "about"], set_=values)
        )
        newest = (
            select(_rows.about)
            .where(_rows.account_id == account_id)
            .order_by(_rows.at.desc(), _rows.about)
            .limit(MAX_KEPT)
        )
        await self._connection.execute(
            delete(shown_once).where(_rows.account_id == account_id, _rows.about.not_in(newest))
        )

    async def take(self, account_id: str, about: str) -> tuple[bytes, datetime] | None:
        """Return what is kept and since when, and delete it."""
        taken = await self._connection.execute(
            delete(shown_once)
            .where(_rows.account_id == account_id, _rows.about == about)
            .returning(_rows.sealed, _rows.at)
        )
        row = taken.first()
        return None if row is None else (row.sealed, row.at)

    async def forget_outside(self, since: datetime, until: datetime) -> None:
        """Delete those of before, and of a time that is yet to come."""
        await self._connection.execute(
            delete(shown_once).where(or_(_rows.at < since, _rows.at > until))
        )
