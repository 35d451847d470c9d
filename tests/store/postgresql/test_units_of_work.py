"""Units of work on PostgreSQL come out as if one had followed the other, and outlast restarts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg  # type: ignore[import-untyped]
import pytest
from sqlalchemy import insert, select, text, update

from printreach.ports import StoreUnavailable
from printreach.store.location import PostgresqlLocation
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import accounts, nodes
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.rigs.postgresql import PostgresqlServer
from tests.store.records import ADA

pytestmark = pytest.mark.peer

AT_ONCE = 20


async def add_ada(store: Store) -> None:
    await store.write(lambda records: records.accounts.add(ADA))


async def tries_of_ada(records: Records) -> int:
    return (await records.accounts.link_tries("ada")).wrong


async def count_a_try(records: Records) -> None:
    """Read, decide, write: wrong where another one writes in between."""
    tries = await records.accounts.link_tries("ada")
    await asyncio.sleep(0)
    await records.accounts.set_link_tries("ada", replace(tries, wrong=tries.wrong + 1))


@asynccontextmanager
async def two_processes(location: PostgresqlLocation) -> AsyncIterator[list[Store]]:
    async with open_store(location) as one, open_store(location) as other:
        yield [one, other]


@pytest.mark.slow
@on_a_loop
async def test_no_update_is_lost_that_read_before_it_wrote(
    postgresql_location: PostgresqlLocation,
) -> None:
    async with two_processes(postgresql_location) as stores:
        await add_ada(stores[0])

        await asyncio.gather(*(stores[n % 2].write(count_a_try) for n in range(AT_ONCE)))

        assert await stores[0].read(tries_of_ada) == AT_ONCE


@pytest.mark.slow
@on_a_loop
async def test_a_bound_that_each_unit_counts_for_itself_is_kept_by_all(
    postgresql_location: PostgresqlLocation,
) -> None:
    """No row is changed by two, so locks of rows would not do."""

    def add_if_there_is_room(name: str) -> Callable[[Records], Awaitable[bool]]:
        async def work(records: Records) -> bool:
            found = (await records.connection.scalars(select(nodes.c.node_id))).all()
            if len(found) < 3:
                await records.connection.execute(insert(nodes).values(node_id=name, alive_at=NOON))
                return True
            return False

        return work

    async with two_processes(postgresql_location) as stores:
        added = await asyncio.gather(
            *(stores[n % 2].write(add_if_there_is_room(f"n{n}")) for n in range(AT_ONCE))
        )

    assert sum(added) == 3


@on_a_loop
async def test_what_fails_by_itself_is_told_after_few_tries(
    postgresql_location: PostgresqlLocation,
) -> None:
    tries = 0

    async def add_twice(records: Records) -> None:
        nonlocal tries
        tries += 1
        await records.accounts.add(ADA)
        await records.accounts.add(replace(ADA, account_id="other"))

    async with open_store(postgresql_location) as store:
        with pytest.raises(Exception, match=r"(?i)unique"):
            await store.write(add_twice)

        assert await store.read(lambda records: records.accounts.get("ada")) is None
    assert tries == 3


@on_a_loop
async def test_a_failure_that_the_unit_passes_over_is_not_taken_for_a_commit(
    postgresql_location: PostgresqlLocation,
) -> None:
    async def work(records: Records) -> None:
        await records.accounts.add(ADA)
        try:
            await records.connection.execute(text("SELECT 1 / 0"))
        except Exception:  # noqa: BLE001 - as somebody might write it
            pass

    async with open_store(postgresql_location) as store:
        with pytest.raises(Exception, match="had failed"):
            await store.write(work)


@on_a_loop
async def test_a_caller_that_gives_up_leaves_nothing_half_done(
    postgresql_location: PostgresqlLocation,
) -> None:
    began, may_end = asyncio.Event(), asyncio.Event()

    async def work(records: Records) -> None:
        await records.accounts.add(ADA)
        began.set()
        await may_end.wait()

    async with open_store(postgresql_location) as store:
        caller = asyncio.create_task(store.write(work))
        await began.wait()
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
        may_end.set()
    async with open_store(postgresql_location) as store:
        assert await store.read(lambda records: records.accounts.get("ada")) == ADA


@on_a_loop
async def test_text_may_be_longer_than_the_table_says_and_hold_any_character(
    postgresql_location: PostgresqlLocation,
) -> None:
    """As in SQLite: what is too long, a rule refuses. Zero bytes alone have no place there."""
    name = "é\0" * 400

    async def rename(records: Records) -> str | None:
        await records.connection.execute(update(accounts).values(email=name))
        return await records.connection.scalar(select(accounts.c.email))

    async with open_store(postgresql_location) as store:
        await add_ada(store)
        assert await store.write(rename) == name.replace("\0", "\ufffd")


@pytest.fixture
def own_server() -> PostgresqlServer:
    return PostgresqlServer()


@pytest.mark.slow
def test_the_store_goes_on_by_itself_after_the_server_was_started_anew(
    own_server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    location = PostgresqlLocation("", tmp_path_factory.mktemp("data"))

    @on_a_loop
    async def body() -> None:
        async with open_store(replace(location, url=own_server.url())) as store:
            await add_ada(store)
            await asyncio.to_thread(own_server.stop)
            for ask in (store.write, store.read):
                with pytest.raises(StoreUnavailable):
                    await ask(tries_of_ada)
            was_available = store.is_available
            await asyncio.to_thread(own_server.start)

            assert await store.read(tries_of_ada) == 0
            assert (was_available, store.is_available) == (False, True)
            await store.write(count_a_try)

    with own_server:
        body()


@pytest.mark.slow
def test_a_restart_between_two_units_is_not_noticed(
    own_server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    location = PostgresqlLocation("", tmp_path_factory.mktemp("data"))

    @on_a_loop
    async def body() -> None:
        async with open_store(replace(location, url=own_server.url())) as store:
            await add_ada(store)
            for ask in (store.read, store.write):
                await asyncio.gather(*(store.read(tries_of_ada) for _ in range(3)))
                await asyncio.to_thread(own_server.stop)
                await asyncio.to_thread(own_server.start)

                assert await ask(tries_of_ada) == 0

    with own_server:
        body()


@on_a_loop
async def test_a_server_that_is_not_there_is_named_without_its_password(
    postgresql_location: PostgresqlLocation,
) -> None:
    nowhere = replace(postgresql_location, url="postgresql://user:secret@127.0.0.1:1/prints")

    with pytest.raises(StoreUnavailable, match=r"prints at 127\.0\.0\.1") as refused:
        async with open_store(nowhere):
            pass

    assert "secret" not in str(refused.value)


@on_a_loop
async def test_a_server_that_takes_no_more_connections_is_unavailable(
    postgresql_location: PostgresqlLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(postgresql_location) as store:

        async def refuse(*_: object, **__: object) -> None:
            raise asyncpg.TooManyConnectionsError("sorry, too many clients already")

        monkeypatch.setattr(asyncpg, "connect", refuse)

        with pytest.raises(StoreUnavailable, match="too many clients"):
            await store.read(tries_of_ada)
        with pytest.raises(StoreUnavailable, match="too many clients"):
            await store.write(count_a_try)
        assert not store.is_available
