"""Limits that hold for all nodes, told over each kind of bus."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from printreach.backends.bus_nats import open_nats_bus
from printreach.backends.bus_rows import open_bus
from printreach.backends.clock import SystemClock
from printreach.backends.counts_exchange import shared_over
from printreach.hub.tries import CallerTries
from printreach.limiters.slots import Slots
from printreach.ports import Bus, Topic
from printreach.rules.rate_limits import Limit
from printreach.store.store import open_store
from tests.fakes.loop import on_a_loop
from tests.fakes.memory_bus import MemoryBus
from tests.rigs.nats_server import NatsServer, settled

PATIENCE_S = 30.0
TEN = Limit(name="test", at_once=10, every=timedelta(minutes=10))


@asynccontextmanager
async def node(bus: Bus, name: str) -> AsyncIterator[CallerTries]:
    tries = CallerTries(SystemClock())
    async with shared_over(bus, tries.counts, name):
        yield tries


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


async def holds_for_both(here: CallerTries, there: CallerTries) -> None:
    assert [here.take(TEN, "ada") for _ in range(10)] == [None] * 10

    await until(lambda: there.look(TEN, "ada") is not None)

    assert there.take(TEN, "bob") is None
    viewers = [Slots(name="viewers", counts=each.counts) for each in (here, there)]
    assert viewers[0].take({"link": 1})
    await until(lambda: not viewers[1].are_free({"link": 1}))
    viewers[0].release(["link"])
    await until(lambda: viewers[1].are_free({"link": 1}))


def test_over_nats(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)

    @on_a_loop
    async def body() -> None:
        async with (
            open_store(tmp_path / "a.sqlite3") as first,
            open_store(tmp_path / "b.sqlite3") as second,
            open_nats_bus([server.url], first) as here_bus,
            open_nats_bus([server.url], second) as there_bus,
            node(here_bus, "here") as here,
            node(there_bus, "there") as there,
        ):
            await settled(here_bus)
            await settled(there_bus)
            await holds_for_both(here, there)

    with server:
        body()


@on_a_loop
async def test_over_the_database(tmp_path: Path) -> None:
    path, clock = tmp_path / "printreach.sqlite3", SystemClock()
    async with (
        open_store(path) as first,
        open_store(path) as second,
        open_bus(first, clock) as here_bus,
        open_bus(second, clock) as there_bus,
        node(here_bus, "here") as here,
        node(there_bus, "there") as there,
    ):
        await holds_for_both(here, there)


@on_a_loop
async def test_a_node_that_others_do_not_hear_keeps_the_limit_for_itself() -> None:
    bus = MemoryBus()
    bus.is_away = True
    async with node(bus, "here") as here, node(bus, "there") as there:
        taken = [tries.take(TEN, "ada") for tries in (here, there) for _ in range(11)]

    assert [refused is None for refused in taken] == ([True] * 10 + [False]) * 2


@pytest.mark.slow
@on_a_loop
async def test_callers_by_the_thousand_are_told_in_messages_of_a_bounded_size() -> None:
    bus, sizes = MemoryBus(), []
    bus.subscribe(lambda notice: sizes.append(len(notice.key)), *Topic)
    async with node(bus, "here") as here, node(bus, "there") as there:
        for number in range(2000):
            for _ in range(10):
                here.take(TEN, f"2001:db8:0:{number:x}::/64")
        await until(lambda: there.look(TEN, "2001:db8:0:7cf::/64") is not None)

    assert max(sizes) < 200_000
