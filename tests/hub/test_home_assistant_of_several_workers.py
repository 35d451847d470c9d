"""Several workers and one broker, a real Mosquitto: one of them talks to it."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from printreach.contract.status import State
from printreach.hub import home_assistant as module
from printreach.hub.leased_queue import TaskLease
from tests.fakes.loop import on_a_loop
from tests.fakes.printer_http import status_of
from tests.hub.test_home_assistant import (
    AVAILABILITY,
    PATIENCE_S,
    TOPICS,
    home_at,
    mosquitto,
    operators_printer,
    telling,
)
from tests.hub.world import PRINTER_ID, OpenWorld
from tests.rigs.mosquitto import Mosquitto

__all__ = ["mosquitto"]

pytestmark = [pytest.mark.peer, pytest.mark.slow]


@pytest.fixture
def quick_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLAIMED_EVERY_S", 0.1)


@pytest.mark.usefixtures("quick_leases")
@on_a_loop
async def test_of_two_workers_one_talks_to_the_broker(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        http.answers |= {"/pause": {}, "/cancel": {}}
        async with telling(world, http, mosquitto), telling(world, http, mosquitto):
            await home.sees(lambda: home.told.get(AVAILABILITY) == b"online")
            await home.press("PAUSE")
            await home.press("CANCEL")
            await home.sees(lambda: len(http.orders) >= 2)
            await asyncio.sleep(1)

        assert sorted(one.command for one in http.orders) == ["/cancel", "/pause"]


@pytest.mark.usefixtures("quick_leases")
@on_a_loop
async def test_another_worker_takes_over_when_the_one_that_talks_to_the_broker_stops(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with AsyncExitStack() as ends:
            async with telling(world, http, mosquitto):
                await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
                await ends.enter_async_context(telling(world, http, mosquitto))
            home.told.clear()
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            http.statuses[PRINTER_ID] = status_of(State.PAUSED, "vase.gcode", 43.0)
            await home.sees(lambda: home.state().get("state") == "paused")


@pytest.mark.usefixtures("quick_leases")
@on_a_loop
async def test_another_worker_takes_over_when_the_lease_of_one_that_died_ends(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        dead = TaskLease(core=world.core, name="home-assistant", lasts=module.LEASED_FOR)
        assert await dead.claim()
        async with telling(world, http, mosquitto):
            await asyncio.sleep(1)
            assert TOPICS.bridge not in home.told

            world.clock.advance(module.LEASED_FOR)
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")


@pytest.mark.usefixtures("quick_leases")
@on_a_loop
async def test_a_worker_that_was_suspended_leaves_the_broker_to_the_one_that_took_over(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            world.clock.advance(module.LEASED_FOR)
            other = TaskLease(core=world.core, name="home-assistant", lasts=module.LEASED_FOR)
            async with asyncio.timeout(PATIENCE_S):
                while not await other.claim():
                    world.clock.advance(module.LEASED_FOR)
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"offline")


@pytest.mark.usefixtures("quick_leases")
@pytest.mark.parametrize("failing", [1, 3], ids=["at the start", "while it serves"])
@on_a_loop
async def test_a_fault_at_the_lease_ends_nothing_for_good(
    open_world: OpenWorld, mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    claim, claims = TaskLease.claim, 0

    async def fails_once(lease: TaskLease) -> bool:
        nonlocal claims
        claims += 1
        if claims == failing:
            raise RuntimeError("a fault that nobody has foreseen")
        return await claim(lease)

    monkeypatch.setattr(TaskLease, "claim", fails_once)
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: claims > failing)
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")


@on_a_loop
async def test_the_last_will_of_a_worker_before_is_corrected(
    open_world: OpenWorld, mosquitto: Mosquitto
) -> None:
    async with open_world() as world, home_at(mosquitto) as home:
        http = await operators_printer(world)
        async with telling(world, http, mosquitto):
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
            await home.client.publish(TOPICS.bridge, b"offline", qos=1, retain=True)
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"offline")
            await home.sees(lambda: home.told.get(TOPICS.bridge) == b"online")
