"""Deliveries to webhooks as rows, and the webhooks' queues with their leases.

A worker claims the whole queue of a webhook with a lease, by one conditional update, and sends its
due deliveries. So two workers never send the same, and a dead one is replaced when its lease ends.
Nothing here costs by the length of a queue: what is due is the beginning of an index, and so is the
next queue to claim.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from printreach.contract.events import EventType
from printreach.rules.webhooks import (
    LONGEST_DELAY,
    Attempted,
    Delivery,
    DeliveryState,
    LoggedDelivery,
    NewDelivery,
)
from printreach.store.columns import TableRecords, columns_for, each_of, insert, unsearched
from printreach.store.leases import Claim, LeasedTable
from printreach.store.tables import connections
from printreach.store.webhooks import Lease, Surplus, webhook_deliveries, webhooks

_MAX_ERROR_CHARS: Final = 500
_LONGEST_LEASE: Final = timedelta(minutes=10)
"""Longer than any worker keeps a claim without renewing it."""
_STATES: Final = frozenset(state.value for state in DeliveryState)
_LOGGED = columns_for(LoggedDelivery, webhook_deliveries)
_all = webhook_deliveries.c
_newer: Final = webhook_deliveries.alias("newer")
_LEASES = LeasedTable(
    table=webhooks,
    key=(webhooks.c.connection_id,),
    due_at=webhooks.c.next_at,
    token=webhooks.c.lease,
    longest_wait=LONGEST_DELAY,
)
# Literal, not bound: only then does the database know that its partial index fits.
_PROGRESS: ColumnElement[int] = literal_column(str(int(EventType.PROGRESS)))
_TELLS_PROGRESS: Final[list[ColumnElement[int]]] = [literal_column(kind) for kind in "236"]
"""Progress and the ends of prints: as the index ix_webhook_deliveries_print_id has it."""


class DeliveryRecords(TableRecords):
    """The queued and ended deliveries of webhooks."""

    async def add(self, deliveries: Sequence[NewDelivery], at: datetime) -> None:
        """Queue deliveries. One of an event that its webhook has already stays as it is."""
        if not deliveries:
            return
        rows = [
            {
                "connection_id": new.connection_id,
                "event_id": new.event_id,
                "event_type": new.event_type,
                "print_id": new.print_id,
                "at": new.at,
                "body": new.body,
                "state": DeliveryState.QUEUED.value,
                "attempts": 0,
                "due_at": at,
            }
            for new in deliveries
        ]
        await self._connection.execute(insert(webhook_deliveries).on_conflict_do_nothing(), rows)
        await self._wake({new.connection_id for new in deliveries}, at)

    async def has_due(self, at: datetime) -> bool:
        """Return whether a queue may be claimed."""
        return await _LEASES.has_due(self._connection, at)

    async def claim(self, claim: Claim) -> list[Lease]:
        """Claim queues that have something due; those that another unit of work is claiming or
        waking at the same time are left out.
        """
        await _LEASES.mend(self._connection, claim.at)
        # SQLite ignores the lock: there is no other unit.
        keys = list(
            await self._connection.scalars(_LEASES.due(claim).with_for_update(skip_locked=True))
        )
        claimed = await _LEASES.claim(self._connection, claim, keys)
        return [Lease(token=claim.token, **row) for row in claimed]

    async def renew(
        self, leases: Collection[Lease], until: datetime, *, if_before: datetime | None = None
    ) -> frozenset[Lease]:
        """Renew claims; return those that hold. Otherwise another worker has the queue by now, or
        the webhook is gone.

        if_before: renew those alone that end before; they hold at least until the commit.
        """
        of_leases = and_(
            webhooks.c.connection_id.in_(each_of([one.connection_id for one in leases])),
            webhooks.c.lease.in_(each_of({one.token for one in leases})),
        )
        found = await self._connection.execute(
            select(webhooks.c.connection_id, webhooks.c.lease, webhooks.c.next_at)
            .where(of_leases)
            .with_for_update()
        )
        ends = {Lease(connection_id=one, token=token): end for one, token, end in found}
        held = frozenset(leases) & ends.keys()
        ending = [one.connection_id for one in held if if_before is None or ends[one] < if_before]
        if ending:
            await self._connection.execute(
                update(webhooks)
                .where(webhooks.c.connection_id.in_(each_of(ending)))
                .values(next_at=until)
            )
        return held

    async def release(
        self,
        lease: Lease,
        at: datetime,
        not_before: datetime | None = None,
        *,
        even_if_due: bool = True,
    ) -> bool:
        """Release the queue; it is claimed again when something of it is due.

        even_if_due: also if something is due by now; otherwise it is kept, and this returns False.
        """
        await self._mend_due_times(lease.connection_id, at)
        next_at = await self._connection.scalar(
            select(func.min(_all.due_at)).where(
                _all.connection_id == lease.connection_id, _all.due_at.is_not(None)
            )
        )
        if next_at is not None and next_at <= at and not even_if_due:
            return False
        if next_at is not None and not_before is not None:
            next_at = max(next_at, not_before)
        key = (lease.connection_id,)
        await _LEASES.release(self._connection, key, lease.token, next_at, {})
        return True

    async def due(
        self, connection_id: str, at: datetime, at_most: int, *, exclude: Collection[int]
    ) -> list[Delivery]:
        """Return a webhook's due deliveries, the longest due first. exclude: ids to leave out."""
        found = await self._connection.execute(
            DUE, {"of_connection": connection_id, "at": at, "at_most": at_most + len(exclude)}
        )
        deliveries = [
            Delivery(**row) for row in found.mappings() if row["delivery_id"] not in exclude
        ]
        return deliveries[:at_most]

    async def record(self, attempted: Sequence[Attempted]) -> None:
        """Store outcomes; of deliveries that are no longer queued only what the attempt met."""
        for statement, of_attempts in ((_RECORD_ATTEMPT, True), (_RECORD_END, False)):
            rows = [_recorded(one) for one in attempted if (one.outcome is not None) is of_attempts]
            if rows:
                await self._connection.execute(statement, rows)

    async def end_all(
        self, connection_id: str, state: DeliveryState, reason: str, at: datetime
    ) -> None:
        """End everything that is queued for it."""
        await self._connection.execute(
            update(webhook_deliveries)
            .where(_all.connection_id == connection_id, _all.due_at.is_not(None))
            .values(state=state.value, due_at=None, ended_at=at, error=reason[:_MAX_ERROR_CHARS])
        )

    async def mend_times(self, at: datetime, at_most: int) -> int:
        """Make due what a clock that was ahead, and has been set back since, has put off.

        Changes at_most deliveries at once; returns how many.
        """
        is_free = or_(webhooks.c.lease.is_(None), webhooks.c.next_at > at + _LONGEST_LEASE)
        put_off = select(webhooks.c.connection_id).where(webhooks.c.next_at > at, is_free)
        # An attempt in the future was stored by a clock that was ahead.
        is_ahead = and_(_all.due_at > at, _all.at > at)
        some = (
            select(_all.delivery_id)
            .where(_all.connection_id.in_(put_off), is_ahead)
            .order_by(_all.connection_id)
            .limit(at_most)
        )
        changed = list(
            await self._connection.scalars(
                update(webhook_deliveries)
                .where(_all.delivery_id.in_(some))
                .values(due_at=at)
                .returning(_all.connection_id)
            )
        )
        more = exists().where(_all.connection_id == webhooks.c.connection_id, is_ahead)
        await self._connection.execute(
            update(webhooks)
            .where(webhooks.c.connection_id.in_(each_of(set(changed))), is_free, ~more)
            .values(next_at=at)
        )
        return len(changed)

    async def log_of_connection(self, connection_id: str, at_most: int) -> list[LoggedDelivery]:
        """Return deliveries, newest first."""
        return await self._log(_all.connection_id == connection_id, at_most)

    async def log_of_app(self, app_id: str, at_most: int) -> list[LoggedDelivery]:
        of_app = select(connections.c.connection_id).where(connections.c.app_id == app_id)
        return await self._log(_all.connection_id.in_(of_app), at_most)

    async def send_again(self, connection_id: str, delivery_id: int, at: datetime) -> bool:
        """Queue it again, as if it had never been tried; False if there is none."""
        changed = await self._connection.execute(
            update(webhook_deliveries)
            .where(_all.connection_id == connection_id, _all.delivery_id == delivery_id)
            .values(state=DeliveryState.QUEUED.value, attempts=0, due_at=at, ended_at=None)
        )
        await self._wake({connection_id}, at)
        return changed.rowcount > 0

    async def prune(self, before: datetime, at_most: int) -> int:
        """Delete deliveries that ended before, at_most at once; return how many."""
        old = select(_all.delivery_id).where(_all.ended_at < before).limit(at_most)
        return await self._changed(delete(webhook_deliveries).where(_all.delivery_id.in_(old)))

    async def grown(self, after: int) -> tuple[list[str], int]:
        """Return the connections with deliveries after that one, and the last delivery's id."""
        last = await self._connection.scalar(select(func.max(_all.delivery_id))) or after
        found = await self._connection.scalars(
            select(_all.connection_id).where(_all.delivery_id > after).distinct()
        )
        return list(found), last

    async def surplus(self, connection_id: str, max_queued: int, max_ended: int) -> Surplus:
        queued = await self._beyond(connection_id, _all.due_at.is_not(None), max_queued)
        ended = await self._beyond(connection_id, _all.due_at.is_(None), max_ended)
        return Surplus(queued, ended)

    async def drop(
        self, connection_id: str, up_to: int, reason: str, at: datetime, at_most: int
    ) -> int:
        """End what is queued up to that delivery, at_most at once; return how many."""
        some = _up_to(connection_id, up_to, _all.due_at.is_not(None), at_most)
        return await self._changed(
            update(webhook_deliveries)
            .where(_all.delivery_id.in_(some))
            .values(state=DeliveryState.DROPPED.value, due_at=None, ended_at=at, error=reason)
        )

    async def forget(self, connection_id: str, up_to: int, at_most: int) -> int:
        """Delete what has ended up to that delivery, at_most at once; return how many."""
        some = _up_to(connection_id, up_to, _all.due_at.is_(None), at_most)
        return await self._changed(delete(webhook_deliveries).where(_all.delivery_id.in_(some)))

    async def _beyond(self, connection_id: str, kind: ColumnElement[bool], most: int) -> int | None:
        """Return the newest delivery of a kind beyond the bound."""
        found: int | None = await self._connection.scalar(
            select(_all.delivery_id)
            .where(_all.connection_id == connection_id, kind)
            .order_by(_all.delivery_id.desc())
            .limit(1)
            .offset(most)
        )
        return found

    async def _wake(self, connection_ids: Collection[str], at: datetime) -> None:
        """Make queues claimable; a worker with a claim looks again before it releases it."""
        await self._connection.execute(
            update(webhooks)
            .where(
                webhooks.c.connection_id.in_(each_of(connection_ids)),
                webhooks.c.lease.is_(None),
                or_(webhooks.c.next_at.is_(None), webhooks.c.next_at > at),
            )
            .values(next_at=at)
        )

    async def _mend_due_times(self, connection_id: str, at: datetime) -> None:
        """Make due what is due later than any schedule allows: the clock was ahead."""
        await self._connection.execute(
            update(webhook_deliveries)
            .where(_all.connection_id == connection_id, _all.due_at > at + LONGEST_DELAY)
            .values(due_at=at)
        )

    async def _log(self, condition: ColumnElement[bool], at_most: int) -> list[LoggedDelivery]:
        found = await self._connection.execute(
            select(*_LOGGED).where(condition).order_by(_all.delivery_id.desc()).limit(at_most)
        )
        return [
            LoggedDelivery(**{**row, "state": _state_of(row["state"])}) for row in found.mappings()
        ]


def _up_to(
    connection_id: str, last: int, kind: ColumnElement[bool], at_most: int
) -> Select[tuple[int]]:
    """Select the oldest of a kind, up to the last one given."""
    return (
        select(_all.delivery_id)
        .where(_all.connection_id == connection_id, _all.delivery_id <= last, kind)
        .order_by(_all.delivery_id)
        .limit(at_most)
    )


def _state_of(name: str) -> DeliveryState:
    """Return the state; one of another version counts as ended in an unknown way."""
    return DeliveryState(name) if name in _STATES else DeliveryState.DROPPED


def _is_progress() -> ColumnElement[bool]:
    return and_(_all.event_type == _PROGRESS, _all.print_id != "")


def _has_newer_progress(at: ColumnElement[datetime]) -> ColumnElement[bool]:
    """Match due deliveries that were tried, or that are queued no more."""
    # What is due may be much, and what a print has is little.
    is_due = unsearched(_newer.c.due_at) <= at
    was_due = or_(_newer.c.due_at.is_(None), _newer.c.attempts > 0)
    return _has_newer(
        _newer.c.event_type == _PROGRESS, or_(is_due, and_(was_due, ~_is_sent_again()))
    )


def _has_told_end() -> ColumnElement[bool]:
    """Match prints whose end the receiver has been told."""
    is_told = _newer.c.state == DeliveryState.DELIVERED.value
    return _has_newer(_newer.c.event_type != _PROGRESS, is_told, ~_is_sent_again())


def _has_newer(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """conditions: of the newer delivery of the same print to the same connection."""
    return exists().where(
        _newer.c.connection_id == _all.connection_id,
        _newer.c.print_id == _all.print_id,
        _newer.c.delivery_id > _all.delivery_id,
        _newer.c.event_type.in_(_TELLS_PROGRESS),
        *conditions,
    )


def _is_sent_again() -> ColumnElement[bool]:
    """Match ended deliveries that a person wants sent again, stale or not."""
    has_ended_before = or_(_all.attempted_at.is_not(None), _all.error.is_not(None))
    return and_(_all.attempts == 0, has_ended_before)


def _recorded(one: Attempted) -> dict[str, Any]:
    is_queued = one.state is DeliveryState.QUEUED
    values = {
        "of_delivery": one.delivery_id,
        "to_state": one.state.value,
        "to_attempts": one.attempts,
        "to_due_at": one.due_at if is_queued else None,
        "to_error": one.reason and one.reason[:_MAX_ERROR_CHARS],
        "to_ended_at": None if is_queued else one.at,
    }
    if one.outcome is not None:
        values["to_attempted_at"] = one.at
        values["to_http_status"] = one.outcome.http_status
        values["to_duration_ms"] = one.outcome.duration_ms
    return values


def _new(column: Column[Any]) -> ColumnElement[Any]:
    return bindparam(f"to_{column.name}", type_=column.type)


_is_recorded: Final = _all.delivery_id == bindparam("of_delivery", type_=_all.delivery_id.type)
_is_queued: Final = _all.state == DeliveryState.QUEUED.value
_OF_END: Final = (_all.state, _all.attempts, _all.due_at, _all.error, _all.ended_at)
_OF_ATTEMPT: Final = (_all.attempted_at, _all.http_status, _all.duration_ms)
# Built once, as those below: to build them costs more than to run them.
_RECORD_END: Final = (
    update(webhook_deliveries)
    .where(_is_recorded, _is_queued)
    .values({column.name: _new(column) for column in _OF_END})
)
# One row version, however much it changes: each is a row and its index entries to PostgreSQL.
_RECORD_ATTEMPT: Final = (
    update(webhook_deliveries)
    .where(_is_recorded)
    .values(
        {column.name: case((_is_queued, _new(column)), else_=column) for column in _OF_END}
        | {column.name: _new(column) for column in _OF_ATTEMPT}
    )
)


def _due() -> Select[Any]:
    of_connection = bindparam("of_connection", type_=_all.connection_id.type)
    at = bindparam("at", type_=_all.due_at.type)
    return (
        select(
            *(_all.delivery_id, _all.event_id, _all.event_type, _all.body, _all.attempts),
            and_(_is_progress(), _has_newer_progress(at)).label("has_newer_progress"),
            and_(_is_progress(), _has_told_end()).label("has_told_end"),
        )
        .where(_all.connection_id == of_connection, _all.due_at <= at)
        .order_by(_all.due_at, _all.delivery_id)
        .limit(bindparam("at_most", type_=Integer))
    )


DUE: Final = _due()
"""Selects the fields of Delivery, of what is due, the longest due first."""
