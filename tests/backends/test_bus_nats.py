"""The bus over a real NATS server: across processes, and while the server is gone."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from printreach.backends import bus_nats
from printreach.backends.bus_nats import MAX_WAITING, NatsBus, open_nats_bus
from printreach.ports import Notice, Topic
from printreach.run.setting_values import read_nats_urls
from printreach.store.store import Store, open_store
from tests.fakes.clock import NOON
from tests.fakes.loop import on_a_loop
from tests.rigs.nats_server import PASSWORD, NatsServer, settled
from tests.rigs.waiting import free_port

pytestmark = pytest.mark.peer

PATIENCE_S = 30.0
REVOKED = Notice(Topic.CONNECTION, "app-1")
LINKED = Notice(Topic.PRINTER, "p1")


@pytest.fixture
def server(tmp_path: Path) -> NatsServer:
    return NatsServer(tmp_path)


@asynccontextmanager
async def node(folder: Path, server: NatsServer) -> AsyncIterator[tuple[Store, NatsBus]]:
    """A process of its own, as far as the bus knows."""
    async with (
        open_store(folder.with_suffix(".sqlite3")) as store,
        open_nats_bus([server.url], store) as bus,
    ):
        yield store, bus


async def hears(bus: NatsBus, notice: Notice) -> None:
    heard = asyncio.Event()
    end = bus.subscribe(lambda _: heard.set(), notice)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await heard.wait()
    finally:
        end()


async def lost(bus: NatsBus) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while bus.is_connected.is_set():  # noqa: ASYNC110 - nobody else waits for a loss
            await asyncio.sleep(0.01)


def test_a_notice_that_is_stored_by_one_node_reaches_the_others(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        with server:
            async with (
                node(tmp_path / "a", server) as (store, _),
                node(tmp_path / "b", server) as (
                    _,
                    other,
                ),
            ):
                hearing = asyncio.create_task(hears(other, LINKED))
                await asyncio.sleep(0)
                await settled(other)
                await store.write(lambda records: records.notify(LINKED, NOON))
                await hearing

    body()


def test_a_process_that_ends_at_once_has_sent_what_it_published(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        with server:
            async with node(tmp_path / "a", server) as (_, service):
                hearing = asyncio.create_task(hears(service, REVOKED))
                await asyncio.sleep(0)
                await settled(service)
                async with node(tmp_path / "b", server) as (store, _):
                    await store.write(lambda records: records.notify(REVOKED, NOON))
                await hearing

    body()


def test_without_the_server_a_process_starts_and_hears_itself(
    tmp_path: Path,
    server: NatsServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(bus_nats, "FIRST_CONNECTION_S", 0.2)
    heard: list[Notice] = []

    @on_a_loop
    async def body() -> None:
        async with node(tmp_path / "a", server) as (store, bus):
            bus.subscribe(heard.append, *Topic)
            await bus.publish(REVOKED)
            await store.write(lambda records: records.notify(LINKED, NOON))

    body()
    assert heard == [REVOKED, LINKED]
    assert PASSWORD not in caplog.text


@pytest.mark.slow
def test_notices_flow_again_once_the_server_is_back(tmp_path: Path, server: NatsServer) -> None:
    @on_a_loop
    async def body() -> None:
        async with (
            node(tmp_path / "a", server) as (_, one),
            node(tmp_path / "b", server) as (
                _,
                other,
            ),
        ):
            for _ in range(2):
                with server:
                    async with asyncio.timeout(PATIENCE_S):
                        await asyncio.gather(one.is_connected.wait(), other.is_connected.wait())
                    hearing = asyncio.create_task(hears(other, REVOKED))
                    await asyncio.sleep(0)
                    await settled(other)
                    await one.publish(REVOKED)
                    await hearing
                await lost(one)
                await lost(other)

    body()


@pytest.mark.slow
def test_a_server_that_reads_nothing_makes_nobody_wait(tmp_path: Path, server: NatsServer) -> None:
    @on_a_loop
    async def body() -> None:
        with server:
            async with node(tmp_path / "a", server) as (_, bus):
                server.pause()
                async with asyncio.timeout(PATIENCE_S):
                    for number in range(10 * MAX_WAITING):
                        await bus.publish(Notice(Topic.PRINTER, f"p{number}" * 100))
                server.resume()

    body()


@pytest.mark.parametrize(
    "credentials",
    ["fleet:na%3At%2Fs%401%2C%25", "fleet:na:t%2fs@1%2C%", "%66leet:na:t%2Fs@1%2C%25"],
)
def test_user_and_password_are_percent_encoded_where_the_address_could_not_hold_them(
    tmp_path: Path, credentials: str
) -> None:
    @on_a_loop
    async def body() -> None:
        with NatsServer(tmp_path, "na:t/s@1,%") as server:
            here = f"127.0.0.1:{server.port}"
            nowhere = f"nats://fleet:other@127.0.0.1:{free_port()}"
            servers = read_nats_urls(
                f"{nowhere},nats://fleet:wrong@{here},nats://{credentials}@{here}"
            )
            async with (
                open_store(tmp_path / "a.sqlite3") as store,
                open_nats_bus(servers, store) as bus,
                asyncio.timeout(PATIENCE_S),
            ):
                await bus.is_connected.wait()

    body()


def test_what_no_node_of_ours_says_is_left_alone(
    tmp_path: Path, server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    from nats.aio.client import Client

    @on_a_loop
    async def body() -> None:
        with server:
            async with node(tmp_path / "a", server) as (_, bus):
                stranger = Client()
                await stranger.connect(server.url)
                hearing = asyncio.create_task(hears(bus, REVOKED))
                await asyncio.sleep(0)
                await settled(bus)
                await stranger.publish("printreach.notice.unheard-of", b"x")
                await stranger.publish("printreach.notice.printer", b"\xff\xfe")
                await stranger.publish("printreach.notice.connection", b"app-1")
                await hearing
                await stranger.close()

    body()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
