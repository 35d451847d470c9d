"""Live Links that end by events, and what is forgotten of them."""

from dataclasses import replace
from datetime import timedelta

from printreach.contract.events import EventType
from printreach.contract.status import State
from printreach.hub.connections.live_links import ENDED_KEPT_FOR, LiveLinkEnder, forget_ended_links
from printreach.hub.prints.fanout import Fanout
from printreach.rules.connections.live_links import LastFacts, LiveEnd, LiveLink
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.hub.world import PRINTER_ID, OpenWorld, World
from tests.rules.connections.test_live_links import LINK, event

OTHERS = replace(LINK, live_id="l2", short_id="s2", print_id="print-2")


async def store_links(world: World) -> None:
    printer = await world.set_up()

    async def put(records: Records) -> None:
        for link in (LINK, OTHERS):
            mine = replace(link, account_id=printer.account_id, printer_id=PRINTER_ID)
            await records.live_links.add(mine)

    await world.store.write(put)


async def link(world: World, live_id: str) -> LiveLink | None:
    return await world.store.read(lambda records: records.live_links.get(live_id))


@on_a_loop
async def test_the_end_of_a_print_ends_the_links_to_it_and_no_others(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await store_links(world)
        told = event(EventType.COMPLETE, file_name="vase.gcode")
        at = world.clock.now()
        await world.store.write(lambda records: records.events.append(PRINTER_ID, [told], at))
        await Fanout(world.core, [LiveLinkEnder()]).fan_out_due()

        ended, living = await link(world, "l1"), await link(world, "l2")
        assert ended is not None
        assert living is not None
        assert ended.end is LiveEnd.PRINT
        assert ended.last == LastFacts(state=State.COMPLETE, progress=100, file_name="vase.gcode")
        assert living.end is None


@on_a_loop
async def test_an_end_stays_as_it_was(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await store_links(world)
        await world.printers.remove(PRINTER_ID)
        later = world.clock.advance(timedelta(hours=1))
        await world.store.write(
            lambda records: records.live_links.end("l1", later, LiveEnd.OWNER, LastFacts())
        )

        ended = await link(world, "l1")
        assert ended is not None
        assert ended.end is LiveEnd.PRINTER
        assert ended.ended_at == later - timedelta(hours=1)


@on_a_loop
async def test_links_that_ended_long_ago_are_forgotten(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await store_links(world)
        world.clock.at = LINK.expires_at + ENDED_KEPT_FOR
        await forget_ended_links(world.core)
        assert await link(world, "l1") is not None
        world.clock.advance(timedelta(seconds=1))
        await forget_ended_links(world.core)

        assert await link(world, "l1") is None
