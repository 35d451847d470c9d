"""Prints under watch, their owners' settings, and what cameras have learnt, as rows."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Row, delete, select, update

from printreach.rules.printers import OwnedPrinter
from printreach.rules.turns import QueuedItem, TurnRule
from printreach.rules.watch.background import CameraBackground
from printreach.rules.watch.choices import GivenPicture, Judgement, WatchSettings, given_picture
from printreach.rules.watch.memory import UnwatchedPrinter, WatchedPrint, WatchMemory
from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import Damaged, TableRecords, decoded, each_of, insert
from printreach.store.leases import Claim, LeasedTable
from printreach.store.tables import accounts, is_active_owners, is_owners, nodes, printers
from printreach.store.watch.looks import JUDGEMENT, WatchLookRecords
from printreach.store.watch.tables import (
    watch_backgrounds,
    watch_judgements,
    watch_settings,
    watches,
)

LONGEST_WAIT: Final = timedelta(hours=2)
"""No wait is longer: what is due later was stored by a clock that was ahead."""
MAX_ENDED: Final = 300
"""Ended watches of a printer: of a week, one each half hour. Older ones cannot be judged any more.
"""
_AT_ONCE: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OFF: Final = WatchSettings(enabled=False)
_memories = msgspec.json.Decoder(WatchMemory)
_settings = msgspec.json.Decoder(WatchSettings)
_is_under_way = watches.c.ended_at.is_(None)
_degraded = watches.c["falters"]  # the column keeps its older name
_is_watched = is_active_owners(watches)  # of a blocked account nothing is watched
_LEASES = LeasedTable(
    table=watches,
    key=(watches.c.printer_id, watches.c.print_id),
    due_at=watches.c.due_at,
    token=watches.c.token,
    longest_wait=LONGEST_WAIT,
)

_backgrounds = msgspec.json.Decoder(CameraBackground)


class WatchSettingsRecords(TableRecords):
    """The owner's settings.

    Deleted with the printer's link, so the next owner begins with defaults.
    """

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

        A current watch stays as it is; an ended one continues. Does nothing if the printer
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
        await self._forget_beyond(printer_id, MAX_ENDED)

    async def end(self, printer_id: str, print_id: str, at: datetime) -> None:
        """End the watch. Its looks stay until they are deleted by age."""
        await self._end(at, watches.c.printer_id == printer_id, watches.c.print_id == print_id)

    async def resume(self, printer_id: str, print_id: str, at: datetime) -> None:
        """Continue after a pause; the print is due at once."""
        its = (watches.c.printer_id == printer_id, watches.c.print_id == print_id, _is_under_way)
        await self._connection.execute(update(watches).where(*its).values(resumed_at=at))
        await self._connection.execute(
            update(watches).where(*its, watches.c.token.is_(None)).values(due_at=at)
        )

    async def has_due(self, at: datetime, *, degraded: bool) -> bool:
        """Return whether there is something to claim."""
        return await _LEASES.has_due(self._connection, at, *_of_kind(degraded), _is_watched)

    async def claim(self, claim: Claim, rule: TurnRule, *, degraded: bool) -> list[WatchedPrint]:
        """Claim prints that are due and unclaimed: accounts take turns by the rule, the longest due
        come first.

        claim.exclude: printers. degraded: claim those whose last look was slow or failed; otherwise
        only the others. Prints under way at all workers count for the rule.
        """
        of_kind = _of_kind(degraded)
        await _LEASES.mend(self._connection, claim.at, *of_kind)
        is_claimed = (watches.c.token.is_not(None), watches.c.due_at > claim.at)
        busy = await self._connection.scalars(
            select(watches.c.account_id).where(*of_kind, *is_claimed)
        )
        under_way = [QueuedItem(key="", account_id=account_id) for account_id in busy]
        waiting = await self._waiting(claim, rule, under_way, *of_kind)
        queued = [QueuedItem(key=item.printer_id, account_id=item.account_id) for item in waiting]
        print_ids = {item.printer_id: item.print_id for item in waiting}
        begun = rule.next_items(under_way, queued, claim.at_most)
        if not begun:
            return []
        keys = [(one.key, print_ids[one.key]) for one in begun]
        await _LEASES.claim(self._connection, claim, keys)
        is_one = watches.c.printer_id.in_([one.key for one in begun])
        return await self._watched(is_one, watches.c.token == claim.token, *of_kind)

    async def under_watch(self, printer_id: str) -> WatchedPrint | None:
        """Return the printer's print under watch, whichever worker has claimed it."""
        return (await self.all_under_watch([printer_id])).get(printer_id)

    async def all_under_watch(self, printer_ids: Sequence[str]) -> Mapping[str, WatchedPrint]:
        """Return the prints of these printers that are under watch, by the printer's id."""
        found = await self._watched(watches.c.printer_id.in_(printer_ids))
        return {watched.printer_id: watched for watched in found}

    async def held(self, watched: WatchedPrint) -> WatchedPrint | None:
        """Return its present state; None if it has ended, or the claim was lost."""
        found = await self._watched(_LEASES.is_held(_key(watched), watched.token))
        return found[0] if found else None

    async def keep(self, watched: WatchedPrint, memory: WatchMemory) -> None:
        """Store the memory and keep the claim."""
        await self._connection.execute(
            update(watches)
            .where(_LEASES.is_held(_key(watched), watched.token))
            .values(memory=msgspec.json.encode(memory))
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
        values = {_degraded.name: degraded, "memory": msgspec.json.encode(memory)}
        await _LEASES.release(self._connection, _key(watched), watched.token, due_at, values)

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

    async def given(self) -> Sequence[GivenPicture]:
        """Return all pictures that owners give away now, the oldest answer first."""
        found = await self._connection.execute(
            select(*JUDGEMENT, watch_settings.c.content)
            .join(
                watch_settings,
                (watch_settings.c.printer_id == watch_judgements.c.printer_id)
                & (watch_settings.c.account_id == watch_judgements.c.account_id),
            )
            .where(watch_judgements.c.picture.is_not(None), is_active_owners(watch_judgements))
            .order_by(watch_judgements.c.at, watch_judgements.c.printer_id)
        )
        given = []
        for row in found.mappings():
            judgement = Judgement(**{column.name: row[column.name] for column in JUDGEMENT})
            given.append(given_picture(_settings_of(row["content"]), judgement))
        return [one for one in given if one is not None]

    # --- helpers ----------------------------------------------------------------------------------

    async def _waiting(
        self,
        claim: Claim,
        rule: TurnRule,
        under_way: Sequence[QueuedItem],
        *conditions: ColumnElement[bool],
    ) -> Sequence[Row[Any]]:
        """Return what is due, the longest due first: of each account as many as may have turns."""
        full = each_of(rule.full_accounts(under_way, claim.at_most))
        account_id = watches.c.account_id
        conditions = (*conditions, _is_watched, account_id.not_in(full))
        due = _LEASES.due_of_each(claim, account_id, rule.of_account, *conditions)
        # An account with prints under way may come later than its place here.
        at_most = claim.at_most + 2 * len(under_way)
        found = await self._connection.execute(due.limit(at_most))
        return sorted(found, key=lambda row: (row.due_at, row.printer_id))

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


def _of_kind(degraded: bool) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Match prints under watch whose last look was slow or failed, or all others."""
    return _is_under_way, _degraded == degraded


def _key(watched: WatchedPrint) -> tuple[str, str]:
    return watched.printer_id, watched.print_id


def _watched(row: Row[Any]) -> WatchedPrint:
    return WatchedPrint(
        printer_id=row.printer_id,
        account_id=row.account_id,
        print_id=row.print_id,
        token=row.token or "",
        memory=_memory_of(row.memory),
        settings=WatchSettings() if row.content is None else _settings_of(row.content),
        resumed_at=row.resumed_at,
        degraded=getattr(row, _degraded.name),
    )


def _memory_of(content: bytes) -> WatchMemory:
    """Decode the memory; a damaged one, or one of another version, begins again."""
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


class WatchBackgroundRecords(TableRecords):
    """The background of each camera. Deleted with the printer's link."""

    async def get(self, printer_id: str, camera: int) -> CameraBackground:
        """Return the background; one that has learnt nothing if none was stored."""
        content = await self._connection.scalar(
            select(watch_backgrounds.c.content).where(
                watch_backgrounds.c.printer_id == printer_id,
                watch_backgrounds.c.camera == camera,
                is_owners(watch_backgrounds),
            )
        )
        return CameraBackground() if content is None else _background_of(content)

    async def put(self, printer: OwnedPrinter, camera: int, background: CameraBackground) -> None:
        """Store the background in place of what was known."""
        values = {"account_id": printer.account_id, "content": msgspec.json.encode(background)}
        await self._connection.execute(
            insert(watch_backgrounds)
            .values(printer_id=printer.printer_id, camera=camera, **values)
            .on_conflict_do_update(index_elements=["printer_id", "camera"], set_=values)
        )


def _background_of(content: bytes) -> CameraBackground:
    """Decode it; a damaged one begins again."""
    try:
        return decoded(_backgrounds, content)
    except Damaged:
        return CameraBackground()
