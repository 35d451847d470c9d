"""An account with many printers, dead ones or good ones, keeps nobody else from being looked at."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from printreach.hub.watch import finding as watch_finding
from printreach.hub.watch.finding import AT_ONCE, MAX_SLOW, UnwatchedPrintFinder
from printreach.hub.watch.rounds import DEGRADED, LOOK_TURNS
from printreach.limiters.fair_semaphore import FairSemaphore
from printreach.ports.printer_http import NO_QUERY, PrinterRefusal
from printreach.rules.printers import OwnedPrinter
from printreach.rules.turns import TurnRule
from printreach.store.store import Records
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import OFFLINE
from tests.hub.watch.world import SECOND, Machine, WatchWorld, rounds_of, watching
from tests.hub.world import BOB, PRINTER_ID, OpenWorld, World
from tests.relay.waiting import until

FARM = 50
PATIENCE_S = 60.0


async def add_farm(world: World, printers: int = FARM) -> None:
    """Bob's."""
    bob = await world.add_account(BOB)
    ours = await world.store.read(lambda records: records.printers.linked(PRINTER_ID))
    assert ours is not None

    async def link(records: Records) -> None:
        for number in range(printers):
            key = b"%32d" % number
            its = replace(
                ours, printer_id=f"bob-{number}", account_id=bob.account_id, public_key=key
            )
            await records.printers.link(its)

    await world.store.write(link)


async def watch_farm(here: WatchWorld) -> None:
    """All its printers are due, and were before Ada's."""
    world = here.world
    await add_farm(world)
    bob = await world.store.read(lambda records: records.accounts.with_email(BOB))
    assert bob is not None
    at = world.clock.now() - timedelta(minutes=5)

    async def begin(records: Records) -> None:
        for number in range(FARM):
            await records.watches.begin(f"bob-{number}", bob.account_id, "print-1", at)

    await world.store.write(begin)


@dataclass
class FarmMachine(Machine):
    """All printers but Ada's give no status until they are let go."""

    lets: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(
        self,
        printer: OwnedPrinter,
        command: str,
        query: Mapping[str, str] = NO_QUERY,
        *,
        despite_lock: bool = False,
    ) -> bytes | PrinterRefusal:
        if printer.printer_id != PRINTER_ID:
            self.asks[printer.printer_id] += 1
            await self.lets.wait()
            return OFFLINE
        return await super().ask(printer, command, query)

    def asked_of_farm(self) -> int:
        return sum(count for name, count in self.asks.items() if name != PRINTER_ID)


@pytest.mark.slow
@on_a_loop
async def test_a_farm_whose_printers_all_hang_leaves_others_their_turn(
    open_world: OpenWorld,
) -> None:
    async with watching(open_world) as here:
        await watch_farm(here)
        machine = FarmMachine(camera=here.machine.camera, statuses=here.machine.statuses)
        rounds = rounds_of(replace(here.parts, http=machine))
        here.world.clock.advance(SECOND)
        await rounds.begin_due()
        await until(lambda: here.scorer.shown, PATIENCE_S)
        machine.lets.set()
        await rounds.settled()

        assert machine.asks[PRINTER_ID] == 1
        assert machine.asked_of_farm() == LOOK_TURNS[not DEGRADED].of_account


@on_a_loop
async def test_printers_that_hang_keep_nobody_elses_print_from_being_found(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_finding, "SLOW_S", 0.0)
    async with open_world() as world:
        await world.set_up()
        await add_farm(world)
        await connect_all(world)
        machine = FarmMachine()
        machine.lets.set()
        machine.prints()
        found = UnwatchedPrintFinder(world.core, machine)
        passes = []
        for _ in range(3):
            await found.find()
            passes.append(set(machine.asks) - {PRINTER_ID})

        assert machine.asks[PRINTER_ID] == 1
        assert max(map(len, passes[:1])) <= MAX_SLOW + AT_ONCE
        assert len(passes[0]) < len(passes[1]) < len(passes[2])
        assert set(machine.asks.values()) == {1}, "who has waited for longest is asked next"


async def connect_all(world: World) -> None:
    at = world.clock.advance(SECOND)
    await world.agents.node_alive("node", at)
    for printer_id in [*(f"bob-{number}" for number in range(FARM)), PRINTER_ID]:
        await world.agents.agent_connected(
            printer_id, "node", at, lan_ip=None, agent_version=None, platform=None
        )


@on_a_loop
async def test_who_is_alone_is_scored_before_the_rest_of_a_crowd() -> None:
    room, order = FairSemaphore(2), list[str]()
    open_door = asyncio.Event()

    async def look(account_id: str) -> None:
        async with room.slot(account_id):
            order.append(account_id)
            await open_door.wait()

    crowd = [asyncio.create_task(look("bob")) for _ in range(6)]
    await asyncio.sleep(0)
    alone = asyncio.create_task(look("ada"))
    await asyncio.sleep(0)
    open_door.set()
    await asyncio.gather(*crowd, alone)

    assert order == ["bob", "bob", "ada", *["bob"] * 4]


@on_a_loop
async def test_who_gives_up_waiting_leaves_no_place_taken() -> None:
    room = FairSemaphore(1)
    held = asyncio.Event()

    async def look(account_id: str) -> None:
        async with room.slot(account_id):
            await held.wait()

    first = asyncio.create_task(look("ada"))
    impatient = asyncio.create_task(look("bob"))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    held.set()
    await first

    async with asyncio.timeout(PATIENCE_S):
        await look("ada")
    assert not room._held
    assert not room._waiting


@on_a_loop
async def test_an_account_that_takes_up_all_its_share_is_looked_at_less_often(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watching(open_world) as here:
        await here.goes_on(20)
        alone = await here.said()
        monkeypatch.setitem(LOOK_TURNS, not DEGRADED, TurnRule(of_account=1))
        await here.goes_on(60)
        crowded = await here.said()

        assert alone is not None
        assert crowded is not None
        assert (alone.interval_sec, crowded.interval_sec) == (20.0, 60.0)
