"""A relay is cut off from the other nodes and the bus, but not from its agents and the database."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.journeys.test_several_nodes import has_answered
from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.calls import call
from tests.rigs.cut_line import CutLine, cut_line
from tests.rigs.nats_server import NatsServer
from tests.rigs.nodes import Nodes, nodes
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import LinkedPrinter
from tests.rigs.waiting import TIMEOUT_S, free_port, wait_for

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]

AGAIN_WITHIN_S = 10.0
ENDS_WITHIN_S = 35.0
"""What is revoked ends within 30 s where notices are lost."""
NOT_CONNECTED, STOPPED_ANSWERING = 601, 602


@dataclass(frozen=True)
class Partition:
    """Every line between relay A and the rest of the fleet."""

    lines: tuple[CutLine, ...]

    def begin(self) -> None:
        for line in self.lines:
            line.cut()

    def end(self) -> None:
        for line in self.lines:
            line.mend()


@pytest.fixture(scope="module")
def partition() -> Iterator[Partition]:
    with cut_line() as to_bus, cut_line(free_port()) as to_a, cut_line(free_port()) as from_a:
        yield Partition((to_bus, to_a, from_a))


@pytest.fixture(scope="module")
def running(partition: Partition, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Relay B is reached by others on the line that relay A has to it."""
    folder = tmp_path_factory.mktemp("nodes")
    to_bus, to_a, from_a = partition.lines
    with ExitStack() as ends:
        server = ends.enter_context(PostgresqlServer())
        bus = ends.enter_context(NatsServer(folder))
        to_bus.target = bus.port
        env_of = {
            name: {
                "PRINTREACH_NODE_LISTEN": f"127.0.0.1:{line.target}",
                "PRINTREACH_NODE_URL": f"ws://127.0.0.1:{line.port}",
            }
            for name, line in (("relay-a", to_a), ("relay-b", from_a))
        }
        env_of["relay-a"]["PRINTREACH_NATS_URL"] = bus.url.replace(str(bus.port), str(to_bus.port))
        env = {"PRINTREACH_DATABASE_URL": ends.enter_context(server.database())}
        yield ends.enter_context(nodes(folder, env, bus=bus, env_of=env_of))


@pytest.fixture(scope="module")
def linked(running: Nodes, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    """A printer whose agent is at relay A."""
    with running.printer("behaviour", behaviour.url) as printer:
        connection = running.connect(printer)
        relay_a, relay_b = running.relays
        if running.relay_without(connection) is relay_a:
            relay_b.program.stop()
            wait_for("relay A", lambda: has_answered(relay_a.way(connection)), TIMEOUT_S)
            relay_b.start()
            wait_for("relay B", lambda: has_answered(relay_b.way(connection)), TIMEOUT_S)
        assert running.relay_without(connection) is relay_b
        yield printer


def test_a_relay_that_is_cut_off_serves_its_printers_and_is_found_again(
    running: Nodes, linked: LinkedPrinter, partition: Partition
) -> None:
    relay_a, relay_b = running.relays
    kept, revoked = running.connect(linked), running.connect(linked)
    assert all(has_answered(relay.way(one)) for relay in running.relays for one in (kept, revoked))
    connected = len(linked.agent.events("connected"))
    partition.begin()
    try:
        cut_at = time.monotonic()
        assert has_answered(relay_a.way(kept))
        # The other relay doesn't let callers wait for what can't come.
        answer = call(relay_b.way(kept), "/")
        assert answer.status in {NOT_CONNECTED, STOPPED_ANSWERING}
        assert time.monotonic() - cut_at < AGAIN_WITHIN_S
        running.revoke(revoked)
        revoked_at = time.monotonic()
        wait_for(
            "the end of what was revoked",
            lambda: call(relay_a.way(revoked), "/").status == 604,
            ENDS_WITHIN_S + TIMEOUT_S,
        )
        assert time.monotonic() - revoked_at < ENDS_WITHIN_S
        assert has_answered(relay_a.way(kept))
        assert len(linked.agent.events("connected")) == connected
    finally:
        partition.end()
    mended_at = time.monotonic()
    wait_for("an answer by B", lambda: has_answered(relay_b.way(kept)), TIMEOUT_S)
    assert time.monotonic() - mended_at < AGAIN_WITHIN_S
    assert call(relay_b.way(revoked), "/").status == 604
