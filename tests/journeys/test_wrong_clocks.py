"""Nodes whose machines have the wrong time go by the database's, so nothing is refused or repeated.

A relay and a worker are five minutes ahead of the other nodes.
"""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.journeys.test_several_nodes import has_answered
from tests.rigs.behaviour.rig import BehaviourPrinter
from tests.rigs.certificates import Authority
from tests.rigs.https_receiver import HttpsReceiver, https_receiver
from tests.rigs.nodes import Node, Nodes, nodes
from tests.rigs.postgresql import PostgresqlServer
from tests.rigs.service import LinkedPrinter
from tests.rigs.simulated import FAST, SimulatedPrinter, simulated_printer
from tests.rigs.waiting import TIMEOUT_S, wait_for
from tests.rigs.webhook_service import CallingApp

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(300)]

AHEAD_S: Final = 300.0
SAID: Final = "this machine's clock is 300 s ahead of the database's"
STARTED, COMPLETE = 1, 2
SLOW_S: Final = 4.0
"""As long as the webhook is under way: a worker looks for due deliveries every second."""
AGAIN_WITHIN_S: Final = 10.0


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def receiver(authority: Authority) -> Iterator[HttpsReceiver]:
    with https_receiver(authority.issue("localhost")) as running:
        yield running


@pytest.fixture(scope="module")
def running(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with PostgresqlServer() as server, server.database() as url:
        env = {
            "PRINTREACH_DATABASE_URL": url,
            "PRINTREACH_WEBHOOK_ALLOW_PRIVATE": "true",
            "SSL_CERT_FILE": str(authority.root),
        }
        ahead_s = {"relay-a": AHEAD_S, "second-worker": AHEAD_S}
        with nodes(tmp_path_factory.mktemp("nodes"), env, ahead_s=ahead_s) as several:
            yield several


@pytest.fixture(scope="module")
def second_worker(running: Nodes) -> Iterator[Node]:
    node = running.node("second-worker", "--role", "worker")
    with node.program:
        node.wait_ready()
        yield node


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedPrinter]:
    with simulated_printer(tmp_path_factory.mktemp("printer"), "nodes") as printer:
        printer.put("part.gcode", "G28\n" + "G1 X10 F6000\nG1 X16\n" * 100)
        yield printer


@pytest.fixture(scope="module")
def linked(running: Nodes, simulated: SimulatedPrinter) -> Iterator[LinkedPrinter]:
    with running.printer("simulated", simulated.url, platform="simulated") as printer:
        printer.agent.wait_until_looked()
        yield printer


def test_a_node_says_that_its_clock_is_wrong(running: Nodes, second_worker: Node) -> None:
    for node in (running.relays[0], second_worker):
        assert SAID in node.program.log_since((0, 0))
    for node in (running.relays[1], running.web, running.worker):
        assert "this machine's clock" not in node.program.log_since((0, 0))


def test_a_delivery_under_way_is_left_to_the_worker_that_has_it(
    running: Nodes,
    second_worker: Node,
    linked: LinkedPrinter,
    simulated: SimulatedPrinter,
    receiver: HttpsReceiver,
) -> None:
    app = CallingApp(running, linked)
    try:
        assert app.set_webhook(receiver.url, STARTED, COMPLETE).status_code == 200
    finally:
        app.close()
    for count in range(1, 4):

        def wait_to_hear(event_type: int, count: int = count) -> None:
            wait_for("the event", lambda: len(receiver.of_type(event_type)) >= count, TIMEOUT_S)

        receiver.may_answer.clear()
        simulated.run_at(1)
        simulated.start("part.gcode")
        wait_to_hear(STARTED)
        time.sleep(SLOW_S)
        receiver.may_answer.set()
        simulated.run_at(FAST)
        wait_to_hear(COMPLETE)
        simulated.clear()
    told = [one.event["EventType"] for one in receiver.calls]
    assert told == [STARTED, COMPLETE] * 3


def test_printers_move_between_relays_whose_clocks_differ(
    running: Nodes, behaviour: BehaviourPrinter
) -> None:
    with running.printer("behaviour", behaviour.url) as printer:
        connection = running.connect(printer)
        for _ in range(2):
            left = running.relay_without(connection)
            held = next(relay for relay in running.relays if relay is not left)
            held.program.stop()
            stopped_at = time.monotonic()
            wait_for("an answer", lambda: has_answered(left.way(connection)), TIMEOUT_S)  # noqa: B023
            assert time.monotonic() - stopped_at < AGAIN_WITHIN_S
            held.start()
            assert has_answered(held.way(connection))
