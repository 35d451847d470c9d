"""An operator finds what has an id, whatever others call theirs."""

from datetime import timedelta

from printreach.hub.detection.keys import MadeKey
from printreach.store.listings import ConnectionRow, KeyRow, PrinterRow
from tests.fakes.loop import on_a_loop
from tests.hub.operators.test_operating import operating
from tests.hub.world import PRINTER_ID, OpenWorld, World


async def rename(world: World, printer_id: str, name: str) -> None:
    await world.store.write(lambda records: records.printers.rename(printer_id, name))


@on_a_loop
async def test_a_key_is_not_hidden_by_a_newer_one_with_its_id_for_a_name(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        account, hub = await world.add_account(), operating(world)
        made = await hub.keys.make(account.account_id, "Farm")
        assert isinstance(made, MadeKey)
        world.clock.advance(timedelta(seconds=1))
        await hub.keys.make(account.account_id, made.key.key_id)

        found = await hub.key(made.key.key_id)
        assert isinstance(found, KeyRow)
        assert found.key.name == "Farm"


@on_a_loop
async def test_a_printer_is_not_hidden_by_one_with_its_id_for_a_name(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        decoy = await world.link_printer(key=b"d" * 32)
        await rename(world, PRINTER_ID, "~ the last one in a list")
        await rename(world, decoy.printer_id, PRINTER_ID)

        found = await operating(world).printer(PRINTER_ID)
        assert isinstance(found, PrinterRow)


@on_a_loop
async def test_a_connection_is_not_hidden_by_a_printer_with_its_id_for_a_name(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        made = await world.connect_app()
        decoy = await world.link_printer(key=b"d" * 32)
        await rename(world, decoy.printer_id, made.connection_id)
        world.clock.advance(timedelta(seconds=1))
        await world.connections.add_for_app("demo", decoy.printer_id)

        found = await operating(world).connection(made.connection_id)
        assert isinstance(found, ConnectionRow)
