"""The time of a walk passes only where somebody waits."""

import asyncio
import itertools

from tests.fakes.hasty_loop import settle
from tests.isolation.walk.virtual_time import VirtualLoop


def test_two_looks_at_the_clock_are_never_the_same_instant() -> None:
    loop = VirtualLoop()
    try:
        looks = [loop.time() for _ in range(100)]
    finally:
        loop.close()

    assert all(one < next_one for one, next_one in itertools.pairwise(looks))


def test_settling_waits_for_work_that_looks_at_the_clock_often() -> None:
    done: list[int] = []

    async def work() -> None:
        for number in range(2_000):
            asyncio.get_running_loop().time()
            await asyncio.sleep(0)
            done.append(number)

    async def body() -> None:
        task = asyncio.create_task(work())
        await settle()
        assert task.done(), f"settled after {len(done)} of 2,000 steps"

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(body())
