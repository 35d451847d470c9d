"""Networks and accounts take turns at work that only a few can do at once."""

import asyncio
from collections.abc import Iterable

import pytest

from printreach.limiters.fair_semaphore import FairSemaphore, TooBusy
from tests.fakes.loop import on_a_loop


class Callers:
    """Callers of one semaphore. served: their networks, in order."""

    def __init__(self, at_once: int = 1, *, max_waiting: int | None = None) -> None:
        self.slots = FairSemaphore(at_once, max_waiting=max_waiting)
        self.served: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, networks: Iterable[str]) -> None:
        for network in networks:
            self.tasks.append(asyncio.create_task(self._one(network)))
            await asyncio.sleep(0)

    async def results(self) -> list[bool]:
        """Whether each was served, in the order in which they came."""
        done = await asyncio.gather(*self.tasks, return_exceptions=True)
        return [result is None for result in done]

    async def _one(self, network: str) -> None:
        async with self.slots.slot(network):
            self.served.append(network)
            for _ in range(50):
                await asyncio.sleep(0)


@on_a_loop
async def test_a_network_with_many_callers_delays_another_by_one_turn() -> None:
    callers = Callers(max_waiting=20)
    await callers.come(["crowd"] * 10 + ["alone"])

    assert all(await callers.results())
    assert callers.served.index("alone") <= 2


@on_a_loop
async def test_a_network_that_fills_the_queue_makes_room_for_others() -> None:
    callers = Callers(max_waiting=10)
    await callers.come(["crowd"] * 20 + ["ada", "bob"])

    *crowd, ada, bob = await callers.results()

    assert (ada, bob) == (True, True)
    assert sum(crowd) == 9


@on_a_loop
async def test_networks_that_have_their_share_are_asked_to_come_back() -> None:
    callers = Callers(max_waiting=4)
    await callers.come(["one", "one", "one", "two", "two"])

    with pytest.raises(TooBusy):
        await callers.slots.acquire("two")
    with pytest.raises(TooBusy):
        await callers.slots.acquire("one")

    assert all(await callers.results())


@on_a_loop
async def test_a_caller_who_leaves_while_waiting_keeps_no_place() -> None:
    callers = Callers(max_waiting=2)
    await callers.come(["one", "two", "three"])
    for task in callers.tasks[1:]:
        task.cancel()
    await asyncio.sleep(0)
    await callers.come(["four", "five"])

    assert await callers.results() == [True, False, False, True, True]
    async with asyncio.timeout(60):
        await callers.slots.acquire("six")


@on_a_loop
async def test_a_caller_who_leaves_as_their_turn_comes_passes_it_on() -> None:
    slots = FairSemaphore(1, max_waiting=5)
    await slots.acquire("one")
    leaving = asyncio.create_task(slots.acquire("two"))
    staying = asyncio.create_task(slots.acquire("three"))
    await asyncio.sleep(0)

    slots.release("one")
    leaving.cancel()

    async with asyncio.timeout(60):
        await staying


@on_a_loop
async def test_networks_with_many_callers_share_the_slots_with_one_that_comes_later() -> None:
    callers = Callers(at_once=2)
    await callers.come(["one"] * 10 + ["two"] * 10 + ["three"])

    assert all(await callers.results())
    assert callers.served.index("three") <= 4


@on_a_loop
async def test_a_network_without_a_slot_comes_before_one_that_has_some() -> None:
    slots = FairSemaphore(3)
    for network in ("crowd", "crowd", "alone"):
        await slots.acquire(network)
    crowd = asyncio.create_task(slots.acquire("crowd"))
    other = asyncio.create_task(slots.acquire("other"))
    await asyncio.sleep(0)

    slots.release("crowd")

    async with asyncio.timeout(60):
        await other
    assert not crowd.done()
    crowd.cancel()
