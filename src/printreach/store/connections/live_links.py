"""Live Links, as rows."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from printreach.contract.events import MAX_TEXT
from printreach.contract.status import State
from printreach.rules.connections.live_links import LastFacts, LiveEnd, LiveLink
from printreach.store.columns import TableRecords
from printreach.store.tables import (
    Instant,
    accounts,
    connections,
    metadata,
    printers,
    where_on_sqlite,
)

live_links = Table(
    "live_links",
    metadata,
    Column("live_id", String(64), primary_key=True),
    Column("short_id", String(64), nullable=False, unique=True),
    Column(
        "account_id",
        ForeignKey(accounts.c.account_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column(
        "printer_id",
        ForeignKey(printers.c.printer_id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("connection_id", String(64)),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("print_id", String(64), nullable=False),
    Column("shows_names", Boolean, nullable=False),
    Column("ended_at", Instant),
    Column("end", String(16)),
    Column("last_state", String(16)),
    Column("last_progress", Integer),
    Column("last_file_name", String(MAX_TEXT), nullable=False),
    Index("ix_live_links_expires_at", "expires_at"),
    Index("ix_live_links_ended_at", "ended_at", **where_on_sqlite("ended_at IS NOT NULL")),
)


class LiveLinkRecords(TableRecords):
    """Live Links; ended ones stay for a while, so that their page can say so.

    One is in force while neither it nor the App Connection that asked for it has ended.
    """

    async def add(self, link: LiveLink) -> None:
        values = asdict(link) | {"end": None if link.end is None else link.end.value}
        del values["last"]
        await self._connection.execute(insert(live_links).values(**values, **_columns(link.last)))

    async def get(self, live_id: str) -> LiveLink | None:
        found = await self._where(live_links.c.live_id == live_id)
        return found[0] if found else None

    async def with_short_id(self, short_id: str) -> LiveLink | None:
        found = await self._where(live_links.c.short_id == short_id)
        return found[0] if found else None

    async def living_of_account(self, account_id: str, at: datetime) -> list[LiveLink]:
        """Return the account's links in force, newest first."""
        return await self._where(live_links.c.account_id == account_id, *_living(at))

    async def living_of_printer(self, printer_id: str, at: datetime) -> list[LiveLink]:
        return await self._where(live_links.c.printer_id == printer_id, *_living(at))

    async def end(self, live_id: str, at: datetime, why: LiveEnd, last: LastFacts) -> None:
        """End a link; an ended one keeps its end."""
        await self._end(live_links.c.live_id == live_id, at, why, last)

    async def end_all_of_printer(self, printer_id: str, at: datetime, why: LiveEnd) -> None:
        await self._end(live_links.c.printer_id == printer_id, at, why, LastFacts())

    async def forget(self, ended_before: datetime) -> None:
        """Delete links that ended, or expired, before then."""
        is_over = live_links.c.expires_at < ended_before
        has_ended = live_links.c.ended_at < ended_before
        await self._connection.execute(delete(live_links).where(is_over | has_ended))

    async def _where(self, *conditions: ColumnElement[bool]) -> list[LiveLink]:
        return await self._all(
            _link,
            select(live_links)
            .where(*conditions)
            .order_by(live_links.c.created_at.desc(), live_links.c.live_id),
        )

    async def _end(
        self, condition: ColumnElement[bool], at: datetime, why: LiveEnd, last: LastFacts
    ) -> None:
        await self._connection.execute(
            update(live_links)
            .where(condition, *_living(at))
            .values(ended_at=at, end=why.value, **_columns(last))
        )


def _living(at: datetime) -> tuple[ColumnElement[bool], ...]:
    """Match links that have not ended, and whose App Connection has not ended."""
    connection_lives = (
        select(connections.c.connection_id)
        .where(
            connections.c.connection_id == live_links.c.connection_id,
            connections.c.revoked_at.is_(None),
            connections.c.expires_at.is_(None) | (connections.c.expires_at > at),
        )
        .exists()
    )
    is_of_person = live_links.c.connection_id.is_(None)
    return live_links.c.end.is_(None), live_links.c.expires_at > at, is_of_person | connection_lives


def _columns(last: LastFacts) -> dict[str, str | int | None]:
    return {
        "last_state": None if last.state is None else last.state.value,
        "last_progress": last.progress,
        "last_file_name": last.file_name,
    }


def _link(**row: Any) -> LiveLink:
    values = dict(row)
    end, state = values.pop("end"), values.pop("last_state")
    last = LastFacts(
        state=None if state is None else State(state),
        progress=values.pop("last_progress"),
        file_name=values.pop("last_file_name"),
    )
    return LiveLink(**values, end=None if end is None else LiveEnd(end), last=last)
