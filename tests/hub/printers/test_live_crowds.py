"""Many who look at one Live Link: they cost the store what one does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from printreach.hub.connections.live_links import KNOWN_FOR
from printreach.store.store import Records, Store
from tests.fakes.loop import on_a_loop
from tests.hub.test_clock_put_back import House, house
from tests.hub.world import PRINTER_ID, OpenWorld
from tests.rules.connections.test_live_links import LINK

T = TypeVar("T")
CROWD = 100


async def shown(here: House) -> None:
    """A link that Ada gave to many."""
    link = replace(LINK, account_id=here.account_id, printer_id=PRINTER_ID, print_id="")
    await here.world.store.write(lambda records: records.live_links.add(link))


def test_a_crowd_that_looks_at_once_asks_the_store_once(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    read = Store.read

    async def counted(self: Store, work: Callable[[Records], Awaitable[T]]) -> T:
        reads.append(1)
        return await read(self, work)

    @on_a_loop
    async def body() -> None:
        async with open_world() as world:
            here = await house(world)
            await shown(here)
            monkeypatch.setattr(Store, "read", counted)
            links = here.live_links
            for _ in range(2):
                views = await asyncio.gather(*(links.look("l1") for _ in range(CROWD)))
                assert all(view is not None and view.end is None for view in views)
                world.clock.advance(KNOWN_FOR + timedelta(seconds=1))

    body()
    assert len(reads) == 2


@on_a_loop
async def test_one_who_leaves_in_the_crowd_takes_no_other_along(open_world: OpenWorld) -> None:
    async with open_world() as world:
        here = await house(world)
        await shown(here)
        links = here.live_links
        looks = [asyncio.create_task(links.look("l1")) for _ in range(3)]
        await asyncio.sleep(0)
        looks[0].cancel()
        first, *others = await asyncio.gather(*looks, return_exceptions=True)

    assert isinstance(first, asyncio.CancelledError)
    assert all(not isinstance(view, BaseException) and view is not None for view in others)
