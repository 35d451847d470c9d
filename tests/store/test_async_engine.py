"""The engine for coroutines: transactions end, and connections come back, however a block ends."""

import asyncio
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from printreach.store.async_engine import AsyncEngine
from printreach.store.engine import writing_engine
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until

pytestmark = pytest.mark.sqlite

ADD = text("INSERT INTO nodes (node_id, alive_at) VALUES ('n', '2026-05-01')")
COUNT = text("SELECT count(*) FROM nodes")


class Refused(Exception):
    """Ends a block."""


async def rows_and_connections_in_use(engine: AsyncEngine) -> tuple[int, int]:
    async with engine.begin() as connection:
        rows = await connection.scalar(COUNT)
    in_use = engine.sync_engine.pool.checkedout()  # type: ignore[attr-defined]  # of its kind
    await engine.dispose()
    return rows, in_use


@on_a_loop
async def test_a_transaction_is_committed_at_the_end_of_its_block(database: Path) -> None:
    engine = writing_engine(database)

    async with engine.begin() as connection:
        await connection.execute(ADD)

    assert await rows_and_connections_in_use(engine) == (1, 0)


@on_a_loop
async def test_a_block_that_raises_leaves_nothing(database: Path) -> None:
    engine = writing_engine(database)

    async def add_and_raise() -> None:
        async with engine.begin() as connection:
            await connection.execute(ADD)
            raise Refused

    with pytest.raises(Refused):
        await add_and_raise()
    assert await rows_and_connections_in_use(engine) == (0, 0)


@pytest.mark.parametrize("turns_of_the_loop", range(0, 60, 2))
@on_a_loop
async def test_a_task_that_is_cancelled_gives_its_connection_back(
    database: Path, turns_of_the_loop: int
) -> None:
    of_other_tests = threads_of_databases()
    engine = writing_engine(database)

    async def add() -> None:
        async with engine.begin() as connection:
            await connection.execute(ADD)

    adding = asyncio.create_task(add())
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
    for _ in range(2):
        adding.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(adding, return_exceptions=True)

    _, in_use = await rows_and_connections_in_use(engine)
    assert in_use == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await until(lambda: threads_of_databases() <= of_other_tests)


def threads_of_databases() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if "_connection_worker_thread" in one.name}
