"""Queues notifications of an event: one message for each destination that wants it.

This happens in the unit of work that hands the event out, so a message is queued exactly once, even
after a crash.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from printreach.contract.events import EventType, PrintEvent
from printreach.hub.core import Core
from printreach.ports.notifications import Zones
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.notifications import (
    Allowance,
    Destination,
    NewMessage,
    NotifySettings,
    count,
    limit_for,
    time_to_tell,
    wants,
)
from printreach.rules.notifications.channels import reaches_people
from printreach.rules.notifications.words import words_for
from printreach.store.prints.events import StoredEvent
from printreach.store.store import Records

_LONGEST_TITLE = 200
_NO_NAME = "A printer"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationEnqueuer:
    """hub.prints.fanout.Consumer. daily_limit: messages an account gets in a day.

    has_mail_server: without one, nothing is queued for destinations by mail.
    """

    core: Core
    zones: Zones
    daily_limit: int

    async def consume(self, records: Records, stored: StoredEvent) -> None:
        """Queue a message for each destination, if the owner wants to hear of such events."""
        destinations = [
            destination
            for destination in await records.notifications.destinations(stored.account_id)
            if reaches_people(destination.channel, has_mail_server=self.core.has_mail_server)
        ]
        account = await records.accounts.get(stored.account_id) if destinations else None
        if account is None or account.is_blocked:
            return
        settings = await records.notifications.settings(stored.account_id)
        if not wants(settings, stored.printer_id, stored.event.event_type):
            return
        at = self.core.clock.now()
        zone = self.zones.zone(settings.zone) or UTC
        due_at = time_to_tell(settings, stored.event.event_type, at, zone)
        if due_at is None or not await self._may_send(records, stored, settings, destinations, at):
            return
        words = await self._message(records, stored, at, due_at)
        await records.notifications.queue(
            [destination.destination_id for destination in destinations], words
        )

    async def _may_send(
        self,
        records: Records,
        stored: StoredEvent,
        settings: NotifySettings,
        destinations: Sequence[Destination],
        at: datetime,
    ) -> bool:
        """Count the messages; the first that is too many becomes an event of its own."""
        if stored.event.event_type == EventType.NOTIFICATION_LIMIT_REACHED:
            return True
        day = at.astimezone(self.zones.zone(settings.zone) or UTC).date()
        before = await records.notifications.counted(stored.account_id)
        limit = limit_for(stored.event.event_type, self.daily_limit)
        after, allowance = count(before, day, len(destinations), limit)
        if after != before:
            await records.notifications.put_counted(stored.account_id, after)
        if allowance is Allowance.SAY_LIMIT:
            await records.events.append(stored.printer_id, [self._limit_event(stored, at)], at)
        return allowance is Allowance.SEND

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
        name = printer.name if printer is not None and is_theirs else _NO_NAME
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
