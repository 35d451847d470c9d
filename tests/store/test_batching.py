"""Statements are batched on the database's thread, and no deferred one is lost."""

import asyncio
import threading
from pathlib import Path

import aiosqlite
import pytest
from sqlalchemy import text

from printreach.ports import StoreUnavailable
from printreach.store.engine import reading_engine, writing_engine
from printreach.store.store import Records, open_store
from tests.fakes.loop import on_a_loop
from tests.relay.waiting import until
from tests.store.records import ADA
from tests.store.test_writer import Refused, account, add, names, names_on_disk, refuse

pytestmark = pytest.mark.sqlite


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What any thread of a database was asked to do so far."""
    asked: list[object] = []
    execute = aiosqlite.Connection._execute

    async def counting(
        self: aiosqlite.Connection, work: object, *rest: object, **named: object
    ) -> object:
        asked.append(work)
        return await execute(self, work, *rest, **named)  # type: ignore[no-untyped-call]  # it has no types

    monkeypatch.setattr(aiosqlite.Connection, "_execute", counting)
    return asked


@on_a_loop
async def test_a_statement_that_reads_takes_one_turn(database: Path, turns: list[object]) -> None:
    async with open_store(database) as store:
        await names(store)  # opens the connection
        turns.clear()

        await names(store)

        assert len(turns) == 1


@on_a_loop
async def test_a_statement_that_writes_takes_one_turn_and_one_to_commit(
    database: Path, turns: list[object]
) -> None:
    async with open_store(database) as store:
        await add(store, "ada")
        turns.clear()

        await add(store, "bob")

        assert len(turns) == 2
        assert names_on_disk(database) == ["ada", "bob"]


@on_a_loop
async def test_a_group_takes_a_turn_for_each_statement_and_one_to_commit(
    database: Path, turns: list[object]
) -> None:
    async with open_store(database) as store:
        await add(store, "ada")
        turns.clear()

        await asyncio.gather(*(add(store, name) for name in ("bob", "cyd", "dan")))

        assert len(turns) == 4
        assert names_on_disk(database) == ["ada", "bob", "cyd", "dan"]


@on_a_loop
async def test_a_unit_of_work_that_asks_nothing_takes_no_turn(
    database: Path, turns: list[object]
) -> None:
    async def think(_records: Records) -> str:
        return "thought"

    async with open_store(database) as store:
        await add(store, "ada")
        turns.clear()

        assert await store.write(think) == "thought"
        assert turns == []


@on_a_loop
async def test_a_unit_that_fails_before_it_asked_anything_takes_nobody_along(
    database: Path,
) -> None:
    async def fail(_records: Records) -> None:
        refuse()

    async with open_store(database) as store:
        results = await asyncio.gather(
            store.write(fail), add(store, "ada"), store.write(fail), return_exceptions=True
        )

        assert [type(result) for result in results] == [Refused, type(None), Refused]
        assert names_on_disk(database) == ["ada"]


@on_a_loop
async def test_the_last_of_a_group_that_fails_is_undone_before_the_commit(database: Path) -> None:
    async with open_store(database) as store:
        results = await asyncio.gather(
            add(store, "ada"), add(store, "bob", then=refuse), return_exceptions=True
        )

        assert [type(result) for result in results] == [type(None), Refused]
        assert names_on_disk(database) == ["ada"]


@on_a_loop
async def test_a_unit_that_hides_that_all_was_rolled_back_fails_with_its_group(
    database: Path,
) -> None:
    async def roll_back(records: Records) -> None:
        await records.connection.execute(text("ROLLBACK"))

    async with open_store(database) as store:
        results = await asyncio.gather(
            add(store, "ada"), store.write(roll_back), return_exceptions=True
        )

        assert [type(result) for result in results] == [StoreUnavailable] * 2
        assert await names(store) == []


@on_a_loop
async def test_a_connection_given_back_in_the_middle_of_its_work_holds_no_right_to_write(
    database: Path,
) -> None:
    async with open_store(database) as store:
        engine = writing_engine(database)
        connection = await engine.connect()
        await connection.execute(text("DELETE FROM accounts"))
        await connection.close()

        await store.write(lambda records: records.accounts.add(account(ADA.account_id)))

        assert names_on_disk(database) == [ADA.account_id]
        await engine.dispose()


@pytest.mark.parametrize("turns_of_the_loop", range(0, 80, 2))
@on_a_loop
async def test_who_leaves_while_the_file_is_opened_leaves_no_task_behind(
    database: Path, turns_of_the_loop: int
) -> None:
    of_other_tests = threads_of_databases()
    engine = reading_engine(database)

    async def read() -> None:
        connection = await engine.connect()
        try:
            await connection.execute(text("SELECT 1"))
        finally:
            await connection.close()

    reader = asyncio.create_task(read())
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
    for _ in range(2):
        reader.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(reader, return_exceptions=True)

    assert asyncio.all_tasks() == {asyncio.current_task()}
    await engine.dispose()
    await until(lambda: threads_of_databases() <= of_other_tests)


def threads_of_databases() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if "_connection_worker_thread" in one.name}
