"""What a person hears of their prints, and where: chosen, tried and taken back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from printreach.contract.events import EventType
from printreach.hub.denied import Denied, Reason
from printreach.hub.notify.sending import NO_MAIL_SERVER, in_words, send_to
from printreach.hub.print_mails import mail_destination
from printreach.hub.printers import own_printer
from printreach.hub.tries import CallerTries
from printreach.ports import Clock, Mail, Mailer, Records, Store
from printreach.ports.notifications import Messenger, NotifyTarget, NotSent, Sealer, Trouble, Zones
from printreach.rules.accounts import Account
from printreach.rules.credentials import TokenBytes, new_record_id
from printreach.rules.notifications import (
    MOST_TARGETS,
    Events,
    NotifySettings,
    QuietHours,
    parse_event_types,
    parse_local_time,
    wants,
)
from printreach.rules.notify_ways import MAIL, WAY_BY_NAME, Wrong, reaches_people, read_place
from printreach.rules.notify_words import TEST_TEXT, TEST_TITLE
from printreach.rules.printers import Printer
from printreach.rules.rate_limits import Limit, TooSoon

TESTS: Final = Limit(name="notify-test", at_once=5, every=timedelta(seconds=20))
"""A test calls a stranger's server at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """All that a page shows."""

    settings: NotifySettings
    targets: Sequence[NotifyTarget]
    printers: Sequence[Printer]
    sent_today: int


@dataclass(frozen=True, slots=True)
class WrongField:
    """What was typed is wrong. field: where."""

    field: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notifications:
    """The use cases. daily_limit: messages an account gets in a day.

    has_mail_server: without one, nobody can choose to be told by mail.
    """

    store: Store
    clock: Clock
    token_bytes: TokenBytes
    zones: Zones
    sealer: Sealer
    messenger: Messenger
    mailer: Mailer
    caller_tries: CallerTries
    daily_limit: int
    has_mail_server: bool

    async def chosen(self, account_id: str) -> Chosen:
        """As it is now."""
        settings = await self.store.read(lambda records: records.notifications.settings(account_id))
        counted = await self.store.read(lambda records: records.notifications.counted(account_id))
        zone = self.zones.zone(settings.zone)
        today = self.clock.now().astimezone(zone).date()
        return Chosen(
            settings=settings,
            targets=await self.store.read(
                lambda records: records.notifications.targets(account_id)
            ),
            printers=await self.store.read(lambda records: records.printers.of_account(account_id)),
            sent_today=counted.messages if counted is not None and counted.day == today else 0,
        )

    # --- places -----------------------------------------------------------------------------------

    async def add(
        self, account: Account, way_name: str, typed: Mapping[str, str]
    ) -> NotifyTarget | WrongField:
        """Add a place. Nothing is sent there yet."""
        way = WAY_BY_NAME.get(way_name)
        if way is None:
            return WrongField("way", "Choose how you want to be told.")
        if not reaches_people(way.name, has_mail_server=self.has_mail_server):
            return WrongField("way", NO_MAIL_SERVER)
        place = read_place(way, typed)
        if isinstance(place, Wrong):
            return WrongField(place.field, place.sentence)
        if way.name == MAIL and account.verified_at is None:
            return WrongField("way", "Confirm your mail address first.")
        if place.url and not await self.messenger.check(place.url):
            field = next(iter(way.fields)).name
            return WrongField(field, "This can't be used. Check each field.")
        at = self.clock.now()
        if way.name == MAIL:
            target = mail_destination(self.token_bytes, account.account_id, at)
        else:
            target_id = new_record_id(self.token_bytes)
            target = NotifyTarget(
                target_id=target_id,
                account_id=account.account_id,
                way=way.name,
                label=place.label,
                sealed=self.sealer.seal(place.url, target_id),
                created_at=at,
            )
        return await self.store.write(lambda records: _add(records, target))

    async def remove(self, account_id: str, target_id: str) -> bool:
        """Whether there was such a place; what waits for it goes too."""
        return await self.store.write(
            lambda records: records.notifications.remove_target(account_id, target_id)
        )

    async def target(self, account_id: str, target_id: str) -> NotifyTarget | None:
        """The place, where it is that account's."""
        found = await self.store.read(lambda records: records.notifications.target(target_id))
        return found if found is not None and found.account_id == account_id else None

    async def test(self, account: Account, target_id: str) -> str | Denied | TooSoon:
        """Send a test there now, and say what came of it. It counts for no limit of a day."""
        target = await self.target(account.account_id, target_id)
        if target is None:
            return Denied(Reason.INVALID, "There is no such place any more.")
        refused = self.caller_tries.take(TESTS, account.account_id)
        if refused is not None:
            return refused
        trouble = await self._send_test(account, target)
        await self.store.write(
            lambda records: _note_test(records, target, trouble, self.clock.now())
        )
        if trouble is not None:
            return Denied(Reason.INVALID, in_words(trouble))
        return "sent"

    async def _send_test(self, account: Account, target: NotifyTarget) -> NotSent | None:
        if not reaches_people(target.way, has_mail_server=self.has_mail_server):
            return NotSent(Trouble.NO_MAIL_SERVER)
        if target.way == MAIL:
            mail = Mail(to=account.email, subject=TEST_TITLE, text=TEST_TEXT)
            return await self.mailer.hand_in(mail)
        return await send_to(self.messenger, self.sealer, target, TEST_TITLE, TEST_TEXT)

    # --- choices ----------------------------------------------------------------------------------

    async def choose_events(self, account_id: str, ticked: list[str]) -> WrongField | None:
        """What the account hears of, printers with a choice of their own aside."""
        events = parse_event_types(ticked)
        if events is None:
            return WrongField("events", "Choose from the list.")
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
        """When the person is left in peace, by the clocks of where they live."""
        if self.zones.zone(zone) is None:
            return WrongField("zone", "Choose a time zone from the list.")
        first, last = parse_local_time(begins), parse_local_time(ends)
        if is_on and (first is None or last is None):
            return WrongField("begins" if first is None else "ends", "Type a time, such as 22:30.")
        if is_on and first == last:
            return WrongField("ends", "Choose another time than the beginning.")
        quiet = None
        if is_on and first is not None and last is not None:
            quiet = QuietHours(begins=first, ends=last, trouble_passes=trouble_passes)
        await self._change(account_id, lambda settings: replace(settings, quiet=quiet, zone=zone))
        return None

    async def choose_for_printer(
        self, account_id: str, printer_id: str, ticked: list[str] | None
    ) -> WrongField | Denied | None:
        """ticked: None to hear the same of it as of the others."""
        events: Events | None = None
        if ticked is not None and (events := parse_event_types(ticked)) is None:
            return WrongField("events", "Choose from the list.")

        async def choose(records: Records) -> Denied | None:
            printer = await own_printer(records, account_id, printer_id)
            if isinstance(printer, Denied):
                return printer
            await records.notifications.set_of_printer(account_id, printer_id, events)
            return None

        return await self.store.write(choose)

    async def _change(
        self, account_id: str, change: Callable[[NotifySettings], NotifySettings]
    ) -> None:
        async def put(records: Records) -> None:
            settings = await records.notifications.settings(account_id)
            await records.notifications.put_settings(account_id, change(settings))

        await self.store.write(put)


async def hears_of(
    records: Records,
    account_id: str,
    printer_id: str,
    event_type: EventType,
    *,
    has_mail_server: bool,
) -> bool:
    """Whether anything would be told anywhere if that happened at the printer."""
    targets = await records.notifications.targets(account_id)
    if not any(reaches_people(one.way, has_mail_server=has_mail_server) for one in targets):
        return False
    return wants(await records.notifications.settings(account_id), printer_id, event_type)


async def _add(records: Records, target: NotifyTarget) -> NotifyTarget | WrongField:
    existing = await records.notifications.targets(target.account_id)
    if len(existing) >= MOST_TARGETS:
        return WrongField("way", f"{MOST_TARGETS} places are the most. Remove one first.")
    if target.way == MAIL and any(one.way == MAIL for one in existing):
        return WrongField("way", "Your mail address is on the list already.")
    await records.notifications.add_target(target)
    return target


async def _note_test(
    records: Records, target: NotifyTarget, trouble: NotSent | None, at: datetime
) -> None:
    """What waits for a place that works again is sent now."""
    if trouble is None:
        await records.notifications.note_answer(target.target_id, at)
    else:
        await records.notifications.note_trouble(target.target_id, in_words(trouble))
