"""Browsers as destinations: added by themselves, told of events, ended."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select

from printreach.backends.clock import SystemZones
from printreach.contract.events import EventType, PrintEvent
from printreach.hub.accounts.sessions import Sessions, Visitor
from printreach.hub.denied import Denied
from printreach.hub.notifications import Notifications
from printreach.hub.notifications.devices import Devices
from printreach.hub.notifications.push import PushNotifier
from printreach.hub.prints.fanout import Fanout
from printreach.ports.notifications import NotSent, SendFailure
from printreach.rules.accounts import Account
from printreach.rules.accounts.sessions import Session
from printreach.rules.notifications import MAX_DESTINATIONS, Destination
from printreach.rules.notifications.push import MAX_DEVICES, PushAct
from printreach.store.notifications.tables import push_acts
from printreach.store.tables import events
from tests.fakes.loop import on_a_loop
from tests.fakes.push import SubscribedBrowser
from tests.hub.notifications.test_enqueue import Reached, reached
from tests.hub.world import ADA, BOB, PRINTER_ID, OpenWorld

CHROME = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36"


class Pushed:
    """Ada, who is signed in with a browser on her phone."""

    def __init__(self, ada: Reached) -> None:
        self.ada = ada
        core = ada.sending.core
        self.sessions = Sessions(core=core)
        self.devices = Devices(core=core, sealer=ada.sealer, sender=ada.push)
        self.notifications = Notifications(
            core=core,
            zones=SystemZones(),
            sealer=ada.sealer,
            messenger=ada.messenger,
            mailer=ada.mailer,
            push=PushNotifier(core=core, sealer=ada.sealer, sender=ada.push),
            daily_limit=200,
        )

    async def sign_in(self, account_id: str = "") -> Session:
        made = await self.ada.world.store.write(
            lambda records: self.sessions.begin(
                records,
                account_id or self.ada.account_id,
                Visitor(address="192.0.2.1", browser=CHROME),
            )
        )
        assert not isinstance(made, Denied)
        return made.session

    async def add(
        self, session: Session | None = None, browser: SubscribedBrowser | None = None
    ) -> Destination:
        session = session or await self.sign_in()
        self.ada.world.clock.advance(timedelta(minutes=1))  # so that no limit is met
        added = await self.devices.add(session, (browser or SubscribedBrowser()).to_json())
        assert isinstance(added, Destination), added
        return added

    async def listed(self, account_id: str = "") -> list[Destination]:
        return await self.ada.world.store.read(
            lambda records: records.notifications.destinations(account_id or self.ada.account_id)
        )

    async def warn(self, picture: str | None = None) -> None:
        at = self.ada.world.clock.now()
        event = PrintEvent(
            event_id=secrets.token_hex(8),
            event_type=EventType.POSSIBLE_FAILURE,
            event_time_sec=int(at.timestamp()),
            print_id="print-1",
            file_name="vase.gcode",
        )
        await self.ada.world.store.write(
            lambda records: records.events.append(PRINTER_ID, [event], at)
        )
        fanout = self.ada.fanout
        if picture is not None:

            async def take(_: object) -> str:
                return picture

            fanout = Fanout(self.ada.world.core, [self.ada.enqueuer], take)
        await fanout.fan_out_due()
        await fanout.settled()

    async def account(self, email: str = ADA) -> Account:
        found = await self.ada.world.store.read(lambda records: records.accounts.with_email(email))
        assert found is not None
        return found


@asynccontextmanager
async def pushed(open_world: OpenWorld) -> AsyncIterator[Pushed]:
    async with reached(open_world) as ada:
        yield Pushed(ada)


@on_a_loop
async def test_a_browser_is_named_after_itself_and_its_secrets_are_sealed(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        browser = SubscribedBrowser("https://push.example/send/secret-endpoint")
        added = await phone.add(browser=browser)

        assert (added.channel, added.label) == ("push", "Chrome on Android")
        stored = phone.ada.world.everything_on_disk()
        assert b"secret-endpoint" not in stored
        assert json.loads(browser.to_json())["keys"]["auth"].encode() not in stored


@on_a_loop
async def test_a_warning_is_pushed_with_its_picture_and_its_buttons(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        await phone.warn(picture="snapshot1")
        await phone.ada.send()

        [one] = phone.ada.push.sent
        assert one.message.title == "Workshop: this print may be failing"
        assert "https://" not in one.message.text
        assert one.message.url == f"https://reach.example/printers/{PRINTER_ID}"
        assert one.message.picture == "https://reach.example/snapshots/snapshot1.jpg?turned=yes"
        assert [button.act for button in one.message.buttons] == list(PushAct)
        assert len({button.token for button in one.message.buttons}) == 2
        for button in one.message.buttons:
            assert button.token.encode() not in phone.ada.world.everything_on_disk()


@on_a_loop
async def test_other_news_has_no_buttons(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        await phone.ada.happens([EventType.COMPLETE])
        await phone.ada.send()

        [one] = phone.ada.push.sent
        assert one.message.title == "Workshop: print finished"
        assert one.message.text == "vase.gcode is finished."
        assert one.message.buttons == []


@on_a_loop
async def test_a_message_whose_event_is_not_kept_any_more_is_pushed_all_the_same(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        await phone.ada.happens([EventType.COMPLETE])
        await phone.ada.world.store.write(
            lambda records: records.connection.execute(delete(events))
        )
        await phone.ada.send()

        [one] = phone.ada.push.sent
        assert one.message.title == "Workshop: print finished"


@on_a_loop
async def test_a_browser_that_takes_no_more_messages_is_removed(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        phone.ada.push.answer = NotSent(SendFailure.DEVICE_GONE, 410)
        await phone.warn()
        await phone.ada.send()

        assert await phone.listed() == []
        assert len(phone.ada.push.sent) == 1


@pytest.mark.slow
@on_a_loop
async def test_a_sender_that_fails_unexpectedly_names_no_endpoint_in_the_log(
    open_world: OpenWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async with pushed(open_world) as phone:
        await phone.add(browser=SubscribedBrowser("https://push.example/secret-endpoint"))

        async def fail(*_: object) -> None:
            raise RuntimeError("https://push.example/secret-endpoint")

        phone.ada.push.send = fail  # type: ignore[method-assign, assignment]
        await phone.warn()
        await phone.ada.send()

        assert "RuntimeError" in caplog.text
        assert "secret-endpoint" not in caplog.text


@on_a_loop
async def test_signing_out_ends_the_subscription(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        session, other = await phone.sign_in(), await phone.sign_in()
        await phone.add(session)
        kept = await phone.add(other)
        await phone.sessions.end(phone.ada.account_id, session.session_id)

        assert [one.destination_id for one in await phone.listed()] == [kept.destination_id]


@on_a_loop
async def test_signing_out_every_other_browser_keeps_ones_own(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        session, other = await phone.sign_in(), await phone.sign_in()
        kept = await phone.add(session)
        await phone.add(other)
        await phone.ada.add_destination()
        await phone.sessions.end_others(phone.ada.account_id, session.session_id)

        assert {one.channel for one in await phone.listed()} == {"push", "ntfy"}
        assert kept.destination_id in [one.destination_id for one in await phone.listed()]
        assert len(await phone.listed()) == 2


@on_a_loop
async def test_a_session_that_expires_by_itself_ends_no_subscription(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        phone.ada.world.clock.advance(timedelta(days=40))
        await phone.sign_in()  # old sessions are forgotten then

        assert len(await phone.listed()) == 1


@on_a_loop
async def test_the_next_session_of_the_browser_takes_its_subscription_over(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        browser = SubscribedBrowser()
        added = await phone.add(browser=browser)
        later = await phone.sign_in()
        renewed = await phone.devices.renew(later, browser.to_json())
        await phone.sessions.end(phone.ada.account_id, later.session_id)

        assert isinstance(renewed, Destination)
        assert renewed.destination_id == added.destination_id
        assert await phone.listed() == []


@on_a_loop
async def test_a_subscription_of_another_account_is_not_renewed(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        browser = SubscribedBrowser()
        await phone.add(browser=browser)
        bob = await phone.ada.world.add_account(BOB)
        theirs = await phone.sign_in(bob.account_id)

        assert isinstance(await phone.devices.renew(theirs, browser.to_json()), Denied)
        assert len(await phone.listed()) == 1


@on_a_loop
async def test_a_browser_that_another_person_uses_now_shows_only_their_messages(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        browser = SubscribedBrowser()
        await phone.add(browser=browser)
        bob = await phone.ada.world.add_account(BOB)
        await phone.add(await phone.sign_in(bob.account_id), browser)

        assert await phone.listed() == []
        assert len(await phone.listed(bob.account_id)) == 1


@on_a_loop
async def test_who_knows_only_the_endpoint_takes_no_browser_from_anybody(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        await phone.add(browser=SubscribedBrowser("https://push.example/known"))
        bob = await phone.ada.world.add_account(BOB)
        theirs = await phone.sign_in(bob.account_id)
        await phone.add(theirs, SubscribedBrowser("https://push.example/known"))

        assert len(await phone.listed()) == 1


@on_a_loop
async def test_the_same_browser_is_added_once(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        browser = SubscribedBrowser()
        first, second = await phone.add(browser=browser), await phone.add(browser=browser)

        assert first.destination_id == second.destination_id
        assert len(await phone.listed()) == 1


@on_a_loop
async def test_an_account_has_so_many_browsers_at_most(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        session = await phone.sign_in()
        for _ in range(MAX_DEVICES):
            await phone.add(session)
        phone.ada.world.clock.advance(timedelta(hours=1))
        refused = await phone.devices.add(session, SubscribedBrowser().to_json())

        assert isinstance(refused, Denied)
        assert "You can have up to" in refused.sentence
        assert len(await phone.listed()) == MAX_DEVICES < MAX_DESTINATIONS


@on_a_loop
async def test_an_endpoint_that_may_not_be_called_is_refused(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        phone.ada.push.problem = "This service may not call it."
        refused = await phone.devices.add(await phone.sign_in(), SubscribedBrowser().to_json())

        assert isinstance(refused, Denied)
        assert await phone.listed() == []


@on_a_loop
async def test_a_test_is_pushed_and_one_that_shows_an_ended_subscription_removes_it(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        added, ada = await phone.add(), await phone.account()
        worked = await phone.notifications.test(ada, added.destination_id)
        phone.ada.push.answer = NotSent(SendFailure.DEVICE_GONE, 404)
        refused = await phone.notifications.test(ada, added.destination_id)

        assert worked == "sent"
        assert isinstance(refused, Denied)
        assert "was removed" in refused.sentence
        assert await phone.listed() == []


@on_a_loop
async def test_a_browser_is_not_added_by_the_form_of_other_places(open_world: OpenWorld) -> None:
    async with pushed(open_world) as phone:
        added = await phone.notifications.add(await phone.account(), "push", {})

        assert not isinstance(added, Destination)
        assert await phone.listed() == []


@on_a_loop
async def test_buttons_that_are_over_are_forgotten_and_what_was_done_stays_for_a_time(
    open_world: OpenWorld,
) -> None:
    async with pushed(open_world) as phone:
        await phone.add()
        await phone.warn()
        await phone.ada.send()

        async def left() -> int:
            found = await phone.ada.world.store.read(
                lambda records: records.connection.scalar(
                    select(func.count()).select_from(push_acts)
                )
            )
            return int(found or 0)

        before = await left()
        phone.ada.world.clock.advance(timedelta(hours=3))
        await phone.ada.sending.forget_acts()

        assert (before, await left()) == (2, 0)
