"""Notices cross processes by the rows of a PostgreSQL database, in whatever order these appear."""

import asyncio

import pytest
from sqlalchemy import insert

from printreach.backends import bus_rows
from printreach.backends.bus_rows import open_postgresql_bus
from printreach.ports import Notice, Topic
from printreach.store.location import PostgresqlLocation
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import notices
from tests.backends.test_bus import LINKED, PATIENCE_S, REVOKED, Listener
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.loop import on_a_loop

pytestmark = pytest.mark.peer


@pytest.fixture(autouse=True)
def looks_follow_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_rows, "POSTGRESQL_POLL_S", 0.02)


async def notify(store: Store, notice: Notice, number: int) -> None:
    row = {"notice_id": number, "topic": notice.topic.value, "key": notice.key, "at": NOON}

    async def work(records: Records) -> None:
        await records.connection.execute(insert(notices).values(**row))

    await store.write(work)


@pytest.mark.slow
@on_a_loop
async def test_a_notice_of_another_process_arrives_with_the_next_look(
    postgresql_location: PostgresqlLocation,
) -> None:
    async with (
        open_store(postgresql_location) as service,
        open_postgresql_bus(service, FakeClock()) as bus,
        open_store(postgresql_location) as administration,
    ):
        listener = Listener()
        bus.subscribe(listener, *Topic)
        await administration.write(lambda records: records.notify(LINKED, NOON))

        assert await listener.has_heard(1) == [LINKED]


@on_a_loop
async def test_a_notice_of_this_process_does_not_wait_for_the_next_look(
    postgresql_location: PostgresqlLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_rows, "POSTGRESQL_POLL_S", 10 * PATIENCE_S)
    async with (
        open_store(postgresql_location) as store,
        open_postgresql_bus(store, FakeClock()) as bus,
    ):
        listener = Listener()
        bus.subscribe(listener, *Topic)
        for notice in (REVOKED, LINKED, REVOKED):
            await bus.publish(notice)

        assert await listener.has_heard(3) == [REVOKED, LINKED, REVOKED]


@on_a_loop
async def test_what_was_published_before_is_not_told_again(
    postgresql_location: PostgresqlLocation,
) -> None:
    async with open_store(postgresql_location) as store:
        await store.write(lambda records: records.notify(REVOKED, NOON))
        async with open_postgresql_bus(store, FakeClock()) as bus:
            listener = Listener()
            bus.subscribe(listener, *Topic)
            await bus.publish(LINKED)

            assert await listener.has_heard(1) == [LINKED]


@on_a_loop
async def test_a_notice_that_is_committed_after_a_later_one_is_told_once(
    postgresql_location: PostgresqlLocation,
) -> None:
    third = Notice(Topic.ACCOUNT, "ada")
    async with (
        open_store(postgresql_location) as store,
        open_postgresql_bus(store, FakeClock()) as bus,
        open_store(postgresql_location) as other,
    ):
        listener = Listener()
        bus.subscribe(listener, *Topic)
        await notify(other, REVOKED, 12)
        await listener.has_heard(1)
        await notify(other, LINKED, 11)
        await listener.has_heard(2)
        await notify(other, third, 13)

        assert await listener.has_heard(3) == [REVOKED, LINKED, third]
        await asyncio.sleep(0.1)  # several looks
        assert len(listener.heard) == 3
