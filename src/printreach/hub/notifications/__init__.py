"""An owner's notification settings: events, quiet hours and destinations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.events import EventType
from printreach.hub.core import Core
from printreach.hub.denied import Denied, Reason
from printreach.hub.notifications.push import PushNotifier
from printreach.hub.notifications.sending import NO_MAIL_SERVER, in_words, send_to
from printreach.hub.print_mails import mail_destination
from printreach.hub.printers.access import admitted_printer
from printreach.languages import N_, translate
from printreach.ports.notifications import Mailer, Messenger, NotSent, Sealer, SendFailure, Zones
from printreach.rules.accounts import Account
from printreach.rules.accounts.mails import Mail
from printreach.rules.connections.credentials import new_record_id
from printreach.rules.notifications import (
    MAX_DESTINATIONS,
    Destination,
    Events,
    NotifySettings,
    QuietHours,
    parse_event_types,
    parse_local_time,
    wants,
)
from printreach.rules.notifications.channels import (
    CHANNEL_BY_NAME,
    MAIL,
    PUSH,
    InvalidField,
    parse_destination,
    reaches_people,
)
from printreach.rules.notifications.words import TEST_TEXT, TEST_TITLE
from printreach.rules.printers import Printer
from printreach.rules.printers.members import Role
from printreach.rules.rate_limits import Limit, TooSoon
from printreach.store.listings import PrinterRow
from printreach.store.store import Records

TESTS: Final = Limit(name="notify-test", at_once=5, every=timedelta(seconds=20))
"""Each test calls a server of the person's choice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationOverview:
    """All that the settings page shows.

    shared: printers of others, with the addresses of their owners.
    """

    settings: NotifySettings
    destinations: Sequence[Destination]
    printers: Sequence[Printer]
    shared: Sequence[PrinterRow]
    sent_today: int


@dataclass(frozen=True, slots=True)
class WrongField:
    """What was typed is invalid. field: where."""

    field: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notifications:
    """The use cases. daily_limit: messages an account gets in a day.

    has_mail_server: without one, nobody can choose to be told by mail.
    """

    core: Core
    zones: Zones
    sealer: Sealer
    messenger: Messenger
    mailer: Mailer
    push: PushNotifier
    daily_limit: int

    async def chosen(self, account_id: str) -> NotificationOverview:
        """Return the present settings."""
        settings = await self.core.store.read(
            lambda records: records.notifications.settings(account_id)
        )
        counted = await self.core.store.read(
            lambda records: records.notifications.counted(account_id)
        )
        zone = self.zones.zone(settings.zone)
        today = self.core.clock.now().astimezone(zone).date()
        return NotificationOverview(
            settings=settings,
            destinations=await self.core.store.read(
                lambda records: records.notifications.destinations(account_id)
            ),
            printers=await self.core.store.read(
                lambda records: records.printers.of_account(account_id)
            ),
            shared=await self.core.store.read(
                lambda records: records.printers.rows_of_member(account_id)
            ),
            sent_today=counted.messages if counted is not None and counted.day == today else 0,
        )

    # --- destinations -----------------------------------------------------------------------------

    async def add(
        self, account: Account, channel_name: str, typed: Mapping[str, str]
    ) -> Destination | WrongField:
        """Add a destination. Nothing is sent there yet."""
        channel = CHANNEL_BY_NAME.get(channel_name)
        if channel is None or channel.name == PUSH:
            return WrongField("way", N_("Choose a channel."))
        if not reaches_people(channel.name, has_mail_server=self.core.has_mail_server):
            return WrongField("way", NO_MAIL_SERVER)
        address = parse_destination(channel, typed)
        if isinstance(address, InvalidField):
            return WrongField(address.field, address.sentence)
        if channel.name == MAIL and account.verified_at is None:
            return WrongField("way", N_("Confirm your e-mail address first."))
        if address.url and not await self.messenger.check(address.url):
            field = next(iter(channel.fields)).name
            return WrongField(
                field, N_("The server must have a public https address. Check each field.")
            )
        at = self.core.clock.now()
        if channel.name == MAIL:
            destination = mail_destination(self.core.token_bytes, account.account_id, at)
        else:
            destination_id = new_record_id(self.core.token_bytes)
            destination = Destination(
                destination_id=destination_id,
                account_id=account.account_id,
                channel=channel.name,
                label=address.label,
                sealed=self.sealer.seal(address.url, destination_id),
                created_at=at,
            )
        return await self.core.store.write(lambda records: add_destination(records, destination))

    async def remove(self, account_id: str, destination_id: str) -> bool:
        """Remove a destination and its queued messages; return whether there was one."""
        return await self.core.store.write(
            lambda records: records.notifications.remove_destination(account_id, destination_id)
        )

    async def destination(self, account_id: str, destination_id: str) -> Destination | None:
        """Return the destination if it belongs to that account."""
        found = await self.core.store.read(
            lambda records: records.notifications.destination(destination_id)
        )
        return found if found is not None and found.account_id == account_id else None

    async def test(self, account: Account, destination_id: str) -> str | Denied | TooSoon:
        """Send a test now, and return the outcome. It does not count against the daily limit."""
        destination = await self.destination(account.account_id, destination_id)
        if destination is None:
            return Denied(Reason.INVALID, N_("This channel was removed."))
        refused = self.core.caller_tries.take(TESTS, account.account_id)
        if refused is not None:
            return refused
        trouble = await self._send_test(account, destination)
        if trouble is not None and trouble.trouble is SendFailure.DEVICE_GONE:
            await self.remove(account.account_id, destination_id)
            return Denied(Reason.INVALID, in_words(trouble))
        await self.core.store.write(
            lambda records: _note_test(records, destination, trouble, self.core.clock.now())
        )
        if trouble is not None:
            return Denied(Reason.INVALID, in_words(trouble))
        return "sent"

    async def _send_test(self, account: Account, destination: Destination) -> NotSent | None:
        if not reaches_people(destination.channel, has_mail_server=self.core.has_mail_server):
            return NotSent(SendFailure.NO_MAIL_SERVER)
        if destination.channel == MAIL:
            mail = Mail(to=account.email, subject=translate(TEST_TITLE), text=translate(TEST_TEXT))
            return await self.mailer.hand_in(mail)
        if destination.channel == PUSH:
            return await self.push.send_test(destination)
        return await send_to(
            self.messenger, self.sealer, destination, translate(TEST_TITLE), translate(TEST_TEXT)
        )

    # --- choices ----------------------------------------------------------------------------------

    async def choose_events(self, account_id: str, ticked: list[str]) -> WrongField | None:
        """Choose the events that the account is notified of, except for printers with their own
        choice."""
        events = parse_event_types(ticked)
        if events is None:
            return WrongField("events", N_("Choose from the list."))
        await self._change(account_id, lambda settings: replace(settings, events=events))
        return None

    async def choose_quiet(
        self,
        account_id: str,
        *,
        is_on: bool,
        begins: str,
        ends: str,
        zone: str,
        trouble_passes: bool,
    ) -> WrongField | None:
        """Choose quiet hours, in the person's time zone."""
        if self.zones.zone(zone) is None:
            return WrongField("zone", N_("Choose a time zone from the list."))
        first, last = parse_local_time(begins), parse_local_time(ends)
        if is_on and (first is None or last is None):
            return WrongField(
                "begins" if first is None else "ends", N_("Enter a time such as 22:30.")
            )
        if is_on and first == last:
            return WrongField("ends", N_("Choose a different time from the start."))
        quiet = None
        if is_on and first is not None and last is not None:
            quiet = QuietHours(begins=first, ends=last, trouble_passes=trouble_passes)
        await self._change(account_id, lambda settings: replace(settings, quiet=quiet, zone=zone))
        return None

    async def choose_for_printer(
        self, account_id: str, printer_id: str, ticked: list[str] | None
    ) -> WrongField | Denied | None:
        """Choose a printer's own events.

        ticked: None to use those of the account, or none of a printer that is shared.
        """
        events: Events | None = None
        if ticked is not None and (events := parse_event_types(ticked)) is None:
            return WrongField("events", N_("Choose from the list."))

        async def choose(records: Records) -> Denied | None:
            admitted = await admitted_printer(records, account_id, printer_id, Role.WATCH)
            if isinstance(admitted, Denied):
                return admitted
            await records.notifications.set_of_printer(account_id, printer_id, events)
            return None

        return await self.core.store.write(choose)

    async def _change(
        self, account_id: str, change: Callable[[NotifySettings], NotifySettings]
    ) -> None:
        async def put(records: Records) -> None:
            settings = await records.notifications.settings(account_id)
            await records.notifications.put_settings(account_id, change(settings))

        await self.core.store.write(put)


async def is_notified_of(
    records: Records,
    account_id: str,
    printer_id: str,
    event_type: EventType,
    *,
    has_mail_server: bool,
) -> bool:
    """Return whether such an event at the printer would be notified to any destination."""
    destinations = await records.notifications.destinations(account_id)
    if not any(
        reaches_people(destination.channel, has_mail_server=has_mail_server)
        for destination in destinations
    ):
        return False
    return wants(await records.notifications.settings(account_id), printer_id, event_type)


async def add_destination(records: Records, destination: Destination) -> Destination | WrongField:
    """Add a destination, unless the account has as many as it may, or has its mail address."""
    existing = await records.notifications.destinations(destination.account_id)
    if len(existing) >= MAX_DESTINATIONS:
        return WrongField(
            "way",
            N_(
                "%(max_destinations)s channels is the limit. Remove one first.",
                max_destinations=MAX_DESTINATIONS,
            ),
        )
    if destination.channel == MAIL and any(destination.channel == MAIL for destination in existing):
        return WrongField("way", N_("Your e-mail address is already on the list."))
    await records.notifications.add_destination(destination)
    return destination


async def _note_test(
    records: Records, destination: Destination, trouble: NotSent | None, at: datetime
) -> None:
    """Store the outcome of a test; if it worked, queued messages are sent now."""
    if trouble is None:
        await records.notifications.note_answer(destination.destination_id, at)
    else:
        await records.notifications.note_trouble(destination.destination_id, in_words(trouble))
