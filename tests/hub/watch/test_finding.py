"""Prints under way that no event told of are found, and nobody is asked for nothing."""

from datetime import timedelta

from printreach.contract.status import State
from printreach.hub.watch.finding import (
    AGAIN_AFTER,
    AGAIN_AFTER_REFUSAL,
    EVERY,
    LEASED_FOR,
    UnwatchedPrintFinder,
    asked_in_a_pass,
)
from printreach.ports.printer_http import PrinterRefusal
from printreach.rules.turns import TurnRule
from printreach.store.leases import Claim
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import FakePrinterHttp
from tests.hub.watch.world import Machine
from tests.hub.world import PRINTER_ID, OpenWorld, World

SECOND = timedelta(seconds=1)
STARTING = PrinterRefusal(785, "The printer can't be reached.")


async def connect(world: World) -> None:
    """The printer's agent has just signed in."""
    at = world.clock.advance(SECOND)
    await world.agents.node_alive("node", at)
    await world.agents.agent_connected(
        PRINTER_ID, "node", at, lan_ip=None, agent_version=None, platform=None
    )


async def pass_by(world: World, time: timedelta) -> None:
    """Time goes by, and the node goes on."""
    await world.agents.node_alive("node", world.clock.advance(time))


async def watched(world: World) -> list[str]:
    at = world.clock.advance(SECOND)
    wanted = Claim(token="t", at=at, until=at + SECOND, at_most=9)
    claimed = await world.store.write(
        lambda records: records.watches.claim(wanted, TurnRule(of_account=9), degraded=False)
    )
    return [one.print_id for one in claimed]


def finding(world: World, machine: FakePrinterHttp) -> UnwatchedPrintFinder:
    return UnwatchedPrintFinder(world.core, machine)


@on_a_loop
async def test_a_print_that_began_before_the_watch_is_found(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints()
        await connect(world)
        await finding(world, machine).find()

        assert await watched(world) == ["print-1"]


@on_a_loop
async def test_a_printer_that_is_watched_is_not_asked(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints()
        await connect(world)
        found = finding(world, machine)
        await found.find()
        await found.find()

        assert machine.asks[PRINTER_ID] == 1


@on_a_loop
async def test_an_idle_printer_is_asked_when_it_connects_and_each_hour(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints(State.IDLE)
        found = finding(world, machine)
        await found.find()
        assert machine.asks[PRINTER_ID] == 0

        await connect(world)
        await found.find()
        await found.find()
        assert machine.asks[PRINTER_ID] == 1

        await connect(world)
        await found.find()
        assert machine.asks[PRINTER_ID] == 2

        await pass_by(world, AGAIN_AFTER)
        await found.find()
        assert machine.asks[PRINTER_ID] == 3
        assert await watched(world) == []


@on_a_loop
async def test_a_printer_that_is_behind_its_agent_is_asked_again_soon(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.statuses[PRINTER_ID] = STARTING
        await connect(world)
        found = finding(world, machine)
        await found.find()
        await found.find()
        assert machine.asks[PRINTER_ID] == 1

        machine.prints()
        await pass_by(world, AGAIN_AFTER_REFUSAL)
        await found.find()
        assert await watched(world) == ["print-1"]


@on_a_loop
async def test_a_clock_that_is_moved_back_puts_no_question_off(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints(State.IDLE)
        await connect(world)
        found = finding(world, machine)
        await found.find()
        world.clock.advance(-AGAIN_AFTER)
        await found.find()

        assert machine.asks[PRINTER_ID] == 2


@on_a_loop
async def test_one_worker_of_several_asks_and_another_takes_over_when_it_dies(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints(State.IDLE)
        await connect(world)
        one, other = finding(world, machine), finding(world, machine)
        for worker in (one, other, one, other):
            await worker.find()
        assert machine.asks[PRINTER_ID] == 1

        await pass_by(world, LEASED_FOR - SECOND)
        await other.find()
        assert machine.asks[PRINTER_ID] == 1, "the one that asks may still live"

        await pass_by(world, SECOND)
        await other.find()
        assert machine.asks[PRINTER_ID] == 2


@on_a_loop
async def test_a_worker_that_looks_for_prints_keeps_doing_so(open_world: OpenWorld) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints(State.IDLE)
        await connect(world)
        one, other = finding(world, machine), finding(world, machine)
        for _ in range(3 * LEASED_FOR // EVERY):
            await one.find()
            await other.find()
            await pass_by(world, EVERY)

        assert machine.asks[PRINTER_ID] == 1


@on_a_loop
async def test_a_worker_that_stops_leaves_the_search_to_another_at_once(
    open_world: OpenWorld,
) -> None:
    async with open_world() as world:
        await world.set_up()
        machine = Machine()
        machine.prints(State.IDLE)
        await connect(world)
        one, other = finding(world, machine), finding(world, machine)
        await one.find()
        await one.close()
        await other.find()

        assert machine.asks[PRINTER_ID] == 2


def test_each_printer_is_asked_within_an_hour_however_many_there_are() -> None:
    assert asked_in_a_pass(100) == asked_in_a_pass(12_000) == 50
    assert asked_in_a_pass(200_000) * (AGAIN_AFTER / EVERY) >= 200_000
