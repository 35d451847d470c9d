"""Accounts, as an operator makes and ends them."""

from datetime import timedelta

from sqlalchemy import select

from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.accounts import Account, SupporterPolicy
from printreach.rules.portal.parameters import Completion
from printreach.store.store import Records
from printreach.store.tables import notices
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, PASSWORD, PRINTER_ID, OpenWorld, World, denied


@on_a_loop
async def test_an_account_keeps_its_address_as_typed_and_its_password_hashed(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        made = await world.accounts.add("  Ada@Example.org ", PASSWORD, is_admin=True)

        assert isinstance(made, Account)
        assert await world.accounts.all() == [made]
        assert made.email == "Ada@Example.org"
        assert made.password_hash == f"plain:{PASSWORD}"
        assert made.is_admin
        assert not made.supporter_granted


@on_a_loop
async def test_an_address_has_one_account_whatever_its_case(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account(ADA)

        assert denied(await world.accounts.add(ADA.upper(), PASSWORD)).reason is (
            Reason.ACCOUNT_EXISTS
        )


@on_a_loop
async def test_a_bad_address_and_a_short_password_are_refused(open_world: OpenWorld) -> None:
    async with open_world() as world:
        for email, password in (("nobody", PASSWORD), (ADA, "short")):
            refusal = denied(await world.accounts.add(email, password))
            assert refusal.reason is Reason.INVALID
            assert refusal.sentence.endswith(".")
        assert await world.accounts.all() == []


@on_a_loop
async def test_supporter_status_suspends_and_restores_app_connections(
    open_world: OpenWorld,
) -> None:
    async with open_world(supporters=SupporterPolicy.GRANTED) as world:
        await world.set_up()
        made = await world.connect_app()

        assert not await is_supporter(world, made)
        await world.accounts.set_supporter(ADA, granted=True)
        assert await is_supporter(world, made)
        await world.accounts.set_supporter(ADA, granted=False)
        assert not await is_supporter(world, made)


@on_a_loop
async def test_a_supporter_grant_may_have_an_end(open_world: OpenWorld) -> None:
    async with open_world(supporters=SupporterPolicy.GRANTED) as world:
        await world.set_up()
        made = await world.connect_app()
        until = world.clock.now() + timedelta(days=1)

        await world.accounts.set_supporter(ADA, granted=True, until=until)

        assert await is_supporter(world, made)
        world.clock.advance(timedelta(days=1))
        assert not await is_supporter(world, made)


@on_a_loop
async def test_relays_hear_of_a_changed_supporter_status(open_world: OpenWorld) -> None:
    async with open_world() as world:
        account = await world.add_account()

        await world.accounts.set_supporter(ADA, granted=True)

        assert await world.notices() == [Notice(Topic.ACCOUNT, account.account_id)]


@on_a_loop
async def test_what_is_asked_about_an_unknown_account_is_denied_with_its_address(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        for result in (
            await world.accounts.set_supporter(BOB, granted=True),
            await world.accounts.delete(BOB),
        ):
            assert denied(result).reason is Reason.NO_SUCH_ACCOUNT
            assert BOB in denied(result).sentence


@on_a_loop
async def test_deleting_an_account_deletes_its_printers_and_ends_its_connections(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        await world.connections.open_own(PRINTER_ID)

        await world.accounts.delete(ADA.upper())

        assert await world.accounts.all() == []
        assert await world.printers.all() == []
        grant = await world.grants.grant(host_of(made))
        assert grant is not None
        assert grant.ended
        assert grant.account_id == ""


@on_a_loop
async def test_deleting_an_account_leaves_others_alone(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        await world.add_account(BOB)

        await world.accounts.delete(BOB)

        grant = await world.grants.grant(host_of(made))
        assert grant is not None
        assert not grant.ended


@on_a_loop
async def test_relays_hear_which_printers_a_deleted_account_had(open_world: OpenWorld) -> None:
    async with open_world() as world:
        printer = await world.set_up()

        await world.accounts.delete(ADA)

        assert (await world.notices())[-2:] == [
            Notice(Topic.PRINTER, PRINTER_ID),
            Notice(Topic.ACCOUNT, printer.account_id),
        ]


@on_a_loop
async def test_of_the_notices_about_a_deleted_account_only_that_of_its_deletion_stays(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        account_id = (await world.set_up()).account_id
        at = world.clock.now()

        async def tell(records: Records) -> None:
            for topic in (Topic.EVENT, Topic.ACCOUNT):
                await records.notify(Notice(topic, account_id), at)

        await world.store.write(tell)
        await world.accounts.delete(ADA)

        async def topics(records: Records) -> list[str]:
            found = select(notices.c.topic).where(notices.c.key == account_id)
            return list(await records.connection.scalars(found))

        assert await world.store.read(topics) == ["account"]


@on_a_loop
async def test_the_agent_of_a_deleted_account_may_be_linked_again(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.accounts.delete(ADA)
        bob = await world.add_account(BOB)

        assert (await world.link_printer(BOB)).account_id == bob.account_id


async def is_supporter(world: World, made: Completion) -> bool:
    grant = await world.grants.grant(host_of(made))
    assert grant is not None
    return grant.owner_is_supporter


def host_of(made: Completion) -> str:
    return made.url.removeprefix("https://").split(".")[0]
