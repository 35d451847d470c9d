"""Prints under watch and owners' settings, as rows; watch_looks.py has the looks."""

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Row,
    Subquery,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from printreach.rules.watch_memory import UnwatchedPrinter, WatchedPrint, WatchMemory
from printreach.rules.watching import WatchSettings
from printreach.store.damaged import Damaged, decoded
from printreach.store.tables import accounts, nodes, printers
from printreach.store.watch_looks import WatchLookRecords
from printreach.store.watch_tables import (
    is_owners,
    is_watched_for_owner,
    watch_settings,
    watches,
)

LONGEST_WAIT: Final = timedelta(hours=2)
"""No wait is longer: what is due later was stored by a clock that was ahead."""
MOST_ENDED: Final = 300
"""Ended watches of a printer: of a week, one each half hour. Older ones cannot be judged any more.
"""
_AT_ONCE: Final = datetime(1970, 1, 1, tzinfo=UTC)
_AN_INSTANT: Final = timedelta(microseconds=1)
_OFF: Final = WatchSettings(enabled=False)
_memories = msgspec.json.Decoder(WatchMemory)
_settings = msgspec.json.Decoder(WatchSettings)
_is_under_way = watches.c.ended_at.is_(None)
_degraded = watches.c["falters"]  # the column keeps its older name
_is_watched = is_watched_for_owner(watches)


class WatchSettingsRecords:
    """The owner's settings.

    Deleted with the printer's link, so the next owner begins with defaults.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def get(self, printer_id: str) -> WatchSettings:
        """Return the settings; the defaults if none were stored."""
        content = await self._connection.scalar(
            select(watch_settings.c.content).where(
                watch_settings.c.printer_id == printer_id, is_owners(watch_settings)
            )
        )
        return WatchSettings() if content is None else _settings_of(content)

    async def put(self, printer_id: str, account_id: str, settings: WatchSettings) -> None:
        """Store the settings; the current print becomes due.

        Does nothing for another account's printer.
        """
        if not await _is_linked_to(self._connection, printer_id, account_id):
            return
        values = {"account_id": account_id, "content": msgspec.json.encode(settings)}
        await self._connection.execute(
            insert(watch_settings)
            .values(printer_id=printer_id, **values)
            .on_conflict_do_update(index_elements=["printer_id"], set_=values)
        )
        is_free = _is_under_way & watches.c.token.is_(None)
        await self._connection.execute(
            update(watches)
            .where(watches.c.printer_id == printer_id, is_free)
            .values(due_at=_AT_ONCE)
        )


class WatchRecords(WatchLookRecords):
    """The prints under watch, and their looks. A worker claims due prints with a lease.

    All of it is deleted with the printer's link, and nothing of it is another account's. Nothing of
    a blocked account is claimed, held or found until it is unblocked.
    """

    async def begin(self, printer_id: str, account_id: str, print_id: str, at: datetime) -> None:
        """Watch a print, due at once; watches of the printer's other prints end.

        One that is watched stays as it is; one that had ended goes on. Does nothing if the printer
        is not that account's.
        """
        if not await _is_linked_to(self._connection, printer_id, account_id):
            return
        values = {"due_at": at, _degraded.name: False, "ended_at": None}
        await self._connection.execute(
            insert(watches)
            .values(
                printer_id=printer_id,
                print_id=print_id,
                account_id=account_id,
                memory=msgspec.json.encode(WatchMemory()),
                **values,
            )
            .on_conflict_do_update(
                index_elements=["printer_id", "print_id"],
                set_=values,
                where=watches.c.ended_at.is_not(None),
            )
        )
        is_other = watches.c.print_id != print_id
        await self._end(at, watches.c.printer_id == printer_id, is_other)
        await self._forget_beyond(printer_id, MOST_ENDED)

    async def end(self, printer_id: str, print_id: str, at: datetime) -> None:
        """End the watch. Its looks stay until they are deleted by age."""
        await self._end(at, watches.c.printer_id == printer_id, watches.c.print_id == print_id)

    async def resume(self, printer_id: str, print_id: str, at: datetime) -> None:
        """The print goes on after a pause, and is due at once."""
        its = (watches.c.printer_id == printer_id, watches.c.print_id == print_id, _is_under_way)
        await self._connection.execute(update(watches).where(*its).values(resumed_at=at))
        await self._connection.execute(
            update(watches).where(*its, watches.c.token.is_(None)).values(due_at=at)
        )

    async def has_due(self, at: datetime, *, degraded: bool) -> bool:
        """Return whether there is something to claim."""
        # Each is one end of an index; in one condition the database would read all of it.
        kinds = [
            exists().where(_is_under_way, _degraded == degraded, is_time, _is_watched)
            for is_time in _due_times(at)
        ]
        return bool(await self._connection.scalar(select(or_(*kinds))))

    async def claim(
        self,
        token: str,
        at: datetime,
        until: datetime,
        at_most: int,
        *,
        degraded: bool,
        of_account: int,
        exclude: Collection[str] = (),
    ) -> list[WatchedPrint]:
        """Claim prints that are due and unclaimed: accounts take turns, the longest due come first.

        until: when the claim lapses. degraded: claim those whose last look was slow or failed;
        otherwise only the others. of_account: at most this many claims of one account, by all
        workers together. exclude: printers to leave out.
        """
        waiting = _by_turns(at, degraded, exclude)
        due = (
            select(waiting.c.printer_id, waiting.c.print_id)
            .where(waiting.c.turn <= of_account)
            .order_by(waiting.c.turn, waiting.c.due_at)
            .limit(at_most)
        )
        await self._connection.execute(
            update(watches)
            .where(tuple_(watches.c.printer_id, watches.c.print_id).in_(due))
            .values(token=token, due_at=until)
        )
        return await self._watched(watches.c.token == token)

    async def under_watch(self, printer_id: str) -> WatchedPrint | None:
        """Return the printer's print under watch, whoever has claimed it."""
        found = await self._watched(watches.c.printer_id == printer_id)
        return found[0] if found else None

    async def held(self, watched: WatchedPrint) -> WatchedPrint | None:
        """Return its present state; None if it has ended, or the claim was lost."""
        found = await self._watched(_is_held_as(watched))
        return found[0] if found else None

    async def keep(self, watched: WatchedPrint, memory: WatchMemory) -> None:
        """Store the memory and keep the claim."""
        await self._connection.execute(
            update(watches).where(_is_held_as(watched)).values(memory=msgspec.json.encode(memory))
        )

    async def release(
        self,
        watched: WatchedPrint,
        memory: WatchMemory,
        due_at: datetime,
        *,
        degraded: bool = False,
    ) -> None:
        """Store the memory and release the claim; it is due then.

        Does nothing without the claim.
        """
        content = msgspec.json.encode(memory)
        await self._connection.execute(
            update(watches)
            .where(_is_held_as(watched))
            .values({_degraded.name: degraded, "memory": content, "due_at": due_at, "token": None})
        )

    async def unwatched(self, alive_since: datetime) -> Sequence[UnwatchedPrinter]:
        """Return printers connected to nodes that were alive since then."""
        # All of them at once: a printer's own rows are mostly prints that have ended.
        watched = select(watches.c.printer_id).where(_is_under_way)
        found = await self._connection.execute(
            select(printers.c.printer_id, printers.c.account_id, printers.c.connected_at)
            .join(nodes, nodes.c.node_id == printers.c.node_id)
            .join(accounts, accounts.c.account_id == printers.c.account_id)
            .where(
                accounts.c.blocked_at.is_(None),
                printers.c.removed_at.is_(None),
                printers.c.connected_at.is_not(None),
                nodes.c.alive_at > alive_since,
                printers.c.printer_id.not_in(watched),
            )
        )
        return [UnwatchedPrinter(**row) for row in found.mappings()]

    # --- helpers ----------------------------------------------------------------------------------

    async def _end(self, at: datetime, *conditions: ColumnElement[bool]) -> None:
        await self._connection.execute(
            update(watches).where(_is_under_way, *conditions).values(ended_at=at, token=None)
        )

    async def _forget_beyond(self, printer_id: str, most: int) -> None:
        """Delete a printer's watches that ended longest ago; an agent may make up any number of
        prints."""
        its = (watches.c.printer_id == printer_id, ~_is_under_way)
        beyond = (
            select(watches.c.print_id)
            .where(*its)
            .order_by(watches.c.ended_at.desc(), watches.c.print_id)
            .offset(most)
        )
        await self._connection.execute(delete(watches).where(*its, watches.c.print_id.in_(beyond)))

    async def _watched(self, *conditions: ColumnElement[bool]) -> list[WatchedPrint]:
        found = await self._connection.execute(
            select(watches, watch_settings.c.content)
            .outerjoin(
                watch_settings,
                (watch_settings.c.printer_id == watches.c.printer_id)
                & (watch_settings.c.account_id == watches.c.account_id),
            )
            .where(_is_under_way, _is_watched, *conditions)
        )
        return [_watched(row) for row in found]


async def _is_linked_to(connection: AsyncConnection, printer_id: str, account_id: str) -> bool:
    found = await connection.execute(
        select(printers.c.printer_id).where(
            printers.c.printer_id == printer_id,
            printers.c.account_id == account_id,
            printers.c.removed_at.is_(None),
        )
    )
    return found.first() is not None


def _due_times(at: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Match what is due, or was put off by a clock that was ahead."""
    return watches.c.due_at <= at, watches.c.due_at > at + LONGEST_WAIT


def _is_due(at: datetime) -> ColumnElement[bool]:
    return _is_under_way & or_(*_due_times(at)) & _is_watched


def _by_turns(at: datetime, degraded: bool, exclude: Collection[str]) -> Subquery:
    """Select what is due, with its number among the watches of its account."""
    busy = (
        select(watches.c.account_id, func.count().label("looks"))
        .where(
            _is_under_way,
            _degraded == degraded,
            watches.c.token.is_not(None),
            watches.c.due_at.between(at + _AN_INSTANT, at + LONGEST_WAIT),
        )
        .group_by(watches.c.account_id)
        .subquery()
    )
    place = func.row_number().over(
        partition_by=watches.c.account_id, order_by=(watches.c.due_at, watches.c.printer_id)
    )
    turn = (place + func.coalesce(busy.c.looks, 0)).label("turn")
    busy_printers = select(func.json_each(json.dumps(list(exclude))).table_valued("value").c.value)
    return (
        select(watches.c.printer_id, watches.c.print_id, watches.c.due_at, turn)
        .outerjoin(busy, busy.c.account_id == watches.c.account_id)
        .where(
            _is_due(at),
            _degraded == degraded,
            watches.c.printer_id.not_in(busy_printers),
        )
        .subquery()
    )


def _is_held_as(watched: WatchedPrint) -> ColumnElement[bool]:
    return (
        (watches.c.printer_id == watched.printer_id)
        & (watches.c.print_id == watched.print_id)
        & (watches.c.token == watched.token)
        & _is_under_way
    )


def _watched(row: Row[Any]) -> WatchedPrint:
    return WatchedPrint(
        printer_id=row.printer_id,
        account_id=row.account_id,
        print_id=row.print_id,
        token=row.token or "",
        memory=_memory_of(row.memory),
        settings=WatchSettings() if row.content is None else _settings_of(row.content),
        resumed_at=row.resumed_at,
    )


def _memory_of(content: bytes) -> WatchMemory:
    """Decode the memory; one that is damaged, or of another version, begins anew."""
    try:
        return decoded(_memories, content)
    except Damaged:
        return WatchMemory()


def _settings_of(content: bytes) -> WatchSettings:
    """Decode the settings; if that fails nothing is watched."""
    try:
        return decoded(_settings, content)
    except Damaged:
        return _OFF
