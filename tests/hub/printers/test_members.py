"""An owner lets people in to a printer; nobody else gets in, and it ends when it is said to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import pytest

from printreach.hub.denied import Denied, Reason
from printreach.hub.printers.access import AdmittedPrinter, admitted_printer
from printreach.hub.printers.members import (
    INVITE_BY_OWNER,
    INVITE_MAIL_BY_OWNER,
    MadeInvitation,
    Members,
    Offer,
    People,
)
from printreach.hub.printers.remote_lock import lock
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account
from printreach.rules.printers.commands import MAX_OF_A_PRINTER, GivenOrder
from printreach.rules.printers.members import INVITATION_LIFETIME, MAX_MEMBERS, Role
from printreach.rules.rate_limits import TooSoon
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.mails import RecordingMailer
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World, denied

EVE = "eve@example.org"


@dataclass
class Home:
    """Ada with a printer; Bob and Eve, who have none."""

    world: World
    members: Members
    ada: Account
    bob: Account
    eve: Account

    async def invite(
        self, role: Role = Role.WATCH, email: str | None = None, uses: int = 1
    ) -> MadeInvitation:
        made = await self.members.invite(self.ada, PRINTER_ID, role, email, uses)
        assert isinstance(made, MadeInvitation), made
        return made

    async def let_in(self, person: Account, role: Role = Role.WATCH) -> None:
        made = await self.invite(role, person.email)
        assert await self.members.accept(person, token_of(made)) == PRINTER_ID

    async def admits(self, person: Account, needed: Role = Role.WATCH) -> bool:
        result = await self.admitted(person, needed)
        return isinstance(result, AdmittedPrinter)

    async def admitted(self, person: Account, needed: Role) -> AdmittedPrinter | Denied:
        return await self.world.store.read(
            lambda records: admitted_printer(records, person.account_id, PRINTER_ID, needed)
        )

    async def people(self) -> People:
        found = await self.members.of_printer(self.ada.account_id, PRINTER_ID)
        assert isinstance(found, People)
        return found


@asynccontextmanager
async def home(open_world: OpenWorld, *, has_mail_server: bool = False) -> AsyncIterator[Home]:
    async with open_world() as world:
        printer = await world.set_up()
        ada = await world.accounts.get(printer.account_id)
        assert ada is not None
        core = replace(world.core, has_mail_server=has_mail_server)
        bob, eve = await world.add_account(BOB), await world.add_account(EVE)
        yield Home(world, Members(core=core), ada, bob, eve)


def token_of(made: MadeInvitation) -> str:
    return made.link.partition("?token=")[2]


@on_a_loop
async def test_who_accepts_gets_the_role_of_the_invitation_and_no_more(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        assert not await here.admits(here.bob)

        await here.let_in(here.bob, Role.WATCH)
        await here.let_in(here.eve, Role.CONTROL)

        assert await here.admits(here.bob)
        refused = denied(await here.admitted(here.bob, Role.CONTROL))
        assert refused.reason is Reason.NOT_ALLOWED
        assert await here.admits(here.eve, Role.CONTROL)
        assert not await here.admits(here.eve, Role.OWNER)
        assert await here.admits(here.ada, Role.OWNER)


@on_a_loop
async def test_whoever_was_not_let_in_is_told_of_no_printer(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        refused = denied(await here.admitted(here.eve, Role.WATCH))

        assert refused.reason is Reason.NO_SUCH_PRINTER


@on_a_loop
async def test_an_invitation_for_an_address_lets_in_that_account_alone_and_once(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        token = token_of(await here.invite(email=BOB.upper()))

        assert BOB.upper() in denied(await here.members.accept(here.eve, token)).sentence
        assert await here.members.accept(here.bob, token) == PRINTER_ID
        assert denied(await here.members.accept(here.bob, token)).reason is Reason.LINK_OVER


@on_a_loop
async def test_a_link_lets_in_as_many_people_as_it_is_for(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        token = token_of(await here.invite(uses=1))
        assert await here.members.accept(here.bob, token) == PRINTER_ID

        assert denied(await here.members.accept(here.eve, token)).reason is Reason.LINK_OVER

        token = token_of(await here.invite(uses=5))
        await here.members.accept(here.bob, token)
        await here.members.accept(here.bob, token)
        await here.members.accept(here.eve, token)
        [left] = (await here.people()).invitations
        assert left.uses_left == 4


@on_a_loop
async def test_an_invitation_expires_and_can_be_ended(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        made, other = await here.invite(), await here.invite()
        await here.members.end_invitation(here.bob.account_id, other.invitation.invitation_id)
        assert isinstance(await here.members.offer(here.bob, token_of(other)), Offer)
        await here.members.end_invitation(here.ada.account_id, other.invitation.invitation_id)

        denied(await here.members.offer(here.bob, token_of(other)))
        here.world.clock.advance(INVITATION_LIFETIME)
        denied(await here.members.offer(here.bob, token_of(made)))


@on_a_loop
async def test_the_token_is_stored_nowhere(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        token = token_of(await here.invite())

        assert token.encode() not in here.world.everything_on_disk()


@on_a_loop
async def test_declining_ends_what_is_for_ones_own_address_and_no_link(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        mine, link = token_of(await here.invite(email=BOB)), token_of(await here.invite())

        assert await here.members.decline(here.bob, mine) is None
        assert await here.members.decline(here.bob, link) is None

        denied(await here.members.accept(here.bob, mine))
        assert await here.members.accept(here.eve, link) == PRINTER_ID
        assert not await here.admits(here.bob)


@on_a_loop
async def test_an_end_is_told_at_once_and_open_links_end_with_it(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        link = token_of(await here.invite(Role.CONTROL, uses=5))
        await here.members.accept(here.bob, link)
        before = len(await here.world.notices())

        await here.members.end(here.ada.account_id, PRINTER_ID, here.bob.account_id)

        assert (await here.world.notices())[before:] == [Notice(Topic.PRINTER, PRINTER_ID)]
        assert not await here.admits(here.bob)
        assert denied(await here.members.accept(here.bob, link)).reason is Reason.LINK_OVER


@on_a_loop
async def test_who_loses_control_does_not_get_it_back_by_a_link(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        link = token_of(await here.invite(Role.CONTROL, uses=5))
        await here.members.accept(here.bob, link)

        await here.members.change_role(
            here.ada.account_id, PRINTER_ID, here.bob.account_id, Role.WATCH
        )

        assert not await here.admits(here.bob, Role.CONTROL)
        denied(await here.members.accept(here.bob, link))


@on_a_loop
async def test_an_open_link_raises_nobody_who_has_access(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob, Role.WATCH)
        link = token_of(await here.invite(Role.CONTROL))

        assert await here.members.accept(here.bob, link) == PRINTER_ID

        assert not await here.admits(here.bob, Role.CONTROL)
        assert await here.members.accept(here.eve, link) == PRINTER_ID


@on_a_loop
async def test_a_person_leaves_by_themselves_and_only_themselves(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob)
        await here.members.leave(here.eve.account_id, PRINTER_ID)
        assert await here.admits(here.bob)

        await here.members.leave(here.bob.account_id, PRINTER_ID)

        assert not await here.admits(here.bob)


@on_a_loop
async def test_nobody_but_the_owner_manages_people(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob, Role.CONTROL)
        await here.let_in(here.eve)
        bob, eve = here.bob.account_id, here.eve.account_id

        denied(await here.members.of_printer(bob, PRINTER_ID))
        denied(await here.members.invite(here.bob, PRINTER_ID, Role.WATCH, None))
        denied(await here.members.change_role(bob, PRINTER_ID, bob, Role.CONTROL))
        denied(await here.members.end(bob, PRINTER_ID, eve))
        assert await here.admits(here.eve)


@on_a_loop
async def test_access_ends_with_the_printer_and_is_not_the_next_owners(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob, Role.CONTROL)
        open_link = token_of(await here.invite())
        await here.world.printers.remove(PRINTER_ID, account_id=here.ada.account_id)
        assert not await here.admits(here.bob)

        await here.world.link_printer(EVE)

        assert not await here.admits(here.bob)
        denied(await here.members.accept(here.bob, open_link))


@on_a_loop
async def test_a_blocked_owners_printer_is_nobodys_to_use(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob)
        at = here.world.clock.now()
        await here.world.store.write(
            lambda records: records.accounts.set_blocked(here.ada.account_id, at)
        )

        assert not await here.admits(here.bob)
        rows = await here.world.store.read(
            lambda records: records.printers.rows_of_member(here.bob.account_id)
        )
        assert rows == []


@on_a_loop
async def test_who_locked_their_own_remote_control_controls_no_shared_printer(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob, Role.CONTROL)
        at = here.world.clock.now()
        await here.world.store.write(lambda records: lock(records, here.bob.account_id, at))

        assert await here.admits(here.bob)
        assert not await here.admits(here.bob, Role.CONTROL)


@pytest.mark.parametrize("whose", ["ada", "bob"])
@on_a_loop
async def test_the_deletion_of_either_account_ends_it(open_world: OpenWorld, whose: str) -> None:
    async with home(open_world) as here:
        await here.let_in(here.bob)
        doomed: Account = getattr(here, whose)

        await here.world.accounts.delete(doomed.email)

        assert not await here.admits(here.bob)


@on_a_loop
async def test_the_owner_is_told_the_same_of_every_address(open_world: OpenWorld) -> None:
    async with home(open_world, has_mail_server=True) as here:
        known, unknown = await here.invite(email=BOB), await here.invite(email="zoe@example.org")

        assert known.was_mailed
        assert unknown.was_mailed
        mails = here.world.core.outbox
        assert isinstance(mails, RecordingMailer)
        texts = {
            mail.text.replace(made.link, "LINK")
            for mail, made in zip(mails.sent[-2:], (known, unknown), strict=True)
        }
        assert len(texts) == 1


@on_a_loop
async def test_the_mail_says_no_word_that_the_owner_chose(open_world: OpenWorld) -> None:
    async with home(open_world, has_mail_server=True) as here:
        await here.invite(email=BOB)

        mails = here.world.core.outbox
        assert isinstance(mails, RecordingMailer)
        assert "Workshop" not in mails.sent[-1].text + mails.sent[-1].subject


@on_a_loop
async def test_without_a_mail_server_nothing_is_said_to_be_sent(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        assert not (await here.invite(email=BOB)).was_mailed


@on_a_loop
async def test_invitations_are_limited(open_world: OpenWorld) -> None:
    async with home(open_world, has_mail_server=True) as here:
        for _ in range(INVITE_MAIL_BY_OWNER.at_once):
            await here.invite(email=BOB)
        refused = await here.members.invite(here.ada, PRINTER_ID, Role.WATCH, BOB)
        assert isinstance(refused, TooSoon)

        for _ in range(INVITE_BY_OWNER.at_once - INVITE_MAIL_BY_OWNER.at_once):
            here.world.clock.advance(timedelta(0))
            await here.members.invite(here.ada, PRINTER_ID, Role.WATCH, None)
        refused = await here.members.invite(here.ada, PRINTER_ID, Role.WATCH, None)
        assert isinstance(refused, TooSoon)


@on_a_loop
async def test_a_printer_has_no_more_people_and_open_invitations_than_allowed(
    open_world: OpenWorld,
) -> None:
    async with home(open_world) as here:
        for _ in range(MAX_MEMBERS // 10):
            await here.invite(uses=10)

        refused = await here.members.invite(here.ada, PRINTER_ID, Role.WATCH, None)

        assert denied(refused).reason is Reason.TOO_MANY_CONNECTIONS


@pytest.mark.slow
@on_a_loop
async def test_the_newest_orders_of_a_printer_are_kept(open_world: OpenWorld) -> None:
    async with home(open_world) as here:
        ada, at = here.ada.account_id, here.world.clock.now()
        given = GivenOrder(
            account_id=ada, printer_id=PRINTER_ID, person_id=ada, at=at, command="/pause"
        )

        async def give() -> None:
            for number in range(MAX_OF_A_PRINTER + 5):
                order = replace(given, subject=str(number))
                await here.world.store.write(partial(_add, order=order))

        await give()
        kept = await here.world.store.read(
            lambda records: records.given_orders.recent(ada, PRINTER_ID, 2 * MAX_OF_A_PRINTER)
        )

        assert len(kept) == MAX_OF_A_PRINTER
        assert kept[0].order.subject == str(MAX_OF_A_PRINTER + 4)
        assert kept[0].email == here.ada.email


async def _add(records: Records, *, order: GivenOrder) -> None:
    await records.given_orders.add(order)
