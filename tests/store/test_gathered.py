"""What thousands ask for at once is done for many together, and for each alone if it must."""

import asyncio
from collections.abc import Sequence

import pytest

from printreach.ports import StoreUnavailable
from printreach.store.gathered import Gathered
from tests.fakes.loop import on_a_loop


class Doubling:
    """Doubles numbers. groups: what was asked for together. is_away: it raises StoreUnavailable."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.is_away = False

    async def __call__(self, numbers: Sequence[int]) -> Sequence[int]:
        self.groups.append(list(numbers))
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreUnavailable("away")
        if 13 in numbers:
            raise ValueError("13")
        return [2 * number for number in numbers]


@on_a_loop
async def test_what_comes_meanwhile_goes_together_into_the_next_group() -> None:
    doubling = Doubling()
    gathered = Gathered(doubling, at_once=3)
    alone = asyncio.create_task(gathered.do(0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    results = await asyncio.gather(*(gathered.do(number) for number in range(1, 6)))

    assert [await alone, *results] == [0, 2, 4, 6, 8, 10]
    assert doubling.groups == [[0], [1, 2, 3], [4, 5]]


@on_a_loop
async def test_one_that_fails_harms_no_other_of_its_group() -> None:
    doubling = Doubling()
    gathered = Gathered(doubling)
    results = await asyncio.gather(
        *(gathered.do(number) for number in (1, 13, 3)), return_exceptions=True
    )

    assert [results[0], type(results[1]), results[2]] == [2, ValueError, 6]


@on_a_loop
async def test_a_store_that_is_away_is_asked_once_for_all() -> None:
    doubling = Doubling()
    doubling.is_away = True
    gathered = Gathered(doubling)
    results = await asyncio.gather(
        *(gathered.do(number) for number in range(3)), return_exceptions=True
    )

    assert [type(one) for one in results] == [StoreUnavailable] * 3
    assert doubling.groups == [[0, 1, 2]]


@on_a_loop
async def test_nothing_is_done_for_a_caller_that_has_left() -> None:
    doubling = Doubling()
    gathered = Gathered(doubling)
    leaving, staying = (asyncio.create_task(gathered.do(number)) for number in (1, 2))
    await asyncio.sleep(0)
    leaving.cancel()

    assert await staying == 4
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert doubling.groups == [[2]]
