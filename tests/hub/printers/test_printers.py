"""Printers are linked by code, and removed."""

from datetime import timedelta

from printreach.hub.denied import Reason
from printreach.ports import Notice, Topic
from printreach.rules.printers import WRONG_TRIES_ALLOWED, Printer
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.hub.world import ADA, BOB, KEY, PRINTER_ID, OpenWorld, World, denied

WRONG_CODE = "AAAAAAAA"


async def wrong_tries(world: World, count: int) -> None:
    for _ in range(count):
        result = await world.printers.link(WRONG_CODE, ADA, "Workshop")
        assert denied(result).reason is Reason.LINK_CODE_UNKNOWN


@on_a_loop
async def test_the_code_an_agent_shows_makes_it_a_printer_of_the_account(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        ada = await world.add_account()
        code = await world.link_code()

        printer = await world.printers.link(code.code.lower(), ADA, " Workshop ")

        assert printer == Printer(
            printer_id=PRINTER_ID,
            account_id=ada.account_id,
            name="Workshop",
            public_key=KEY,
            linked_at=NOON,
        )
        assert await world.notices() == [Notice(Topic.PRINTER, PRINTER_ID)]


@on_a_loop
async def test_a_link_code_works_once(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        code = await world.link_code()
        await world.printers.link(code.code, ADA, "Workshop")

        again = denied(await world.printers.link(code.code, ADA, "Workshop"))

        assert again.reason is Reason.LINK_CODE_UNKNOWN


@on_a_loop
async def test_a_link_code_expires_after_ten_minutes(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        code = await world.link_code()
        world.clock.advance(timedelta(minutes=10))

        late = denied(await world.printers.link(code.code, ADA, "Workshop"))

        assert late.reason is Reason.LINK_CODE_UNKNOWN


@on_a_loop
async def test_ten_wrong_codes_lock_linking_even_for_the_right_one(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        code = await world.link_code()
        await wrong_tries(world, WRONG_TRIES_ALLOWED)

        locked = denied(await world.printers.link(code.code, ADA, "Workshop"))

        assert locked.reason is Reason.LINKING_LOCKED
        assert "15 minutes" in locked.sentence


@on_a_loop
async def test_the_lock_ends_after_fifteen_minutes(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        await wrong_tries(world, WRONG_TRIES_ALLOWED)
        world.clock.advance(timedelta(minutes=15))

        assert (await world.link_printer()).name == "Workshop"


@on_a_loop
async def test_a_right_code_forgives_the_wrong_ones_before(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        await wrong_tries(world, WRONG_TRIES_ALLOWED - 1)
        await world.link_printer()

        await wrong_tries(world, WRONG_TRIES_ALLOWED)


@on_a_loop
async def test_wrong_codes_of_one_account_do_not_lock_another(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account(ADA)
        await world.add_account(BOB)
        await wrong_tries(world, WRONG_TRIES_ALLOWED)

        assert (await world.link_printer(BOB)).name == "Workshop"


@on_a_loop
async def test_what_cannot_be_a_code_counts_as_a_wrong_one(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        for _ in range(WRONG_TRIES_ALLOWED):
            await world.printers.link("?", ADA, "Workshop")

        locked = denied(await world.printers.link(WRONG_CODE, ADA, "Workshop"))
        assert locked.reason is Reason.LINKING_LOCKED


@on_a_loop
async def test_a_linked_printer_cannot_be_taken_by_another_account(open_world: OpenWorld) -> None:
    async with open_world() as world:
        ada = await world.add_account(ADA)
        await world.add_account(BOB)
        await world.link_printer(ADA)
        code = await world.link_code()

        taken = denied(await world.printers.link(code.code, BOB, "Mine"))

        assert taken.reason is Reason.ALREADY_LINKED
        assert [one.printer.account_id for one in await world.printers.all()] == [ada.account_id]


@on_a_loop
async def test_a_printer_without_a_name_is_not_linked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.add_account()
        code = await world.link_code()

        assert denied(await world.printers.link(code.code, ADA, "  ")).reason is Reason.INVALID


@on_a_loop
async def test_a_printer_is_online_while_its_agent_is_connected_to_a_living_node(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        await world.agents.node_alive("n1", world.clock.now())
        await world.agents.agent_connected(
            PRINTER_ID, "n1", world.clock.now(), lan_ip=None, agent_version=None, platform=None
        )

        assert [one.is_online for one in await world.printers.all()] == [True]
        world.clock.advance(timedelta(seconds=30))
        assert [one.is_online for one in await world.printers.all()] == [False]


@on_a_loop
async def test_printers_are_listed_with_their_owners_address(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()

        [listed] = await world.printers.all()

        assert (listed.owner_email, listed.printer.name) == (ADA, "Workshop")


@on_a_loop
async def test_removing_a_printer_ends_its_connections_for_good(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        await world.printers.remove(PRINTER_ID)
        await world.link_printer()

        connection = (await world.connections.all())[0]

        assert connection.connection_id == made.connection_id
        assert connection.revoked_at == NOON
        assert Notice(Topic.PRINTER, PRINTER_ID) in await world.notices()


@on_a_loop
async def test_a_removed_printer_may_be_linked_to_any_account(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        bob = await world.add_account(BOB)
        await world.printers.remove(PRINTER_ID)

        printer = await world.link_printer(BOB)

        assert printer.account_id == bob.account_id
        assert [one.owner_email for one in await world.printers.all()] == [BOB]


@on_a_loop
async def test_a_printer_that_nobody_linked_cannot_be_removed(open_world: OpenWorld) -> None:
    async with open_world() as world:
        assert denied(await world.printers.remove("p")).reason is Reason.NO_SUCH_PRINTER


@on_a_loop
async def test_a_printer_that_is_linked_by_a_taken_name_gets_a_number(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.add_account()
        await world.add_account(BOB)
        names = [
            (await world.link_printer(email, key * 32)).name
            for email, key in [(ADA, b"1"), (ADA, b"2"), (BOB, b"3")]
        ]

        assert names == ["Workshop", "Workshop 2", "Workshop"]
