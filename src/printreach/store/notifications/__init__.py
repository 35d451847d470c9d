"""Notification settings, destinations and queued messages, as rows."""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, String, and_, delete, func, or_, select, type_coerce, update

from printreach.rules.notifications import (
    DEFAULT_EVENTS,
    DESTINATION_TURNS,
    FAILING,
    MAX_DESTINATIONS,
    DailyCount,
    Destination,
    Events,
    NewMessage,
    NotifySettings,
    QueuedMessage,
    QuietHours,
)
from printreach.rules.notifications.channels import MAIL
from printreach.rules.turns import QueuedItem
from printreach.store.columns import TableRecords, columns_for, each_number_of, each_of, insert
from printreach.store.leases import Claim, LeasedTable
from printreach.store.notifications.tables import (
    notify_counts,
    notify_messages,
    notify_printers,
    notify_settings,
    notify_targets,
)

_DESTINATION_NAMES: Final = {"destination_id": "target_id", "channel": "way"}
DESTINATION_COLUMNS: Final = columns_for(Destination, notify_targets, **_DESTINATION_NAMES)
_MESSAGE = columns_for(QueuedMessage, notify_messages, destination_id="target_id")
_COUNTED = (
    type_coerce(notify_counts.c.day, String).label("day"),
    notify_counts.c.messages,
    notify_counts.c.was_told,
)
_LONGEST_LEASE: Final = timedelta(minutes=10)
"""Longer than any worker keeps a claim without renewing it."""
_targets = notify_targets.c
_messages = notify_messages.c
_TURN = (_targets.target_id, _targets.account_id, _targets.failures, _targets.way)
_LEASES = LeasedTable(
    table=notify_targets,
    key=(_targets.target_id,),
    due_at=_targets.due_at,
    leased_until=_targets.leased_until,
)
# Destinations with messages; written so that the database uses the index, as it would not for IS
# NOT NULL.
_WAITING = select(_targets.target_id).where(_targets.due_at > datetime.fromtimestamp(0, UTC))


class NotifyRecords(TableRecords):
    """Settings, destinations and messages, in one unit of work.

    A destination is claimed as a whole, so at most one message is being sent to it, and a slow one
    delays only its own.
    """

    # --- choices ----------------------------------------------------------------------------------

    async def settings(self, account_id: str) -> NotifySettings:
        found = await self._connection.execute(
            select(notify_settings).where(notify_settings.c.account_id == account_id)
        )
        of_printers = await self._connection.execute(
            select(notify_printers).where(notify_printers.c.account_id == account_id)
        )
        chosen = {row.printer_id: _events(row.events) for row in of_printers}
        row = found.first()
        if row is None:
            return NotifySettings(of_printers=chosen)
        return NotifySettings(
            events=_events(row.events), quiet=_quiet(row), zone=row.zone, of_printers=chosen
        )

    async def put_settings(self, account_id: str, settings: NotifySettings) -> None:
        quiet = settings.quiet
        values = {
            "events": sorted(settings.events),
            "quiet_begins": None if quiet is None else f"{quiet.begins:%H:%M}",
            "quiet_ends": None if quiet is None else f"{quiet.ends:%H:%M}",
            "trouble_passes": quiet is None or quiet.trouble_passes,
            "zone": settings.zone,
        }
        await self._put(notify_settings, {"account_id": account_id}, values)

    async def set_of_printer(self, account_id: str, printer_id: str, events: Events | None) -> None:
        """Set a printer's own events; None: as the account."""
        key = {"account_id": account_id, "printer_id": printer_id}
        if events is None:
            await self._connection.execute(delete(notify_printers).filter_by(**key))
        else:
            await self._put(notify_printers, key, {"events": sorted(events)})

    async def counted(self, account_id: str) -> DailyCount | None:
        found = await self._connection.execute(
            select(*_COUNTED).where(notify_counts.c.account_id == account_id)
        )
        row = found.mappings().first()
        return None if row is None else DailyCount(**{**row, "day": _day(row["day"])})

    async def put_counted(self, account_id: str, counted: DailyCount) -> None:
        values = {
            "day": counted.day,
            "messages": counted.messages,
            "was_told": counted.was_told,
        }
        await self._put(notify_counts, {"account_id": account_id}, values)

    # --- destinations -----------------------------------------------------------------------------

    async def destinations(self, account_id: str) -> list[Destination]:
        """Return the account's destinations, oldest first."""
        return await self._all(
            Destination,
            select(*DESTINATION_COLUMNS)
            .where(_targets.account_id == account_id)
            .order_by(_targets.created_at, _targets.target_id),
        )

    async def destination(self, destination_id: str) -> Destination | None:
        return await self._first(
            Destination, select(*DESTINATION_COLUMNS).where(_targets.target_id == destination_id)
        )

    async def add_destination(self, destination: Destination) -> None:
        values = {
            _DESTINATION_NAMES.get(field.name, field.name): getattr(destination, field.name)
            for field in fields(destination)
        }
        await self._connection.execute(insert(notify_targets).values(**values))

    async def remove_destination(self, account_id: str, destination_id: str) -> bool:
        """Remove a destination and its queue; return whether the account had it."""
        return (
            await self._changed(
                delete(notify_targets).where(
                    _targets.target_id == destination_id, _targets.account_id == account_id
                )
            )
            > 0
        )

    # --- words on their way -----------------------------------------------------------------------

    async def queue(self, destination_ids: Collection[str], message: NewMessage) -> None:
        values = {
            "title": message.title,
            "text": message.text,
            "made_at": message.made_at,
            "due_at": message.due_at,
            "event_seq": message.event_seq,
        }
        rows = [{"target_id": destination_id, **values} for destination_id in destination_ids]
        if not rows:
            return
        await self._connection.execute(insert(notify_messages), rows)
        # A destination that failed is not tried before its backoff is over.
        is_later = and_(_targets.failures == 0, _targets.due_at > message.due_at)
        await self._connection.execute(
            update(notify_targets)
            .where(_targets.target_id.in_(each_of(destination_ids)))
            .where(or_(_targets.due_at.is_(None), is_later))
            .values(due_at=message.due_at)
        )

    async def has_due(self, at: datetime) -> bool:
        """Return whether something is to be sent, except to destinations claimed then."""
        return await _LEASES.has_due(self._connection, at)

    async def claim(self, claim: Claim) -> list[Destination]:
        """Claim destinations with due messages; accounts take turns."""
        under_way = await self._under_way(claim.at)
        conditions = _have_turns(under_way, claim.at_most)
        # So that not only one account's destinations are read.
        at_most = claim.at_most * MAX_DESTINATIONS
        due = _LEASES.due(claim, *conditions).with_only_columns(*_TURN).limit(at_most)
        found = await self._connection.execute(due)
        waiting = [_turn(row) for row in found]
        turns = DESTINATION_TURNS.next_items(under_way, waiting, claim.at_most)
        claimed = await _LEASES.claim(
            self._connection, claim, [turn.key for turn in turns], *DESTINATION_COLUMNS
        )
        return [Destination(**row) for row in claimed]

    async def renew(self, claimed: Destination, until: datetime) -> Destination | None:
        """Renew a claim; None if it was lost, or the destination was removed."""
        is_held = await _LEASES.renew(self._connection, *_held(claimed), until)
        return replace(claimed, leased_until=until) if is_held else None

    async def due_messages(
        self, destination_id: str, at: datetime, at_most: int
    ) -> list[QueuedMessage]:
        return await self._all(
            QueuedMessage,
            select(*_MESSAGE)
            .where(_messages.target_id == destination_id, _messages.due_at <= at)
            .order_by(_messages.due_at, _messages.message_id)
            .limit(at_most),
        )

    async def drop_messages(self, message_ids: Collection[int]) -> None:
        await self._connection.execute(
            delete(notify_messages).where(_messages.message_id.in_(each_number_of(message_ids)))
        )

    async def drop_all(self, destination_id: str) -> None:
        """Delete the destination's queue."""
        await self._connection.execute(
            delete(notify_messages).where(_messages.target_id == destination_id)
        )

    async def drop_older(self, destination_id: str, due_before: datetime) -> None:
        await self._connection.execute(
            delete(notify_messages).where(
                _messages.target_id == destination_id, _messages.due_at < due_before
            )
        )

    async def release(
        self,
        claimed: Destination,
        *,
        not_before: datetime | None,
        sent_at: datetime | None,
        failures: int,
        trouble: str,
    ) -> None:
        """Release a claim; nothing happens if it was lost.

        not_before: until when the destination is not to be tried, if any.
        """
        first = await self._connection.scalar(
            select(func.min(_messages.due_at)).where(_messages.target_id == claimed.destination_id)
        )
        due_at = first if first is None or not_before is None else max(first, not_before)
        sent = {} if sent_at is None else {"sent_at": sent_at}
        values = {"failures": failures, "trouble": trouble, **sent}
        await _LEASES.release(self._connection, *_held(claimed), due_at, values)

    async def mend_times(self, at: datetime, farthest: datetime) -> None:
        """Repair what is put off or claimed beyond farthest: a clock was ahead by then."""
        await self._connection.execute(
            update(notify_messages)
            .where(_messages.target_id.in_(_WAITING), _messages.due_at > farthest)
            .values(due_at=at)
        )
        await self._connection.execute(
            update(notify_targets).where(_targets.due_at > farthest).values(due_at=at)
        )
        await self._connection.execute(
            update(notify_targets)
            .where(_targets.leased_until > at + _LONGEST_LEASE)
            .values(leased_until=None)
        )
        await self._tell_what_was_made_in_the_future(at)

    async def note_answer(self, destination_id: str, at: datetime) -> None:
        """It accepted a test: its queue is due now."""
        first = select(func.min(_messages.due_at)).where(_messages.target_id == destination_id)
        await self._connection.execute(
            update(notify_targets)
            .where(_targets.target_id == destination_id)
            .values(sent_at=at, failures=0, trouble="", due_at=first.scalar_subquery())
        )

    async def note_trouble(self, destination_id: str, trouble: str) -> None:
        """It did not accept a test."""
        await self._connection.execute(
            update(notify_targets)
            .where(_targets.target_id == destination_id)
            .values(trouble=trouble)
        )

    # --- helpers ----------------------------------------------------------------------------------

    async def _put(self, table: Any, key: dict[str, Any], values: dict[str, Any]) -> None:
        await self._connection.execute(
            insert(table).values(**key, **values).on_conflict_do_update(list(key), set_=values)
        )

    async def _tell_what_was_made_in_the_future(self, at: datetime) -> None:
        """Make messages due that were stored in the future by a clock that was ahead by less than a
        day."""
        put_off = select(_targets.target_id).where(_targets.due_at > at)
        changed = await self._connection.scalars(
            update(notify_messages)
            .where(_messages.target_id.in_(put_off), _messages.due_at > at, _messages.made_at > at)
            .values(due_at=at)
            .returning(_messages.target_id)
        )
        await self._connection.execute(
            update(notify_targets)
            .where(_targets.target_id.in_(each_of(sorted(set(changed)))), _targets.due_at > at)
            .values(due_at=at)
        )

    async def _under_way(self, at: datetime) -> list[QueuedItem]:
        found = await self._connection.execute(select(*_TURN).where(_targets.leased_until > at))
        return [_turn(row) for row in found]


def _held(claimed: Destination) -> tuple[tuple[str], datetime]:
    """Return the key and the mark of a claim."""
    assert claimed.leased_until is not None
    return (claimed.destination_id,), claimed.leased_until


def _turn(row: Any) -> QueuedItem:
    """Return the turn of a destination. row: of _TURN."""
    kinds = {FAILING: row.failures > 0, MAIL: row.way == MAIL}
    return QueuedItem(
        key=row.target_id,
        account_id=row.account_id,
        kinds=frozenset(kind for kind, is_one in kinds.items() if is_one),
    )


def _have_turns(under_way: Sequence[QueuedItem], free_slots: int) -> list[ColumnElement[bool]]:
    """Match accounts that may have a turn, so that the others do not hide them."""
    full = DESTINATION_TURNS.full_kinds(under_way)
    accounts = DESTINATION_TURNS.full_accounts(under_way, free_slots)
    not_of_kind = {FAILING: _targets.failures == 0, MAIL: _targets.way != MAIL}
    return [
        _targets.account_id.not_in(each_of(accounts)),
        *(condition for kind, condition in not_of_kind.items() if kind in full),
    ]


def _events(kinds: object) -> Events:
    """Decode the events; the defaults if they cannot be decoded."""
    if not isinstance(kinds, list) or not all(isinstance(kind, int) for kind in kinds):
        return DEFAULT_EVENTS
    return frozenset(kinds)


def _quiet(row: Any) -> QuietHours | None:
    try:
        begins, ends = (time.fromisoformat(text) for text in (row.quiet_begins, row.quiet_ends))
    except (ValueError, TypeError):  # none were chosen, or they cannot be decoded
        return None
    return QuietHours(begins=begins, ends=ends, trouble_passes=row.trouble_passes)


def _day(text: object) -> date:
    """Parse a day; a damaged one is never today."""
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        return date.min
