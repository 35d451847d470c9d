"""Over NATS a node gets the notices that somebody in it wants, and no others."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from printreach.backends.bus_nats import SUBJECT, NatsBus, open_nats_bus
from printreach.ports import Notice, Topic
from printreach.store.store import open_store
from tests.fakes.loop import on_a_loop
from tests.rigs.nats_server import NatsServer, settled

pytestmark = pytest.mark.peer

PATIENCE_S = 30.0
LOOK = Notice(Topic.DETECTOR, "printer-1")
EVENT = Notice(Topic.EVENT, "account-1")
REVOKED = Notice(Topic.CONNECTION, "app-1")


@pytest.fixture
def server(tmp_path: Path) -> NatsServer:
    return NatsServer(tmp_path)


@dataclass
class Node:
    """ports.Tunnels, and what was heard over the bus. holders: of printers' tunnels."""

    node_id: str
    holders: dict[str, str] = field(default_factory=dict)
    heard: list[Notice] = field(default_factory=list)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def holder_of(self, printer_id: str) -> str | None:
        return self.holders.get(printer_id)

    def hear(self, notice: Notice) -> None:
        self.heard.append(notice)
        self.woken.set()

    async def until_heard(self, notice: Notice) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while notice not in self.heard:
                self.woken.clear()
                await self.woken.wait()


@asynccontextmanager
async def joined(folder: Path, server: NatsServer, node: Node) -> AsyncIterator[NatsBus]:
    """It is a process of its own, as far as the bus knows."""
    async with (
        open_store(folder / f"{node.node_id}.sqlite3") as store,
        open_nats_bus([server.url], store, node) as bus,
    ):
        yield bus


def delivered(server: NatsServer) -> int:
    """Return how many messages the server has sent to nodes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.monitoring_port}/varz") as answer:
        return int(json.load(answer)["out_msgs"])


def test_a_node_hears_of_looks_at_the_printers_whose_tunnels_it_holds(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        worker, holder, other = Node("worker"), Node("relay-1"), Node("relay-2")
        worker.holders = {LOOK.key: "relay-1"}
        with server:
            async with (
                joined(tmp_path, server, worker) as publishing,
                joined(tmp_path, server, holder) as here,
                joined(tmp_path, server, other) as there,
            ):
                for bus, node in ((here, holder), (there, other)):
                    bus.subscribe(node.hear, Topic.DETECTOR, Topic.CONNECTION)
                    await settled(bus)
                await publishing.publish(LOOK)
                await publishing.publish(REVOKED)
                await asyncio.gather(holder.until_heard(REVOKED), other.until_heard(REVOKED))

                assert holder.heard == [LOOK, REVOKED]
                assert other.heard == [REVOKED]

    body()


def test_where_the_tunnel_is_unknown_every_relay_hears_of_the_look(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        with server:
            relays = [Node("relay-1"), Node("relay-2")]
            async with (
                joined(tmp_path, server, Node("worker")) as publishing,
                joined(tmp_path, server, relays[0]) as one,
                joined(tmp_path, server, relays[1]) as other,
            ):
                for bus, node in zip((one, other), relays, strict=True):
                    bus.subscribe(node.hear, Topic.DETECTOR)
                    await settled(bus)
                await publishing.publish(LOOK)
                await asyncio.gather(*(node.until_heard(LOOK) for node in relays))

    body()


def test_a_page_hears_of_its_own_printer_and_account_while_it_is_open(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        worker, web = Node("worker", {LOOK.key: "relay-1"}), Node("web")
        others = [Notice(Topic.DETECTOR, "printer-2"), Notice(Topic.EVENT, "account-2")]
        with server:
            async with (
                joined(tmp_path, server, worker) as publishing,
                joined(tmp_path, server, web) as bus,
            ):
                bus.subscribe(web.hear, Topic.CONNECTION)
                close = bus.subscribe(web.hear, LOOK, EVENT)
                await settled(bus)
                for notice in (*others, LOOK, EVENT, REVOKED):
                    await publishing.publish(notice)
                await web.until_heard(REVOKED)
                assert sorted(web.heard, key=str) == sorted([LOOK, EVENT, REVOKED], key=str)

                close()
                await settled(bus)
                web.heard.clear()
                before = delivered(server)
                for notice in (LOOK, EVENT, REVOKED):
                    await publishing.publish(notice)
                await web.until_heard(REVOKED)
                assert web.heard == [REVOKED]
                assert delivered(server) - before == 1, "the server sends the others to nobody"

    body()


def test_a_worker_hears_of_events_of_every_account(tmp_path: Path, server: NatsServer) -> None:
    @on_a_loop
    async def body() -> None:
        worker = Node("worker")
        strange = Notice(Topic.EVENT, "any thing. at > all *")
        with server:
            async with (
                joined(tmp_path, server, Node("other")) as publishing,
                joined(tmp_path, server, worker) as bus,
            ):
                bus.subscribe(worker.hear, Topic.EVENT)
                await settled(bus)
                for notice in (EVENT, strange):
                    await publishing.publish(notice)
                    await worker.until_heard(notice)

    body()


def test_one_of_several_workers_is_told_of_what_waits_to_be_done(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        workers, page = [Node("worker-1"), Node("worker-2")], Node("web")
        waiting, to_all = [Notice(Topic.INBOX, ""), Notice(Topic.MAIL, "")], (EVENT, REVOKED)
        with server:
            async with (
                joined(tmp_path, server, Node("relay")) as publishing,
                joined(tmp_path, server, workers[0]) as one,
                joined(tmp_path, server, workers[1]) as other,
                joined(tmp_path, server, page) as web,
            ):
                web.subscribe(page.hear, EVENT, REVOKED)
                for bus, node in zip((one, other), workers, strict=True):
                    bus.subscribe(node.hear, *(notice.topic for notice in (*waiting, *to_all)))
                for bus in (one, other, web):
                    await settled(bus)
                for notice in (*waiting, *to_all):
                    await publishing.publish(notice)
                for node in (*workers, page):
                    await node.until_heard(REVOKED)
                    await node.until_heard(EVENT)

                told = [one for node in workers for one in node.heard if one not in to_all]
                assert sorted(told, key=str) == sorted(waiting, key=str)
                assert set(page.heard) == set(to_all)

    body()


@pytest.mark.slow
def test_after_a_loss_of_the_server_a_node_subscribes_to_what_is_wanted_by_then(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        web, worker = Node("web"), Node("worker")
        async with (
            joined(tmp_path, server, web) as bus,
            joined(tmp_path, server, worker) as publishing,
        ):
            with server:
                async with asyncio.timeout(PATIENCE_S):
                    await bus.is_connected.wait()
                close = bus.subscribe(web.hear, Notice(Topic.EVENT, "account-2"))
                await settled(bus)
            async with asyncio.timeout(PATIENCE_S):
                while bus.is_connected.is_set():  # noqa: ASYNC110 - nobody else waits for a loss
                    await asyncio.sleep(0.01)
            close()
            bus.subscribe(web.hear, EVENT)
            with server:
                async with asyncio.timeout(PATIENCE_S):
                    await asyncio.gather(bus.is_connected.wait(), publishing.is_connected.wait())
                await publishing.publish(Notice(Topic.EVENT, "account-2"))
                await publishing.publish(EVENT)
                await web.until_heard(EVENT)
                assert web.heard == [EVENT]

    body()


def test_a_notice_that_cannot_be_sent_holds_up_no_other(tmp_path: Path, server: NatsServer) -> None:
    @on_a_loop
    async def body() -> None:
        worker, other = Node("worker"), Node("other")
        with server:
            async with (
                joined(tmp_path, server, worker) as publishing,
                joined(tmp_path, server, other) as bus,
            ):
                bus.subscribe(other.hear, Topic.CONNECTION)
                await settled(bus)
                # One half of a pair of surrogates: no UTF-8 has it.
                await publishing.publish(Notice(Topic.CONNECTION, "\ud83d"))
                await publishing.publish(REVOKED)
                await other.until_heard(REVOKED)

    body()


class OlderNode:
    """A node of the version before: it subscribes to everything, and names the topic alone."""

    def __init__(self) -> None:
        self.client = Client()
        self.heard: list[Notice] = []

    async def join(self, server: NatsServer) -> None:
        await self.client.connect(server.url, no_echo=True)
        await self.client.subscribe(f"{SUBJECT}.>", cb=self._on_message)
        await self.client.flush()

    async def publish(self, notice: Notice) -> None:
        await self.client.publish(f"{SUBJECT}.{notice.topic.value}", notice.key.encode())

    async def _on_message(self, message: Msg) -> None:
        topic = message.subject.removeprefix(f"{SUBJECT}.")
        if topic in list(Topic):
            self.heard.append(Notice(Topic(topic), message.data.decode()))


def test_a_node_hears_all_that_it_wants_of_an_older_one(tmp_path: Path, server: NatsServer) -> None:
    @on_a_loop
    async def body() -> None:
        node, older = Node("new"), OlderNode()
        with server:
            async with joined(tmp_path, server, node) as bus:
                await older.join(server)
                bus.subscribe(node.hear, *(set(Topic) - {Topic.EVENT}), EVENT)
                await settled(bus)
                said = [Notice(topic, "account-1") for topic in Topic]
                for notice in said:
                    await older.publish(notice)
                for notice in said:
                    await node.until_heard(notice)
                await older.client.close()

    body()


def test_an_older_node_hears_all_but_what_it_looks_for_by_itself(
    tmp_path: Path, server: NatsServer
) -> None:
    @on_a_loop
    async def body() -> None:
        older = OlderNode()
        with server:
            async with joined(tmp_path, server, Node("new")) as bus:
                await older.join(server)
                for topic in Topic:
                    await bus.publish(Notice(topic, "key"))
                await bus.flush()
                await older.client.flush()
                told = {notice.topic for notice in older.heard}
                # Events are looked for every few seconds, and the next look is told in its turn.
                assert told == set(Topic) - {Topic.EVENT, Topic.DETECTOR}
                await older.client.close()

    body()
