"""What is owed to a person for an event, and how it gets to them."""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from printreach.backends.clock import SystemZones
from printreach.contract.events import EventType, PrintEvent
from printreach.hub.notifications.enqueue import NotificationEnqueuer
from printreach.hub.notifications.push import PushNotifier
from printreach.hub.notifications.sending import NotificationSender
from printreach.hub.print_mails import MailUnsubscribe
from printreach.hub.prints.fanout import Fanout
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.addresses import Addresses
from printreach.rules.notifications import GIVEN_UP_AFTER, Destination, NotifySettings, QuietHours
from printreach.store.sealing import KeySealer
from tests.fakes.loop import on_a_loop
from tests.fakes.mails import RecordingMailer
from tests.fakes.messages import RecordingMessenger
from tests.fakes.push import RecordingPush
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World

PHONE = "ntfys://ntfy.sh/phone"
ADDRESSES = Addresses(base_url="https://reach.example", tunnel_domain="t.example")
OTHER_KEY = b"o" * 32


class Reached:
    """Ada's printer, and the places where she is told of it."""

    def __init__(
        self, world: World, account_id: str, limit: int = 200, *, has_mail_server: bool = True
    ) -> None:
        self.world = world
        self.account_id = account_id
        self.messenger = RecordingMessenger()
        self.mailer = RecordingMailer()
        self.sealer = KeySealer(b"s" * 32, secrets.token_bytes)
        self._made = 0
        core = replace(world.core, has_mail_server=has_mail_server)
        self.enqueuer = NotificationEnqueuer(core=core, zones=SystemZones(), daily_limit=limit)
        self.fanout = Fanout(world.core, [self.enqueuer])
        self.push = RecordingPush()
        self.sending = NotificationSender(
            core=core,
            messenger=self.messenger,
            sealer=self.sealer,
            mailer=self.mailer,
            push=PushNotifier(core=core, sealer=self.sealer, sender=self.push),
        )

    async def add_destination(
        self, url: str = PHONE, account_id: str = "", channel: str = "ntfy"
    ) -> str:
        self._made += 1
        destination_id = f"place{self._made}"
        destination = Destination(
            destination_id=destination_id,
            account_id=account_id or self.account_id,
            channel=channel,
            label="a place",
            sealed=self.sealer.seal(url, destination_id) if url else b"",
            created_at=self.world.clock.now(),
        )
        await self.world.store.write(
            lambda records: records.notifications.add_destination(destination)
        )
        return destination_id

    async def choose(self, settings: NotifySettings) -> None:
        await self.world.store.write(
            lambda records: records.notifications.put_settings(self.account_id, settings)
        )

    async def happens(self, kinds: Sequence[int], printer_id: str = PRINTER_ID) -> None:
        """Events arrive and are handed out; nothing is sent yet."""
        at = self.world.clock.now()
        events = [
            PrintEvent(
                event_id=secrets.token_hex(8),
                event_type=kind,
                event_time_sec=int(at.timestamp()),
                file_name="vase.gcode",
            )
            for kind in kinds
        ]
        await self.world.store.write(lambda records: records.events.append(printer_id, events, at))
        await self.fanout.fan_out_due()

    async def send(self) -> list[str]:
        """Send what is due; the titles of all that was sent so far."""
        await self.sending.begin_due()
        await self.sending.settled()
        await self.sending.begin_due()
        return [one.title for one in self.messenger.sent]

    async def destination(self, destination_id: str) -> Destination:
        found = await self.world.store.read(
            lambda records: records.notifications.destination(destination_id)
        )
        assert found is not None
        return found


@asynccontextmanager
async def reached(
    open_world: OpenWorld, limit: int = 200, *, has_mail_server: bool = True
) -> AsyncIterator[Reached]:
    async with open_world() as world:
        printer = await world.set_up()
        yield Reached(world, printer.account_id, limit, has_mail_server=has_mail_server)


@on_a_loop
async def test_an_event_is_told_at_every_place_with_the_printers_name(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination(PHONE)
        await ada.add_destination("ntfys://ntfy.sh/tablet")
        await ada.happens([EventType.COMPLETE])
        await ada.send()

        assert {one.url for one in ada.messenger.sent} == {PHONE, "ntfys://ntfy.sh/tablet"}
        assert {one.title for one in ada.messenger.sent} == {"Workshop: print finished"}
        assert all(
            one.text.endswith(f"https://reach.example/printers/{PRINTER_ID}")
            for one in ada.messenger.sent
        )


@on_a_loop
async def test_news_comes_in_its_order_and_once(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        kinds = [EventType.ERROR, EventType.FILAMENT_CHANGE_REQUIRED] * 10
        await ada.happens(kinds)
        for _ in range(5):
            await ada.send()

        assert [one.title for one in ada.messenger.sent] == [
            "Workshop: the printer reports an error",
            "Workshop: filament needs changing",
        ] * 10


@on_a_loop
async def test_nobody_hears_of_what_they_did_not_choose_or_of_anothers_printer(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        bob = await ada.world.add_account(BOB)
        await ada.world.link_printer(BOB, OTHER_KEY)
        await ada.add_destination("ntfys://ntfy.sh/bobs", bob.account_id)
        await ada.add_destination(PHONE)
        await ada.happens([EventType.STARTED, EventType.PROGRESS, EventType.COMPLETE])
        await ada.send()

        assert [one.url for one in ada.messenger.sent] == [PHONE]


@on_a_loop
async def test_a_printer_that_changed_hands_keeps_its_new_name_to_itself(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        at = ada.world.clock.now()
        event = PrintEvent(event_id="00000001", event_type=EventType.COMPLETE, event_time_sec=0)
        await ada.world.store.write(lambda records: records.events.append(PRINTER_ID, [event], at))
        await ada.world.printers.remove(PRINTER_ID)
        await ada.world.add_account(BOB)
        linked = await ada.world.link_printer(BOB)
        await ada.world.store.write(
            lambda records: records.printers.rename(linked.printer_id, "Bob's secret lair")
        )
        await ada.fanout.fan_out_due()

        assert await ada.send() == ["A printer: print finished"]


@on_a_loop
async def test_in_quiet_hours_news_waits_and_trouble_does_not(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        ada.world.clock.at = datetime(2026, 6, 1, 22, tzinfo=UTC)  # midnight in Berlin
        night = QuietHours(begins=time(22), ends=time(7), trouble_passes=True)
        await ada.choose(NotifySettings(quiet=night, zone="Europe/Berlin"))
        await ada.add_destination()
        await ada.happens([EventType.COMPLETE, EventType.ERROR])
        at_night = await ada.send()
        ada.world.clock.at = datetime(2026, 6, 2, 5, tzinfo=UTC)
        in_the_morning = await ada.send()

        assert at_night == ["Workshop: the printer reports an error"]
        assert in_the_morning[1:] == ["Workshop: print finished"]


@on_a_loop
async def test_beyond_the_daily_limit_it_is_said_once_that_there_is_no_more(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world, limit=3) as ada:
        await ada.add_destination()
        for _ in range(6):
            await ada.happens([EventType.COMPLETE])
        today = await ada.send()
        ada.world.clock.advance(timedelta(days=1))
        await ada.happens([EventType.COMPLETE])
        tomorrow = await ada.send()

        assert today == ["Workshop: print finished"] * 3 + ["Workshop: no more messages today"]
        assert tomorrow[4:] == ["Workshop: print finished"]


@on_a_loop
async def test_failure_detection_has_messages_left_when_the_days_others_are_used_up(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world, limit=4) as ada:
        await ada.add_destination()
        await ada.happens([EventType.COMPLETE] * 6)
        await ada.happens([EventType.POSSIBLE_FAILURE] * 3)
        titles = await ada.send()

        assert titles.count("Workshop: print finished") == 4
        assert len([one for one in titles if one.endswith("may be failing")]) == 1


@on_a_loop
async def test_the_reached_limit_is_an_event_that_others_hear_of_too(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world, limit=0) as ada:
        await ada.add_destination()
        await ada.happens([EventType.COMPLETE, EventType.COMPLETE])
        told = await ada.world.store.read(
            lambda records: records.events.after(ada.account_id, None, 10)
        )

        kinds = [stored.event.event_type for stored in told]
        assert kinds.count(EventType.NOTIFICATION_LIMIT_REACHED) == 1


@pytest.mark.slow
@on_a_loop
async def test_a_message_that_was_not_taken_is_tried_again_in_its_order(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination()
        ada.messenger.answer = NotSent(SendFailure.REFUSED, 503)
        await ada.happens([EventType.ERROR, EventType.COMPLETE])
        await ada.send()
        first_try = [one.title for one in ada.messenger.sent]
        trouble = (await ada.destination(destination)).trouble
        at_once = len(await ada.send())
        ada.messenger.answer = None
        ada.world.clock.advance(timedelta(seconds=31))
        after = await ada.send()

        assert first_try == ["Workshop: the printer reports an error"]
        assert trouble == "The service answered with status 503."
        assert at_once == 1
        assert after[1:] == ["Workshop: the printer reports an error", "Workshop: print finished"]
        assert (await ada.destination(destination)).trouble == ""


@on_a_loop
async def test_news_of_yesterday_is_given_up(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination()
        ada.messenger.answer = NotSent(SendFailure.UNREACHABLE)
        await ada.happens([EventType.ERROR])
        await ada.send()
        ada.world.clock.advance(GIVEN_UP_AFTER + timedelta(hours=1))
        await ada.send()
        ada.messenger.answer = None
        ada.world.clock.advance(timedelta(days=1))

        assert len(await ada.send()) == 2


@on_a_loop
async def test_a_mail_goes_to_the_accounts_address_where_it_was_confirmed(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        await ada.add_destination("", channel="mail")
        await ada.happens([EventType.COMPLETE])
        await ada.send()

        assert ada.messenger.sent == []
        assert [mail.subject for mail in ada.mailer.sent] == ["Workshop: print finished"]


@on_a_loop
async def test_without_a_mail_server_other_places_are_told_and_nothing_counts_as_mailed(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world, limit=1, has_mail_server=False) as ada:
        destination = await ada.add_destination("", channel="mail")
        await ada.add_destination()
        await ada.happens([EventType.COMPLETE])

        assert await ada.send() == ["Workshop: print finished"]
        assert ada.mailer.sent == []
        mailed = await ada.destination(destination)
        assert (mailed.sent_at, mailed.failures) == (None, 0)


@on_a_loop
async def test_a_message_that_waits_when_the_mail_server_is_taken_away_is_not_sent(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination("", channel="mail")
        await ada.happens([EventType.COMPLETE])
        ada.sending.core = replace(ada.sending.core, has_mail_server=False)
        await ada.send()

        assert ada.mailer.sent == []
        waiting = await ada.destination(destination)
        assert waiting.sent_at is None
        assert "no mail server" in waiting.trouble


@on_a_loop
async def test_each_mail_says_how_to_end_them(open_world: OpenWorld) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination("", channel="mail")
        await ada.happens([EventType.COMPLETE])
        await ada.send()
        [mail] = ada.mailer.sent
        assert mail.stop_url is not None
        assert mail.stop_url in mail.text
        page, _, token = mail.stop_url.partition("?token=")
        stops = MailUnsubscribe(store=ada.world.store, sealer=ada.sealer)

        assert page == "https://reach.example/notifications/stop"
        assert stops.destination_of(token) == destination
        assert await stops.stop(token)
        await ada.happens([EventType.COMPLETE])
        await ada.send()
        assert len(ada.mailer.sent) == 1


@on_a_loop
async def test_a_mail_counts_as_told_once_the_mail_server_has_taken_it(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination("", channel="mail")
        ada.mailer.answer = NotSent(SendFailure.MAIL_REFUSED, 451)
        await ada.happens([EventType.COMPLETE])
        await ada.send()
        refused = await ada.destination(destination)
        ada.mailer.answer = NotSent(SendFailure.MAIL_SERVER_AWAY)
        ada.world.clock.advance(timedelta(seconds=31))
        await ada.send()
        away = await ada.destination(destination)
        ada.mailer.answer = None
        ada.world.clock.advance(timedelta(minutes=3))
        await ada.send()
        told = await ada.destination(destination)

        assert refused.trouble == "The mail server did not accept the e-mail: it answered 451."
        assert away.trouble == "The mail server of this service can't be reached now."
        assert (away.sent_at, away.failures) == (None, 2)
        assert (told.sent_at, told.trouble) == (ada.world.clock.now(), "")
        assert [mail.subject for mail in ada.mailer.sent] == ["Workshop: print finished"] * 3


@on_a_loop
async def test_a_place_whose_secret_was_sealed_with_another_key_is_told_so(
    open_world: OpenWorld,
) -> None:
    async with reached(open_world) as ada:
        destination = await ada.add_destination()
        ada.sending.sealer = KeySealer(b"x" * 32, secrets.token_bytes)
        await ada.happens([EventType.COMPLETE])
        await ada.send()

        assert ada.messenger.sent == []
        assert "Add it again" in (await ada.destination(destination)).trouble
