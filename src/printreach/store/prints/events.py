"""Events in the service: stored, handed out once, kept for readers that resume.

An event is a row before its agent may forget it. The worker hands each out: in one unit of work it
is marked and every consumer writes down what follows from it.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Select,
    String,
    bindparam,
    delete,
    exists,
    func,
    select,
    type_coerce,
    update,
)

from printreach.contract import codec
from printreach.contract.events import PrintEvent
from printreach.ports import Notice, Topic
from printreach.store.async_engine import AsyncConnection
from printreach.store.columns import Damaged, decoded, each_number_of, each_of, insert, unsearched
from printreach.store.leases import Claim, LeaseKind, held_by_others
from printreach.store.tables import events, printers

_STORED: Final[tuple[ColumnElement[Any], ...]] = (
    events.c.seq,
    events.c.account_id,
    events.c.printer_id,
    events.c.event_id,
    events.c.content,
    # Read as SQLite's text: where it is decoded, a damaged row fails all that is read with it.
    type_coerce(events.c.received_at, String).label("received_at"),
    events.c.snapshot_id,
)
# An account has many events, and an id few.
_owner: Final = unsearched(events.c.account_id)
_newer: Final = events.alias("newer")
_decoder = msgspec.json.Decoder(PrintEvent)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An event as the service stores it.

    seq: grows in the order in which events were stored. account_id: of the printer's owner at that
    time. snapshot_id: a picture that was taken for it; None without one, and before it is handed
    out.
    """

    seq: int
    account_id: str
    printer_id: str
    event: PrintEvent
    received_at: datetime
    snapshot_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """An event that a printer's agent sent, or that the service created itself."""

    printer_id: str
    event: PrintEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedEvent:
    """An event that cannot be decoded. why: contains nothing of its content."""

    seq: int
    printer_id: str
    event_id: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingEvents:
    """Events that wait to be handed out, in the order in which they came, and damaged ones."""

    events: Sequence[StoredEvent] = ()
    damaged: Sequence[DamagedEvent] = ()


class EventRecords:
    """Events, in one unit of work.

    Lists leave out events that cannot be decoded, so that these do not block others. notify: gives
    notice when the unit is committed.
    """

    def __init__(
        self,
        connection: AsyncConnection,
        notify: Callable[[Notice, datetime], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._notify = notify

    async def append(self, printer_id: str, events: Sequence[PrintEvent], at: datetime) -> None:
        """Store events of one printer, to be handed out.

        An event whose id is stored already stays as it is. If the printer belongs to no account,
        they are dropped: there is no one to notify.
        """
        await self.append_all([Arrival(printer_id=printer_id, event=event) for event in events], at)

    async def append_all(self, arrivals: Sequence[Arrival], at: datetime) -> None:
        """Store events of many printers, at the cost of a few statements."""
        account_of = await self._accounts_of({arrival.printer_id for arrival in arrivals})
        rows = [
            {
                "printer_id": arrival.printer_id,
                "event_id": arrival.event.event_id,
                "account_id": account_of[arrival.printer_id],
                "content": codec.encode(arrival.event),
                "received_at": at,
            }
            for arrival in arrivals
            if arrival.printer_id in account_of
        ]
        if rows:
            await self._connection.execute(insert(events).on_conflict_do_nothing(), rows)
            await self._notify(Notice(Topic.INBOX, ""), at)

    async def awaiting_fan_out(
        self,
        at_most: int,
        *,
        of_printers: Collection[str] | None = None,
        except_printers: Collection[str] = (),
        claim: Claim | None = None,
    ) -> PendingEvents:
        """Return events that were not handed out yet.

        of_printers: of these alone. claim: not those of printers that other workers have leased.
        """
        awaiting = select(*_STORED).where(events.c.position.is_(None), *_not_leased(claim))
        if of_printers is not None:
            awaiting = awaiting.where(events.c.printer_id.in_(each_of(of_printers)))
        if except_printers:
            awaiting = awaiting.where(events.c.printer_id.not_in(each_of(except_printers)))
        found = await self._connection.execute(awaiting.order_by(events.c.seq).limit(at_most))
        read = [_read(row) for row in found.mappings()]
        return PendingEvents(
            events=[event for event in read if isinstance(event, StoredEvent)],
            damaged=[event for event in read if isinstance(event, DamagedEvent)],
        )

    async def set_aside(self, seqs: Collection[int]) -> frozenset[int]:
        """Keep these without handing them out; return those of them that waited until now."""
        changed = await self._connection.scalars(
            update(events)
            .where(events.c.seq.in_(each_number_of(seqs)), events.c.position.is_(None))
            .values(position=-events.c.seq)
            .returning(events.c.seq)
        )
        return frozenset(changed)

    async def take_up_again(self) -> int:
        """Hand out what was set aside, since this version may be able to decode it.

        Returns how many.
        """
        changed = await self._connection.execute(
            update(events).where(events.c.position < 0).values(position=None)
        )
        return changed.rowcount

    async def mark_fanned_out(
        self, snapshots: Mapping[int, str | None], claim: Claim | None = None
    ) -> frozenset[int]:
        """Mark these events, by seq, each with its picture; return those that were not marked
        before.

        claim: those of printers that other workers have leased are left to them.
        """
        found = await self._connection.scalars(
            select(events.c.seq)
            .where(
                events.c.seq.in_(each_number_of(snapshots)),
                events.c.position.is_(None),
                *_not_leased(claim),
            )
            .order_by(events.c.seq)
        )
        marked = list(found)
        if marked:
            last = max(0, await self._connection.scalar(select(func.max(events.c.position))) or 0)
            await self._connection.execute(
                update(events)
                .where(events.c.seq == bindparam("of_seq"))
                .values(position=bindparam("at_position"), snapshot_id=bindparam("picture")),
                [
                    {"of_seq": seq, "at_position": position, "picture": snapshots[seq]}
                    for position, seq in enumerate(marked, last + 1)
                ],
            )
        return frozenset(marked)

    async def after(self, account_id: str, event_id: str | None, at_most: int) -> list[StoredEvent]:
        """Return an account's events handed out after that one, in the same order.

        After None, or an event that is not stored any more: from the oldest stored one.
        """
        position = 0 if event_id is None else await self._position_of(account_id, event_id)
        return await self._readable(
            select(*_STORED)
            .where(events.c.account_id == account_id, events.c.position > position)
            .order_by(events.c.position),
            at_most,
        )

    async def holds(self, account_id: str, event_id: str) -> bool:
        """Return whether it is a kept event of the account that was handed out."""
        return await self._position_of(account_id, event_id) > 0

    async def at(self, seq: int) -> StoredEvent | None:
        """Return the event with that number, if it is still kept and can be decoded."""
        found = await self._readable(select(*_STORED).where(events.c.seq == seq), 1)
        return found[0] if found else None

    async def latest(self, account_id: str) -> StoredEvent | None:
        """Return the account's event that was handed out last."""
        found = await self.recent(account_id, 1)
        return found[0] if found else None

    async def recent(
        self, account_id: str, at_most: int, before: int | None = None
    ) -> list[StoredEvent]:
        """Return the account's events that were handed out last, newest first.

        before: the seq of one of them, to return those that were handed out before it; none if it
        is not kept.
        """
        chosen = select(*_STORED).where(events.c.account_id == account_id, events.c.position > 0)
        if before is not None:
            that = _newer.c.seq == before, _newer.c.account_id == account_id
            place = select(_newer.c.position).where(*that).scalar_subquery()
            chosen = chosen.where(events.c.position < place)
        return await self._readable(chosen.order_by(events.c.position.desc()), at_most)

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete events handed out before then, at_most at once; return how many.

        The last one of an account stays, so that its readers can resume from it, however quiet it
        was.
        """
        has_newer = exists().where(
            _newer.c.account_id == events.c.account_id, _newer.c.position > events.c.position
        )
        old = (
            select(events.c.seq)
            .where(events.c.received_at < before, events.c.position > 0, has_newer)
            .limit(at_most)
        )
        gone = await self._connection.execute(delete(events).where(events.c.seq.in_(old)))
        return gone.rowcount

    async def _accounts_of(self, printer_ids: Collection[str]) -> dict[str, str]:
        found = await self._connection.execute(
            select(printers.c.printer_id, printers.c.account_id).where(
                printers.c.printer_id.in_(each_of(printer_ids)), printers.c.removed_at.is_(None)
            )
        )
        return {row.printer_id: row.account_id for row in found}

    async def _position_of(self, account_id: str, event_id: str) -> int:
        """Return its position; 0 if it is not kept, not handed out, or not of this account."""
        found = await self._connection.scalar(
            select(func.max(events.c.position)).where(
                events.c.event_id == event_id, _owner == account_id
            )
        )
        return max(0, found or 0)

    async def _readable(self, chosen: Select[Any], at_most: int) -> list[StoredEvent]:
        """Return the first of the selected events that can be decoded."""
        events: list[StoredEvent] = []
        looked_at = 0
        while (missing := at_most - len(events)) > 0:
            found = await self._connection.execute(chosen.limit(missing).offset(looked_at))
            rows = found.mappings().all()
            read = [_read(row) for row in rows]
            events += [event for event in read if isinstance(event, StoredEvent)]
            looked_at += len(rows)
            if len(rows) < missing:
                break
        return events


def _not_leased(claim: Claim | None) -> list[ColumnElement[bool]]:
    if claim is None:
        return []
    return [events.c.printer_id.not_in(held_by_others(LeaseKind.EVENTS, claim))]


def _read(row: RowMapping) -> StoredEvent | DamagedEvent:
    try:
        event = decoded(_decoder, row["content"])
        received_at = _instant(row["received_at"])
    except Damaged as damaged:
        return DamagedEvent(
            seq=row["seq"],
            printer_id=row["printer_id"],
            event_id=row["event_id"],
            why=str(damaged),
        )
    return StoredEvent(
        seq=row["seq"],
        account_id=row["account_id"],
        printer_id=row["printer_id"],
        event=event,
        received_at=received_at,
        snapshot_id=row["snapshot_id"],
    )


def _instant(text: str | datetime) -> datetime:
    """Parse a column's time, which is in UTC. Raises Damaged."""
    if isinstance(text, datetime):  # PostgreSQL has a type for it
        return text
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except (ValueError, TypeError) as error:
        raise Damaged(type(error).__name__) from error
