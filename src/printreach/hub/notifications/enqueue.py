"""Queues notifications of an event: one message for each destination that wants it.

This happens in the unit of work that hands the event out, so a message is queued exactly once, even
after a crash.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from printreach.contract.events import EventType, PrintEvent
from printreach.hub.core import Core
from printreach.languages import N_, speaking, translate
from printreach.ports.notifications import Zones
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.notifications import (
    Allowance,
    NewMessage,
    NotifySettings,
    count,
    limit_for,
    time_to_tell,
    wants,
    wants_of_shared,
)
from printreach.rules.notifications.channels import reaches_people
from printreach.rules.notifications.words import words_for
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

_LONGEST_TITLE = 200
_NO_NAME = N_("A printer")


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationEnqueuer:
    """hub.prints.fanout.Consumer. daily_limit: messages an account gets in a day.

    has_mail_server: without one, nothing is queued for destinations by mail.
    """

    core: Core
    zones: Zones
    daily_limit: int

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        """Queue a message for each destination of the owner, and of members who chose this event.

        A member is told by their own settings, and counts among their own messages.
        """
        settings = await records.notifications.settings(stored.account_id)
        if wants(settings, stored.printer_id, stored.event.event_type):
            await self._queue(records, stored, stored.account_id, settings)
        members = await records.members.with_choice_of_events(stored.printer_id, stored.account_id)
        for person_id in members:
            settings = await records.notifications.settings(person_id)
            if wants_of_shared(settings, stored.printer_id, stored.event.event_type):
                await self._queue(records, stored, person_id, settings)

    async def _queue(
        self, records: Records, stored: StoredEvent, person_id: str, settings: NotifySettings
    ) -> None:
        destinations = [
            destination
            for destination in await records.notifications.destinations(person_id)
            if reaches_people(destination.channel, has_mail_server=self.core.has_mail_server)
        ]
        account = await records.accounts.get(person_id) if destinations else None
        if account is None or account.is_blocked:
            return
        at = self.core.clock.now()
        zone = self.zones.zone(settings.zone) or UTC
        due_at = time_to_tell(settings, stored.event.event_type, at, zone)
        if due_at is None:
            return
        counted = await self._count(records, stored, person_id, len(destinations), at, zone)
        if counted is Allowance.SAY_LIMIT and person_id == stored.account_id:
            limit = self._limit_event(stored, at)
            await records.events.append(stored.printer_id, [limit], at)
            return
        if counted is Allowance.SAY_LIMIT:
            # No event of the printer: its owner has nothing to do with a member's limit.
            stored = replace(stored, event=self._limit_event(stored, at), snapshot_id=None)
        elif counted is Allowance.NOTHING:
            return
        with speaking(account.language_of_messages):
            words = await self._message(records, stored, at, due_at)
        if counted is Allowance.SAY_LIMIT:
            words = replace(words, event_seq=None)
        ids = [destination.destination_id for destination in destinations]
        await records.notifications.queue(ids, words)

    async def _count(
        self,
        records: Records,
        stored: StoredEvent,
        person_id: str,
        messages: int,
        at: datetime,
        zone: tzinfo,
    ) -> Allowance:
        """Count the messages of the person's day."""
        if stored.event.event_type == EventType.NOTIFICATION_LIMIT_REACHED:
            return Allowance.SEND
        before = await records.notifications.counted(person_id)
        limit = limit_for(stored.event.event_type, self.daily_limit)
        after, allowance = count(before, at.astimezone(zone).date(), messages, limit)
        if after != before:
            await records.notifications.put_counted(person_id, after)
        return allowance

    def _limit_event(self, stored: StoredEvent, at: datetime) -> PrintEvent:
        return PrintEvent(
            event_id=new_record_id(self.core.token_bytes),
            event_type=EventType.NOTIFICATION_LIMIT_REACHED,
            event_time_sec=int(at.timestamp()),
            print_id=stored.event.print_id,
        )

    async def _message(
        self, records: Records, stored: StoredEvent, at: datetime, due_at: datetime
    ) -> NewMessage:
        printer = await records.printers.linked(stored.printer_id)
        is_theirs = printer is not None and printer.account_id == stored.account_id
        name = printer.name if printer is not None and is_theirs else translate(_NO_NAME)
        url = self.core.addresses.of_printer_page(stored.printer_id)
        picture_id = stored.snapshot_id
        picture = None if picture_id is None else self.core.addresses.of_turned_snapshot(picture_id)
        words = words_for(stored.event, name, url, picture)
        return NewMessage(
            title=words.title[:_LONGEST_TITLE],
            text=words.text,
            made_at=at,
            due_at=due_at,
            event_seq=stored.seq,
        )
