"""NATS or PostgreSQL is away for a minute, restarts, hangs, or takes nobody: tunnels stay.

Two relays, a web node and a worker. What is promised of each outage is asked of every node.
"""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import asyncpg  # type: ignore[import-untyped]
import pytest

from tests.journeys.test_several_nodes import has_answered, sign_in
from tests.rigs.behaviour.rig import BehaviourPrinter, behaviour_printer, fresh_key
from tests.rigs.behaviour.streams import event
from tests.rigs.calls import call, opened
from tests.rigs.nodes import Node, Nodes, nodes
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import Connection, LinkedPrinter
from tests.rigs.simulated import SimulatedPrinter, simulated_printer
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.ways import Way

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(400)]

AWAY_S = 60.0
HANGS_S = 25.0
"""Longer than the longest statement may take."""
GRANTS_S = 25.0
"""As long as requests are served by what was read before. The promise is 30 s."""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    with PostgresqlServer() as running:
        yield running


@pytest.fixture(scope="module")
def running(server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with server.database() as url:
        env = {"PRINTREACH_DATABASE_URL": url}
        with nodes(tmp_path_factory.mktemp("nodes"), env) as several:
            yield several


@pytest.fixture(scope="module")
def behaviour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BehaviourPrinter]:
    with behaviour_printer(tmp_path_factory.mktemp("behaviour")) as printer:
        yield printer


@pytest.fixture(scope="module")
def linked(running: Nodes, behaviour: BehaviourPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("behaviour", behaviour.url) as printer:
        yield printer


@pytest.fixture(scope="module")
def connection(running: Nodes, linked: LinkedPrinter) -> Connection:
    return running.connect(linked)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "nodes") as printer:
        printer.put("part.gcode", "G28\n" + "G1 X10 F6000\nG1 X16\n" * 400)
        yield printer


@pytest.fixture(scope="module")
def linked_simulated(running: Nodes, simulated: SimulatedPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("simulated", simulated.url, platform="simulated") as printer:
        printer.agent.wait_until_looked()
        yield printer


def own_way(node: Node) -> Way:
    return Way(port=node.port, host="127.0.0.1")


def says(node: Node, status: int, *lacks: str) -> bool:
    """Whether /readyz and /metrics say that it lacks this, and nothing else."""
    answer = call(own_way(node), "/readyz")
    lacking = re.findall(r"^lacks: (.*)$", answer.body.decode(), re.MULTILINE)
    figures = call(own_way(node), "/metrics").body.decode()
    down = re.findall(r"^printreach_(database|bus)_up 0$", figures, re.MULTILINE)
    return (answer.status, lacking, down) == (status, list(lacks), list(lacks))


def all_say(running: Nodes, status: int, *lacks: str) -> None:
    for node in running.all:
        wait_for(f"{status} {lacks}", lambda: says(node, status, *lacks), TIMEOUT_S)  # noqa: B023


def ways_of(running: Nodes, connection: Connection) -> list[Way]:
    return [relay.way(connection) for relay in running.relays]


@contextmanager
def streams_that_stay(
    running: Nodes, connection: Connection, behaviour: BehaviourPrinter, printer: LinkedPrinter
) -> Iterator[None]:
    """What began before goes on after, at both relays, and no agent has to connect again."""
    keys = [fresh_key(), fresh_key()]
    ways, connected = ways_of(running, connection), len(printer.agent.events("connected"))
    with (
        opened(ways[0], f"/stepped/sse?key={keys[0]}") as first,
        opened(ways[1], f"/stepped/sse?key={keys[1]}") as second,
    ):
        assert [stream.read(len(event(0))) for stream in (first, second)] == [event(0)] * 2
        yield
        for key, stream in zip(keys, (first, second), strict=True):
            behaviour.allow_step(key)
            assert stream.read(len(event(1))) == event(1)
    assert len(printer.agent.events("connected")) == connected


def test_while_nats_is_gone_for_a_minute_everything_else_goes_on(
    running: Nodes, connection: Connection, behaviour: BehaviourPrinter, linked: LinkedPrinter
) -> None:
    ways = ways_of(running, connection)
    with streams_that_stay(running, connection, behaviour, linked):
        running.bus.stop()
        gone_at = time.monotonic()
        try:
            all_say(running, 200, "bus")
            while time.monotonic() < gone_at + AWAY_S:
                assert all(map(has_answered, ways))
                time.sleep(1.0)
        finally:
            running.bus.start()
        all_say(running, 200)
    revoked = running.connect(linked)
    again = ways_of(running, revoked)
    assert all(map(has_answered, again))
    running.revoke(revoked)
    wait_for("604", lambda: [call(way, "/").status for way in again] == [604, 604], 10.0)


def test_while_postgresql_is_gone_for_a_minute_tunnels_stay_and_events_wait(
    running: Nodes,
    server: PostgresqlServer,
    behaviour: BehaviourPrinter,
    linked: LinkedPrinter,
    linked_simulated: LinkedPrinter,
    simulated: SimulatedPrinter,
) -> None:
    connection = running.connect(linked)
    ways, web = ways_of(running, connection), running.way_to(running.base_url.partition("//")[2])
    cookie = sign_in(running, web)
    with streams_that_stay(running, connection, behaviour, linked):
        assert all(map(has_answered, ways))
        server.stop()
        gone_at = time.monotonic()
        try:
            while time.monotonic() < gone_at + GRANTS_S:
                assert all(map(has_answered, ways))
            simulated.start("part.gcode")
            all_say(running, 503, "database")
            time.sleep(max(0.0, gone_at + AWAY_S - time.monotonic()))
        finally:
            server.start()
        all_say(running, 200)
        wait_for("answers", lambda: all(map(has_answered, ways)), TIMEOUT_S)

    def is_in_the_history() -> bool:
        page = f"/printers/{linked_simulated.id}/history"
        return b"part.gcode" in call(web, page, headers=[cookie]).body

    wait_for("the print that began meanwhile", is_in_the_history, TIMEOUT_S)


def test_while_the_disk_of_postgresql_hangs_tunnels_stay(
    running: Nodes,
    server: PostgresqlServer,
    connection: Connection,
    behaviour: BehaviourPrinter,
    linked: LinkedPrinter,
) -> None:
    ways, before = ways_of(running, connection), running.connect(linked)
    web = running.way_to(running.base_url.partition("//")[2])
    cookie = sign_in(running, web)
    with streams_that_stay(running, connection, behaviour, linked):
        assert all(map(has_answered, ways))
        with server.hanging():
            hangs_at = time.monotonic()
            all_say(running, 503, "database")
            answer = call(web, "/printers", headers=[cookie, ("Accept", "text/html")])
            assert answer.status == 503
            assert answer.first("Retry-After") is not None
            time.sleep(max(0.0, hangs_at + HANGS_S - time.monotonic()))
        all_say(running, 200)
        again = [*ways, *ways_of(running, before)]
        wait_for("answers", lambda: all(map(has_answered, again)), TIMEOUT_S)


def test_a_restart_of_postgresql_costs_no_tunnel(
    running: Nodes,
    server: PostgresqlServer,
    connection: Connection,
    behaviour: BehaviourPrinter,
    linked: LinkedPrinter,
) -> None:
    ways = ways_of(running, connection)
    with streams_that_stay(running, connection, behaviour, linked):
        server.stop()
        server.start()
        all_say(running, 200)
        fresh = ways_of(running, running.connect(linked))
        wait_for("answers", lambda: all(map(has_answered, [*ways, *fresh])), TIMEOUT_S)


def test_a_server_without_free_connections_costs_no_tunnel(
    running: Nodes,
    server: PostgresqlServer,
    connection: Connection,
    behaviour: BehaviourPrinter,
    linked: LinkedPrinter,
) -> None:
    ways = ways_of(running, connection)
    with streams_that_stay(running, connection, behaviour, linked):
        assert all(map(has_answered, ways))
        with all_connections_taken(server):
            all_say(running, 503, "database")
        all_say(running, 200)
        wait_for("answers", lambda: all(map(has_answered, ways)), TIMEOUT_S)


@contextmanager
def all_connections_taken(server: PostgresqlServer) -> Iterator[None]:
    """Take every connection of the server, those of the nodes too."""
    is_full, is_over = threading.Event(), threading.Event()

    async def take() -> None:
        taken = []
        try:
            while not is_over.is_set():
                with suppress(asyncpg.PostgresError, OSError):
                    taken.append(await asyncpg.connect(server.url(), timeout=10))
                    continue
                own = [connection.get_server_pid() for connection in taken]
                await taken[0].execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type ="
                    f" 'client backend' AND NOT pid = ANY(ARRAY{own}::int[])"
                )
                is_full.set()
                await asyncio.sleep(0.05)
        finally:
            for connection in taken:
                connection.terminate()

    taking = threading.Thread(target=asyncio.run, args=(take(),))
    taking.start()
    try:
        assert is_full.wait(TIMEOUT_S)
        yield
    finally:
        is_over.set()
        taking.join()
