"""Notices reach all subscribers of each kind of bus, and one kind crosses processes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from printreach.backends import bus_rows
from printreach.backends.bus_nats import open_nats_bus
from printreach.backends.bus_rows import MEMORY, PRUNE_EVERY_S, SQLITE_POLL_S, open_bus, prune_now
from printreach.ports import Bus, Notice, Topic
from printreach.store.store import Records, Store, open_store
from printreach.store.tables import notices
from tests.fakes.clock import NOON, FakeClock
from tests.fakes.loop import on_a_loop
from tests.fakes.memory_bus import MemoryBus
from tests.rigs.nats_server import NatsServer

PATIENCE_S = 60.0
REVOKED = Notice(Topic.CONNECTION, "app-1")
LINKED = Notice(Topic.PRINTER, "p1")

OpenBus = Callable[[Path], AbstractAsyncContextManager[Bus]]


@asynccontextmanager
async def memory_bus(_: Path) -> AsyncIterator[Bus]:
    yield MemoryBus()


@asynccontextmanager
async def sqlite_bus(database: Path) -> AsyncIterator[Bus]:
    async with open_store(database) as store, open_bus(store, FakeClock()) as bus:
        yield bus


@asynccontextmanager
async def nats_bus(database: Path) -> AsyncIterator[Bus]:
    with NatsServer(database.parent) as server:
        async with open_store(database) as store, open_nats_bus([server.url], store) as bus:
            yield bus


BUSES = pytest.mark.parametrize("open_one", [memory_bus, sqlite_bus, nats_bus])


class Listener:
    """Collects notices, and can be waited for."""

    def __init__(self) -> None:
        self.heard: list[Notice] = []
        self._news = asyncio.Event()

    def __call__(self, notice: Notice) -> None:
        self.heard.append(notice)
        self._news.set()

    async def has_heard(self, count: int) -> list[Notice]:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.heard) < count:
                self._news.clear()
                await self._news.wait()
        return self.heard


@BUSES
def test_every_subscriber_hears_every_notice_in_order(open_one: OpenBus, database: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_one(database) as bus:
            one, other = Listener(), Listener()
            bus.subscribe(one, *Topic)
            bus.subscribe(other, *Topic)

            await bus.publish(REVOKED)
            await bus.publish(LINKED)

            assert await one.has_heard(2) == [REVOKED, LINKED]
            assert await other.has_heard(2) == [REVOKED, LINKED]

    body()


@BUSES
def test_who_ended_its_subscription_hears_no_more(open_one: OpenBus, database: Path) -> None:
    @on_a_loop
    async def body() -> None:
        async with open_one(database) as bus:
            gone, still_there = Listener(), Listener()
            end = bus.subscribe(gone, *Topic)
            bus.subscribe(still_there, *Topic)

            end()
            end()
            await bus.publish(REVOKED)

            await still_there.has_heard(1)
            assert gone.heard == []

    body()


@BUSES
def test_a_subscriber_that_fails_takes_nobody_along(
    open_one: OpenBus, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Notice) -> None:
        raise RuntimeError

    @on_a_loop
    async def body() -> None:
        async with open_one(database) as bus:
            listener = Listener()
            bus.subscribe(fail, *Topic)
            bus.subscribe(listener, *Topic)

            await bus.publish(REVOKED)
            await bus.publish(LINKED)

            assert await listener.has_heard(2) == [REVOKED, LINKED]

    body()
    failures = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(failures) == 2


class Refused(Exception):
    """What a unit of work raises in these tests."""


async def notify(store: Store, notice: Notice) -> None:
    async def work(records: Records) -> None:
        await records.notify(notice, NOON)

    await store.write(work)


@on_a_loop
async def test_a_notice_of_another_process_arrives_with_the_next_look(database: Path) -> None:
    async with (
        open_store(database) as service,
        open_bus(service, FakeClock()) as bus,
        open_store(database) as administration,
    ):
        listener = Listener()
        bus.subscribe(listener, *Topic)
        await notify(administration, LINKED)

        assert await listener.has_heard(1) == [LINKED]
        assert SQLITE_POLL_S <= 0.25  # an agent is to hear within half a second that it was linked


@on_a_loop
async def test_a_notice_of_this_process_does_not_wait_for_the_next_look(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_rows, "SQLITE_POLL_S", 10 * PATIENCE_S)
    async with open_store(database) as store, open_bus(store, FakeClock()) as bus:
        listener = Listener()
        bus.subscribe(listener, *Topic)
        for _ in range(3):
            await notify(store, LINKED)

        assert await listener.has_heard(3) == [LINKED] * 3


@on_a_loop
async def test_a_unit_of_work_that_fails_gives_no_notice(database: Path) -> None:
    async def fail(records: Records) -> None:
        await records.notify(REVOKED, NOON)
        raise Refused

    async with open_store(database) as store, open_bus(store, FakeClock()) as bus:
        listener = Listener()
        bus.subscribe(listener, *Topic)
        with pytest.raises(Refused):
            await store.write(fail)
        await notify(store, LINKED)

        assert await listener.has_heard(1) == [LINKED]


@on_a_loop
async def test_what_was_published_before_is_not_told_again(database: Path) -> None:
    async with open_store(database) as store:
        await notify(store, REVOKED)
        async with open_bus(store, FakeClock()) as bus:
            listener = Listener()
            bus.subscribe(listener, *Topic)
            await notify(store, LINKED)

            assert await listener.has_heard(1) == [LINKED]


@on_a_loop
async def test_a_topic_that_a_newer_version_knows_is_passed_over(database: Path) -> None:
    async def notify_of_news(records: Records) -> None:
        await records.connection.execute(insert(notices).values(topic="news", key="x", at=NOON))

    async with open_store(database) as store, open_bus(store, FakeClock()) as bus:
        listener = Listener()
        bus.subscribe(listener, *Topic)
        await store.write(notify_of_news)
        await notify(store, LINKED)

        assert await listener.has_heard(1) == [LINKED]


def test_a_notice_is_there_for_less_than_two_minutes() -> None:
    assert MEMORY.total_seconds() + PRUNE_EVERY_S < 120


@on_a_loop
async def test_old_notices_are_removed_and_their_numbers_not_used_again(database: Path) -> None:
    async def count(records: Records) -> int | None:
        return await records.connection.scalar(select(func.count()).select_from(notices))

    clock = FakeClock()
    async with open_store(database) as store, open_bus(store, clock) as bus:
        listener = Listener()
        bus.subscribe(listener, *Topic)
        await bus.publish(REVOKED)
        await listener.has_heard(1)

        clock.advance(MEMORY)
        await prune_now(store, clock.now())
        assert await store.read(count) == 1

        clock.advance(timedelta(seconds=1))
        await prune_now(store, clock.now())
        assert await store.read(count) == 0

        await bus.publish(LINKED)
        assert await listener.has_heard(2) == [REVOKED, LINKED]
