"""Notifications of a printer that is shared with somebody: chosen by them, and theirs alone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from printreach.contract.events import EventType
from printreach.hub.denied import Denied
from printreach.hub.printers.members import Members
from printreach.rules.notifications import NotifySettings, QuietHours
from printreach.rules.notifications.push import PushAct
from printreach.rules.printers.members import Member, Role
from tests.fakes.loop import on_a_loop
from tests.hub.notifications.test_enqueue import PHONE, Reached, reached
from tests.hub.notifications.test_push import Pushed
from tests.hub.world import BOB, PRINTER_ID, OpenWorld

BOBS: str = "ntfys://ntfy.sh/bobs"
CHOSEN = (EventType.COMPLETE, EventType.POSSIBLE_FAILURE)


class Shared(Reached):
    """Ada's printer, which she shares with Bob; both have a channel. bob_id: his account."""

    bob_id: str

    async def share(self, role: Role = Role.WATCH) -> None:
        member = Member(
            printer_id=PRINTER_ID,
            account_id=self.account_id,
            person_id=self.bob_id,
            role=role,
            since=self.world.clock.now(),
        )
        await self.world.store.write(lambda records: records.members.put(member))

    async def choose_as_bob(self, kinds: Sequence[int] | None) -> object:
        ticked = None if kinds is None else [str(int(kind)) for kind in kinds]
        notifications = Pushed(self).notifications
        return await notifications.choose_for_printer(self.bob_id, PRINTER_ID, ticked)

    async def bobs(self) -> list[str]:
        await self.send()
        return [one.title for one in self.messenger.sent if one.url == BOBS]


@asynccontextmanager
async def shared(
    open_world: OpenWorld, role: Role = Role.WATCH, limit: int = 200
) -> AsyncIterator[Shared]:
    async with reached(open_world, limit) as ada:
        here = Shared(ada.world, ada.account_id, limit)
        here.bob_id = (await here.world.add_account(BOB)).account_id
        await here.share(role)
        await here.add_destination(PHONE)
        await here.add_destination(BOBS, here.bob_id)
        yield here


@on_a_loop
async def test_without_a_choice_of_their_own_a_member_is_told_nothing(
    open_world: OpenWorld,
) -> None:
    async with shared(open_world) as here:
        await here.happens([EventType.COMPLETE, EventType.ERROR])

        assert await here.bobs() == []
        assert len(here.messenger.sent) == 2


@on_a_loop
async def test_a_member_is_told_of_what_they_chose_whatever_the_owner_chose(
    open_world: OpenWorld,
) -> None:
    async with shared(open_world) as here:
        await here.choose(NotifySettings(events=frozenset()))
        assert await here.choose_as_bob(CHOSEN) is None
        await here.happens([EventType.COMPLETE, EventType.STARTED, EventType.POSSIBLE_FAILURE])

        assert await here.bobs() == [
            "Workshop: print finished",
            "Workshop: this print may be failing",
        ]
        assert {one.url for one in here.messenger.sent} == {BOBS}


@on_a_loop
async def test_a_member_hears_nothing_of_the_owners_other_printers(open_world: OpenWorld) -> None:
    async with shared(open_world) as here:
        await here.choose_as_bob(CHOSEN)
        other = await here.world.link_printer(key=b"o" * 32)
        await here.happens(CHOSEN, other.printer_id)

        assert await here.bobs() == []
        refused = await Pushed(here).notifications.choose_for_printer(
            here.bob_id, other.printer_id, ["2"]
        )
        assert isinstance(refused, Denied)


@on_a_loop
async def test_what_waits_in_quiet_hours_is_not_told_once_the_share_has_ended(
    open_world: OpenWorld,
) -> None:
    async with shared(open_world) as here:
        await here.choose_as_bob(CHOSEN)
        now = here.world.clock.now()
        quiet = QuietHours(
            begins=(now - timedelta(hours=1)).time().replace(second=0, microsecond=0),
            ends=(now + timedelta(hours=1)).time().replace(second=0, microsecond=0),
            trouble_passes=False,
        )
        settings = await here.world.store.read(
            lambda records: records.notifications.settings(here.bob_id)
        )
        await here.world.store.write(
            lambda records: records.notifications.put_settings(
                here.bob_id, NotifySettings(events=settings.events, quiet=quiet)
            )
        )
        await here.happens([EventType.COMPLETE])
        await Members(core=here.world.core).end(here.account_id, PRINTER_ID, here.bob_id)
        here.world.clock.advance(timedelta(hours=2))

        assert await here.bobs() == []
        await here.happens([EventType.COMPLETE])
        assert await here.bobs() == []


@on_a_loop
async def test_a_choice_does_not_come_back_with_a_later_share(open_world: OpenWorld) -> None:
    async with shared(open_world) as here:
        await here.choose_as_bob(CHOSEN)
        members = Members(core=here.world.core)
        await members.leave(here.bob_id, PRINTER_ID)
        ada = await here.world.store.read(lambda records: records.accounts.get(here.account_id))
        bob = await here.world.store.read(lambda records: records.accounts.get(here.bob_id))
        assert ada is not None
        assert bob is not None
        made = await members.invite(ada, PRINTER_ID, Role.WATCH, None, 1)
        assert not isinstance(made, Denied)
        assert hasattr(made, "link")
        assert await members.accept(bob, made.link.partition("token=")[2]) == PRINTER_ID
        await here.happens([EventType.COMPLETE])

        assert await here.bobs() == []


@on_a_loop
async def test_a_blocked_member_is_told_nothing(open_world: OpenWorld) -> None:
    async with shared(open_world) as here:
        await here.choose_as_bob(CHOSEN)
        at = here.world.clock.now()
        await here.world.store.write(lambda records: records.accounts.set_blocked(here.bob_id, at))
        await here.happens([EventType.COMPLETE])

        assert await here.bobs() == []


@on_a_loop
async def test_a_members_daily_limit_is_their_own_and_no_event_of_the_printer(
    open_world: OpenWorld,
) -> None:
    async with shared(open_world, limit=2) as here:
        await here.choose(NotifySettings(events=frozenset()))
        await here.choose_as_bob(CHOSEN)
        for _ in range(4):
            await here.happens([EventType.COMPLETE])

        told = await here.bobs()
        assert told[:2] == ["Workshop: print finished"] * 2
        assert len(told) == 3
        recent = await here.world.store.read(
            lambda records: records.events.recent(here.account_id, 20)
        )
        assert {stored.event.event_type for stored in recent} == {EventType.COMPLETE}


@pytest.mark.parametrize(("role", "buttons"), [(Role.WATCH, []), (Role.CONTROL, [PushAct.PAUSE])])
@on_a_loop
async def test_a_members_browser_has_the_buttons_that_their_role_allows(
    open_world: OpenWorld, role: Role, buttons: list[PushAct]
) -> None:
    async with shared(open_world, role) as here:
        pushed = Pushed(here)
        await here.choose_as_bob(CHOSEN)
        await pushed.add(await pushed.sign_in(here.bob_id))
        await pushed.warn()
        await here.send()

        (message,) = [one.message for one in here.push.sent]
        assert [button.act for button in message.buttons] == buttons
