"""Data are stored completely once `write` has returned, and a failed unit leaves no trace."""

import asyncio
import multiprocessing
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from printreach.ports import StoreUnavailable
from printreach.rules.accounts import Account
from printreach.store import writer as writer_module
from printreach.store.store import Records, Store, open_store
from tests.fakes.loop import on_a_loop
from tests.store.records import ADA

pytestmark = pytest.mark.sqlite


class Refused(Exception):
    """What a unit of work raises in these tests."""


def account(name: str) -> Account:
    return replace(ADA, account_id=name, email=f"{name}@example.org")


async def add(store: Store, name: str, then: Callable[[], None] = lambda: None) -> None:
    async def work(records: Records) -> None:
        await records.accounts.add(account(name))
        then()

    await store.write(work)


def refuse() -> None:
    raise Refused


async def names(store: Store) -> list[str]:
    async def look(records: Records) -> list[str]:
        return [account.account_id for account in await records.accounts.all()]

    return await store.read(look)


def names_on_disk(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT account_id FROM accounts ORDER BY email_key")
        return [name for (name,) in found]


@on_a_loop
async def test_what_was_written_is_read_by_every_process_at_once(database: Path) -> None:
    async with open_store(database) as store:
        await add(store, "ada")

        assert names_on_disk(database) == ["ada"]
        assert await names(store) == ["ada"]


@on_a_loop
async def test_a_unit_of_work_that_raises_leaves_no_trace_and_the_caller_hears_why(
    database: Path,
) -> None:
    async with open_store(database) as store:
        with pytest.raises(Refused):
            await add(store, "ada", then=refuse)

        assert await names(store) == []


@on_a_loop
async def test_one_failing_unit_does_not_take_its_group_along(database: Path) -> None:
    async with open_store(database) as store:
        results = await asyncio.gather(
            add(store, "ada"),
            add(store, "bob", then=refuse),
            add(store, "cyd"),
            add(store, "ada"),
            return_exceptions=True,
        )

        assert [type(result).__name__ for result in results] == [
            "NoneType",
            "Refused",
            "NoneType",
            "IntegrityError",
        ]
        assert await names(store) == ["ada", "cyd"]


@on_a_loop
async def test_many_who_wait_share_few_commits(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    commit = writer_module.Writer._commit

    async def counting(self: writer_module.Writer, group: list[writer_module._Unit]) -> None:
        groups.append(len(group))
        await commit(self, group)

    monkeypatch.setattr(writer_module.Writer, "_commit", counting)
    monkeypatch.setattr(writer_module, "GROUP_SIZE", 16)
    async with open_store(database) as store:
        await asyncio.gather(*(add(store, f"a{number:03}") for number in range(40)))

    assert sum(groups) == 40
    assert max(groups) == 16
    assert len(groups) <= 5


@on_a_loop
async def test_nobody_is_told_of_success_when_the_database_rolled_all_back_by_itself(
    database: Path,
) -> None:
    async def disk_is_full(records: Records) -> None:
        # What SQLite does by itself when it cannot go on.
        await records.connection.execute(text("ROLLBACK"))
        raise OSError("disk full")

    async with open_store(database) as store:
        results = await asyncio.gather(
            add(store, "ada"), store.write(disk_is_full), add(store, "cyd"), return_exceptions=True
        )

        assert [type(result) for result in results] == [StoreUnavailable] * 3
        assert await names(store) == []


@on_a_loop
async def test_the_writer_goes_on_after_a_group_that_failed(database: Path) -> None:
    async def disk_is_full(records: Records) -> None:
        await records.connection.execute(text("ROLLBACK"))
        raise OSError("disk full")

    async with open_store(database) as store:
        with pytest.raises(StoreUnavailable):
            await store.write(disk_is_full)
        await add(store, "ada")

        assert await names(store) == ["ada"]


@on_a_loop
async def test_work_whose_caller_was_cancelled_before_its_turn_is_not_done(database: Path) -> None:
    async with open_store(database) as store:
        given_up = asyncio.create_task(add(store, "ada"))
        await asyncio.sleep(0)
        given_up.cancel()
        await add(store, "bob")

        assert "bob" in await names(store)
        assert "ada" not in await names(store)


@on_a_loop
async def test_closing_finishes_what_was_queued(database: Path) -> None:
    async with open_store(database) as store:
        queued = [asyncio.create_task(add(store, f"a{number}")) for number in range(5)]
        await asyncio.sleep(0)

    await asyncio.gather(*queued)
    assert len(names_on_disk(database)) == 5


@on_a_loop
async def test_a_closed_store_says_so(database: Path) -> None:
    async with open_store(database) as store:
        pass

    with pytest.raises(StoreUnavailable, match="closed"):
        await add(store, "ada")


@on_a_loop
async def test_reading_cannot_write(database: Path) -> None:
    async def sneak(records: Records) -> None:
        await records.accounts.add(account("ada"))

    async with open_store(database) as store:
        with pytest.raises(StoreUnavailable, match="readonly"):
            await store.read(sneak)


@on_a_loop
async def test_an_error_of_the_database_never_tells_the_values_of_its_statement(
    database: Path,
) -> None:
    secret = replace(ADA, password_hash="hash-that-nobody-may-see")

    async def sneak(records: Records) -> None:
        await records.accounts.add(secret)

    async with open_store(database) as store:
        with pytest.raises(StoreUnavailable) as refused:
            await store.read(sneak)

    assert "hash-that-nobody-may-see" not in str(refused.value)
    assert "hash-that-nobody-may-see" not in str(refused.value.__cause__)


@on_a_loop
async def test_a_file_that_is_no_database_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "database.sqlite3"
    path.write_text("this is no database, and long enough to be looked at" * 100)

    with pytest.raises(StoreUnavailable, match="file is not a database"):
        async with open_store(path):
            pass


COUNTS = 40


def count_up(path: Path) -> None:
    """Read a number and write the next, as often as COUNTS says."""

    async def one_more(records: Records) -> None:
        number = await records.connection.scalar(text("SELECT wrong_link_tries FROM accounts"))
        await records.connection.execute(
            text("UPDATE accounts SET wrong_link_tries = :next"), {"next": number + 1}
        )

    async def main() -> None:
        async with open_store(path) as store:
            for _ in range(COUNTS):
                await store.write(one_more)

    asyncio.run(main())


@pytest.mark.slow
def test_no_update_of_three_processes_is_lost(database: Path) -> None:
    async def one_account() -> None:
        async with open_store(database) as store:
            await add(store, "ada")

    asyncio.run(one_account())
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=count_up, args=(database,)) for _ in range(3)]

    for process in processes:
        process.start()
    for process in processes:
        process.join(100)

    assert [process.exitcode for process in processes] == [0, 0, 0]
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT wrong_link_tries FROM accounts").fetchone()
    assert found == (3 * COUNTS,)
